"""2: a batch becomes questionnaires, and questionnaires become HITs."""

from surveys.publishing.checks import problems, warnings
from surveys.publishing.counting import Progress, progress
from surveys.publishing.funding import CannotChangeBudget, balance_problem, proposed_budget, raise_budget
from surveys.publishing.hits import (
    finish_publishing,
    publish_here,
    publish_questionnaire,
    register_hit_type,
    retry_refused,
    to_publish,
)
from surveys.publishing.questionnaires import CannotPublish, start_publishing
from surveys.publishing.quoting import Quote, quote
from surveys.publishing.stopping import InFlight, expire, hits_to_expire, in_flight, stop

__all__ = [
    "CannotChangeBudget",
    "CannotPublish",
    "InFlight",
    "Progress",
    "Quote",
    "balance_problem",
    "expire",
    "finish_publishing",
    "hits_to_expire",
    "in_flight",
    "problems",
    "progress",
    "proposed_budget",
    "publish_here",
    "publish_questionnaire",
    "quote",
    "raise_budget",
    "register_hit_type",
    "retry_refused",
    "start_publishing",
    "stop",
    "to_publish",
    "warnings",
]
