"""What MTurk charges on top of the reward.

20 % of the reward, 20 % more on HITs with 10 or more assignments, at least $0.01 an assignment, half cents up
(MTurk's pricing page as it stood until the service closed).
"""

from decimal import ROUND_HALF_UP, Decimal

BASE_RATE = Decimal("0.20")
LARGE_HIT_RATE = Decimal("0.20")
LARGE_HIT = 10
MINIMUM_FEE = Decimal("0.01")
CENT = Decimal("0.01")


def fee_rate(*, max_assignments: int) -> Decimal:
    """Return the share of the reward that is charged as fee, 0.20 or 0.40."""
    return BASE_RATE + (LARGE_HIT_RATE if max_assignments >= LARGE_HIT else 0)


def fee(reward: Decimal, *, max_assignments: int) -> Decimal:
    """Return the fee in dollars for one assignment of a HIT with `max_assignments`."""
    charged = (reward * fee_rate(max_assignments=max_assignments)).quantize(CENT, ROUND_HALF_UP)
    return max(charged, MINIMUM_FEE)


def price(reward: Decimal, *, max_assignments: int, n: int = 1) -> Decimal:
    """Return reward and fee in dollars for `n` assignments."""
    return n * (reward + fee(reward, max_assignments=max_assignments))
