"""The policy-axes table (the paper's appendix), read off the policies themselves."""

from __future__ import annotations

from millpond.paper.published import POLICIES, published
from millpond.paper.sheet import Row, Sheet, words
from millpond.policies import Policy, get_policy
from millpond.policies.base import Remove
from millpond.policies.class_fifo import remove_oldest_of_majority
from millpond.policies.nearest import remove_nearest_of_all, remove_nearest_of_majority

REMOVAL: dict[Remove | None, str | None] = {
    None: None,
    remove_oldest_of_majority: "class-aware FIFO",
    remove_nearest_of_majority: "same-class NN",
    remove_nearest_of_all: "global NN",
}


def axes_of(policy: Policy) -> dict[str, object]:
    """What the paper's table says of a policy."""
    return {
        "recency": True,  # every context has its window of the newest rows
        "long_bank": policy.remove is not None,
        "retention_signal": policy.score.__name__ if policy.gated else None,
        "removal_rule": REMOVAL.get(policy.remove, "its own"),
    }


def policies() -> Sheet:
    rows = []
    for name, label in {**POLICIES, "fifo": "FIFO"}.items():
        found = axes_of(get_policy(name))
        paper = published()["policy_axes"].get(name)
        said = "not in it" if paper is None else "the same" if found == paper else "differs"
        rows.append(Row(label, tuple(words(_word(v)) for v in (*found.values(), said))))
    head = ("Policy", "Recency", "Long bank", "Retention signal", "Removal rule", "the paper's")
    return Sheet("policies", "Context policies", head, tuple(rows))


def _word(value: object) -> str:
    return {True: "yes", False: "no", None: "none"}.get(value, str(value))  # type: ignore[call-overload,no-any-return]
