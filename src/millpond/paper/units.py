"""A unit of work: one learner on one stream under one protocol, which gives one result.

Units that differ in nothing but the context are lanes of one run; everything else is a run of its own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from millpond.policies import get_policy

CONTEXT = "context"
BUDGET, SHORT_RATIO = 1000, 0.75  # the paper's


@dataclass(frozen=True)
class Unit:
    """``learner`` is `CONTEXT` with a backbone and a policy, or a name such as ``moa:arf``."""

    stream: str
    learner: str = CONTEXT
    backbone: str | None = None
    policy: str | None = None
    tau: float | str | None = None
    """None where the policy has no gate"""
    budget: int | None = None
    short_ratio: float | None = None
    options: tuple[tuple[str, float], ...] = ()
    """of a baseline"""
    chunk: int = 1
    delay: int = 0
    shuffle: int | None = None
    """rows permuted within blocks of so many"""
    limit: int | None = None
    """a prefix of so many rows; None is the whole stream"""
    seed: int = 0
    alone: bool = False
    """not as one of many lanes: its times are its own"""

    def document(self) -> dict[str, Any]:
        """What differs from the defaults, in a fixed order."""
        found = {k: v for k, v in asdict(self).items() if v != _DEFAULTS[k]}
        return found | ({"options": dict(self.options)} if self.options else {})

    @classmethod
    def read(cls, document: dict[str, Any]) -> Unit:
        options = tuple(sorted(document.get("options", {}).items()))
        return cls(**{**document, "options": options})

    @property
    def name(self) -> str:
        """For people."""
        parts = [self.stream, self.learner if self.learner != CONTEXT else f"{self.backbone}"]
        parts += [self.policy] if self.policy else []
        return " ".join(parts)

    def run(self) -> Unit:
        """What it has in common with the units it steps together with."""
        if self.learner != CONTEXT or self.alone:
            return self
        # Lanes have arrays of one size: a large budget would make small ones slow.
        size = max(self.budget or 0, BUDGET)
        return replace(self, policy=None, tau=None, budget=size, short_ratio=None)


_DEFAULTS: dict[str, Any] = {each.name: each.default for each in fields(Unit)}


def context(
    stream: str,
    backbone: str,
    policy: str,
    tau: float | str,
    *,
    budget: int = BUDGET,
    short_ratio: float = SHORT_RATIO,
    **protocol: Any,
) -> Unit:
    """A context learner's unit; settings that its policy does not look at are left out."""
    rule = get_policy(policy)
    return Unit(
        stream,
        backbone=backbone,
        policy=policy,
        tau=tau if rule.gated else None,
        budget=budget,
        short_ratio=short_ratio if rule.remove is not None else None,
        **protocol,
    )


@dataclass(frozen=True)
class Group:
    """Units that are run together, in a fixed order."""

    units: tuple[Unit, ...]

    @property
    def run(self) -> Unit:
        return self.units[0].run()

    @property
    def key(self) -> str:
        """Of the folder that holds the unfinished run."""
        text = json.dumps([unit.document() for unit in self.units])
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def together(units: Iterable[Unit], *, auto_apart: bool = False) -> list[Group]:
    """Groups of lanes, each unit once, whatever the order the units came in.

    With ``auto_apart`` those whose tau moves are runs of their own: a whole stream that stays on a
    device takes fixed thresholds only.
    """
    found: dict[tuple[Unit, bool], set[Unit]] = {}
    for unit in units:
        auto = auto_apart and isinstance(unit.tau, str)
        found.setdefault((unit.run(), auto), set()).add(unit)
    return [
        Group(tuple(sorted(lanes, key=lambda unit: json.dumps(unit.document()))))
        for lanes in found.values()
    ]
