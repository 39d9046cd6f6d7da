"""4: decide about submitted assignments, carry the decision out, and replace what does not count.

Every step asks the database what is still to be done and can be run again at any time. A decision is ours; that
the marketplace carried it out is a fact only the marketplace can tell (`Assignment.status`).
"""

from surveys.review.applying import apply_policy, by_rule_alone, judge_again, outdated, to_judge_again
from surveys.review.carrying_out import carry_out
from surveys.review.deciding import (
    approve,
    can_overturn,
    overturn,
    overturn_refused,
    overturn_until,
    record_decision,
    reject,
    rejection_stands,
)
from surveys.review.due import due_hits, finish, reopen, to_carry_out, unsettled
from surveys.review.errors import CannotDecide
from surveys.review.including import exclude, include
from surveys.review.judging import decide, decide_all
from surveys.review.replacing import is_replaced, replace, to_replace, unreplaced

__all__ = [
    "CannotDecide",
    "apply_policy",
    "approve",
    "by_rule_alone",
    "can_overturn",
    "carry_out",
    "decide",
    "decide_all",
    "due_hits",
    "exclude",
    "finish",
    "include",
    "is_replaced",
    "judge_again",
    "outdated",
    "overturn",
    "overturn_refused",
    "overturn_until",
    "record_decision",
    "reject",
    "rejection_stands",
    "reopen",
    "replace",
    "to_carry_out",
    "to_judge_again",
    "to_replace",
    "unreplaced",
    "unsettled",
]
