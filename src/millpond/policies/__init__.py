"""The context policies by name: the paper's CURE and its rivals, one file each."""

from millpond.errors import UnknownName
from millpond.policies.base import Banks, Details, Policy
from millpond.policies.cure import CURE
from millpond.policies.cure_global_nn import CURE_GLOBAL_NN
from millpond.policies.cure_margin import CURE_MARGIN
from millpond.policies.dual_fifo import DUAL_FIFO
from millpond.policies.entropy_only import ENTROPY_ONLY
from millpond.policies.fifo import FIFO
from millpond.policies.redundancy_only import REDUNDANCY_ONLY

__all__ = ["POLICIES", "Banks", "Details", "Policy", "get_policy"]

POLICIES: dict[str, Policy] = {
    policy.name: policy
    for policy in (
        FIFO,
        DUAL_FIFO,
        ENTROPY_ONLY,
        REDUNDANCY_ONLY,
        CURE,
        CURE_MARGIN,
        CURE_GLOBAL_NN,
    )
}


def get_policy(policy: str | Policy) -> Policy:
    """The policy of that name (a policy of your own is passed through)."""
    if isinstance(policy, Policy):
        return policy
    if policy not in POLICIES:
        raise UnknownName("policy", str(policy), POLICIES)
    return POLICIES[policy]
