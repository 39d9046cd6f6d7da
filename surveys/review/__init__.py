"""4: decide about submitted assignments, carry the decision out, and replace what does not count.

Every step asks the database what is still to be done and can be run again at any time. A decision is ours; that
the marketplace carried it out is a fact only the marketplace can tell (`Assignment.status`).
"""

from surveys.review.deciding import (
    FEEDBACK_MAX,
    OVERTURN_WITHIN,
    CannotDecide,
    approve,
    carry_out,
    decide,
    overturn,
    record_decision,
    reject,
)
from surveys.review.due import due_hits, finish, reopen, to_carry_out, unsettled
from surveys.review.replacing import replace, to_replace

__all__ = [
    "FEEDBACK_MAX",
    "OVERTURN_WITHIN",
    "CannotDecide",
    "approve",
    "carry_out",
    "decide",
    "due_hits",
    "finish",
    "overturn",
    "record_decision",
    "reject",
    "reopen",
    "replace",
    "to_carry_out",
    "to_replace",
    "unsettled",
]
