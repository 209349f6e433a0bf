"""CURE-Margin: CURE with the top-two margin in place of the entropy."""

from millpond.policies.base import Policy
from millpond.policies.nearest import remove_nearest_of_majority
from millpond.policies.scores import margin

CURE_MARGIN = Policy(
    name="cure_margin",
    score=margin,
    gated=True,
    remove=remove_nearest_of_majority,
    keeps_moments=True,
)
