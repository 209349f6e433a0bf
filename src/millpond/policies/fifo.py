"""First in, first out: one sliding window of the B newest rows, without a long bank."""

from millpond.policies.base import Policy
from millpond.policies.scores import entropy

FIFO = Policy(name="fifo", score=entropy, gated=False, remove=None)
