"""Each numeric claim of the paper's text, recomputed from the paper's own tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

from millpond.paper.published import (
    METHODS,
    POLICIES,
    STREAMS,
    ablation,
    main_accuracy,
    published,
    robustness,
    selected_tau,
    sweep,
)
from millpond.paper.ranks import mean_ranks
from millpond.paper.sheet import Row, Sheet, words

Table = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Claim:
    """What the text says, and what the tables give, both as the text would print it."""

    text: str
    stated: str
    found: str
    slip: str = ""
    """where the two differ, how"""

    @property
    def holds(self) -> bool:
        return self.stated == self.found


def gains(table: Table) -> dict[str, float]:
    """stream -> points that CURE has over the best of the other columns."""
    return {
        name: row["cure"] - max(a for method, a in row.items() if method != "cure")
        for name, row in table.items()
    }


def relative_gains(table: Table) -> dict[str, float]:
    """stream -> the same in percent of the best other column."""
    return {name: 100 * gain / (table[name]["cure"] - gain) for name, gain in gains(table).items()}


def spread(row: Mapping[float, float]) -> float:
    """Points between the best and the worst positive tau."""
    values = [accuracy for tau, accuracy in row.items() if tau > 0]
    return max(values) - min(values)


def wins(table: Table, one: str, other: str) -> list[str]:
    """The streams on which one column is above another."""
    return [name for name, row in table.items() if row[one] > row[other]]


def claims() -> list[Claim]:
    """All of them, in the order of the text."""
    return [*_main(), *_robustness(), *_ablation(), *_tau(), *_runtime(), *_prose()]


def _main() -> list[Claim]:
    table = main_accuracy()
    gain, relative = gains(table), relative_gains(table)
    low, high = min(gain, key=gain.__getitem__), max(gain, key=gain.__getitem__)
    return [
        Claim("largest relative improvement", "27.0%", f"{max(relative.values()):.1f}%"),
        Claim("mean relative improvement", "9.0%", f"{fmean(relative.values()):.1f}%"),
        Claim("smallest gain in points", "+0.45 NOMAO", f"{gain[low]:+.2f} {STREAMS[low]}"),
        Claim("gain on METER", "+19.31", f"{gain['meter']:+.2f}"),
        Claim("largest gain in points", "+19.59 RIALTO", f"{gain[high]:+.2f} {STREAMS[high]}"),
        Claim(
            "best of all methods on",
            "7 of 7",
            f"{sum(g > 0 for g in gain.values())} of {len(gain)}",
        ),
        _ranks(
            "average ranks", published()["main_results"]["avg_rank"], mean_ranks(table, [*METHODS])
        ),
    ]


def _ranks(text: str, stated: Mapping[str, float], found: Mapping[str, float]) -> Claim:
    return Claim(text, *(" ".join(f"{r[m]:.2f}" for m in stated) for r in (stated, found)))


def _robustness() -> list[Claim]:
    pairs = {
        f"{backbone} {stream}": row
        for backbone, table in robustness().items()
        if backbone != "tabicl"  # whose pair is in the ablation
        for stream, row in table.items()
    }
    won = wins(pairs, "cure", "dual_fifo")
    mean = {
        stream: fmean(
            row["cure"] - row["dual_fifo"] for key, row in pairs.items() if key.endswith(stream)
        )
        for stream in ablation()
    }
    modest = max(mean["agr_a"], mean["posture_no8"])
    return [
        Claim("CURE above DualFIFO, over backbones", "17 of 18", f"{len(won)} of {len(pairs)}"),
        Claim(
            "gains modest on AGR(A) and POSTURE-No8, larger on the other four",
            "yes",
            "yes" if modest < min(mean[s] for s in ("noaa", "meter", "rialto", "nomao")) else "no",
        ),
    ]


def _ablation() -> list[Claim]:
    table = ablation()
    best = [name for name, row in table.items() if row["cure"] == max(row.values())]
    n = len(table)

    def above(one: str, other: str) -> str:
        return f"{len(wins(table, one, other))} of {n}"

    return [
        _ranks(
            "average ranks of the policies",
            published()["ablation"]["avg_rank"],
            mean_ranks(table, [*POLICIES]),
        ),
        Claim("CURE the best policy on", "5 of 6", f"{len(best)} of {n}"),
        Claim("CURE above DualFIFO", "6 of 6", above("cure", "dual_fifo")),
        Claim("Redundancy-only above DualFIFO", "6 of 6", above("redundancy_only", "dual_fifo")),
        Claim(
            "Entropy-only above DualFIFO on some",
            "yes",
            "yes" if 0 < len(wins(table, "entropy_only", "dual_fifo")) < n else "no",
        ),
        Claim("CURE above CURE-Margin", "6 of 6", above("cure", "cure_margin")),
    ]


def _tau() -> list[Claim]:
    table, policies = sweep(), ablation()
    spreads = {name: spread(row) for name, row in table.items()}
    widest = max(spreads, key=spreads.__getitem__)
    row = table[widest]
    positive = {tau: a for tau, a in row.items() if tau > 0}
    high, low = max(positive, key=positive.__getitem__), min(positive, key=positive.__getitem__)
    better = [name for name, row in table.items() if max(row.values()) > row[0.0]]
    same = [name for name, row in table.items() if row[0.0] == policies[name]["redundancy_only"]]
    oracle = [name for name, row in table.items() if row[selected_tau(name)] == max(row.values())]
    return [
        Claim("a positive tau above tau = 0", "6 of 6", f"{len(better)} of {len(table)}"),
        Claim("tau = 0 is Redundancy-only", "6 of 6", f"{len(same)} of {len(table)}"),
        Claim(
            "largest spread over positive tau, points",
            "0.39",
            f"{spreads[widest]:.2f}",
            f"{STREAMS[widest]}: {row[high]:.2f} at tau {high:g}, {row[low]:.2f} at tau {low:g}; "
            f"0.39 is its best minus its tau = 0, {row[high]:.2f} - {row[0.0]:.2f}",
        ),
        # Not said in the text: the table of hyper-parameters and this one together show it.
        Claim(
            "selected tau is the best column of its sweep",
            "6 of 6",
            f"{len(oracle)} of {len(table)}",
        ),
    ]


def _runtime() -> list[Claim]:
    times: dict[str, dict[str, float]] = published()["runtime_summary"]

    def parts(policy: str) -> float:
        return sum(times[policy][part] for part in ("fit", "predict", "evict"))

    return [
        Claim(
            "seconds a step that CURE adds", "0.0024", f"{parts('cure') - parts('dual_fifo'):.4f}"
        ),
        Claim("total of CURE's parts", f"{times['cure']['total']:.4f}", f"{parts('cure'):.4f}"),
        Claim(
            "total of DualFIFO's parts",
            f"{times['dual_fifo']['total']:.4f}",
            f"{parts('dual_fifo'):.4f}",
        ),
    ]


def _prose() -> list[Claim]:
    """What the text says of the trajectories: far from the baselines on four streams, close on three."""
    gain = gains(main_accuracy())
    far, close = ("meter", "rialto", "posture_no8", "poker"), ("noaa", "nomao", "agr_a")
    wrong = [s for s in far if gain[s] < max(gain[c] for c in close)]
    listed = ", ".join(
        f"{STREAMS[s]} {gain[s]:+.2f}" for s in sorted(["noaa", *wrong], key=gain.__getitem__)
    )
    return [
        Claim(
            "gaps of METER, RIALTO, POSTURE-No8, POKER above those of NOAA, NOMAO, AGR(A)",
            "yes",
            "no" if wrong else "yes",
            listed,
        )
    ]


def claims_sheet() -> Sheet:
    found = claims()
    rows = tuple(
        Row(c.text, tuple(map(words, (c.stated, c.found, "agrees" if c.holds else "SLIP"))))
        for c in found
    )
    slips = tuple(f"Slip, {c.text}: {c.slip}." for c in found if not c.holds)
    return Sheet(
        "claims",
        "Numbers of the text, recomputed from the paper's tables",
        ("Claim", "Text", "Tables give", "Verdict"),
        rows,
        (*slips, f"{sum(c.holds for c in found)} of {len(found)} agree."),
    )
