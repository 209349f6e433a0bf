"""CURE: entropy-gated admission and redundancy-aware removal (section 4, Algorithm 1)."""

from millpond.policies.base import Policy
from millpond.policies.nearest import remove_nearest_of_majority
from millpond.policies.scores import entropy

CURE = Policy(
    name="cure", score=entropy, gated=True, remove=remove_nearest_of_majority, keeps_moments=True
)
