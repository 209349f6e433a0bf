"""Entropy-only: CURE's entropy gate, DualFIFO's class-aware FIFO removal."""

from millpond.policies.base import Policy
from millpond.policies.class_fifo import remove_oldest_of_majority
from millpond.policies.scores import entropy

ENTROPY_ONLY = Policy(
    name="entropy_only", score=entropy, gated=True, remove=remove_oldest_of_majority
)
