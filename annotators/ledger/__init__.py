"""The ledger of calls that cost money or decide about a person: intent row, call, outcome row.

`outbox` has the row's way from planned to done or refused, `sending` the calls, `reading` what the marketplace says
became of one whose answer never came. ADR 9 has the reasons.
"""

from annotators.ledger.outbox import (
    CLOCK_SKEW,
    IN_FLIGHT,
    SHOWN_WITHIN,
    TOKEN_LIFE,
    find_out,
    perform,
    plan,
    plan_again,
    unsettled,
)

__all__ = [
    "CLOCK_SKEW",
    "IN_FLIGHT",
    "SHOWN_WITHIN",
    "TOKEN_LIFE",
    "find_out",
    "perform",
    "plan",
    "plan_again",
    "unsettled",
]
