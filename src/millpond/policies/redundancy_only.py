"""Redundancy-only: every candidate is admitted, CURE's same-class nearest-pair removal."""

from millpond.policies.base import Policy
from millpond.policies.nearest import remove_nearest_of_majority
from millpond.policies.scores import entropy

REDUNDANCY_ONLY = Policy(
    name="redundancy_only",
    score=entropy,
    gated=False,
    remove=remove_nearest_of_majority,
    keeps_moments=True,
)
