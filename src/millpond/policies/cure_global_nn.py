"""CURE-GlobalNN: CURE with the nearest pair of the whole long bank, whatever the labels."""

from millpond.policies.base import Policy
from millpond.policies.nearest import remove_nearest_of_all
from millpond.policies.scores import entropy

CURE_GLOBAL_NN = Policy(
    name="cure_global_nn", score=entropy, gated=True, remove=remove_nearest_of_all
)
