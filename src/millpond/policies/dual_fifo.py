"""DualFIFO: every candidate enters the long bank; its most represented class loses the oldest row."""

from millpond.policies.base import Policy
from millpond.policies.class_fifo import remove_oldest_of_majority
from millpond.policies.scores import entropy

DUAL_FIFO = Policy(name="dual_fifo", score=entropy, gated=False, remove=remove_oldest_of_majority)
