"""2: a batch becomes questionnaires, and questionnaires become HITs."""

from surveys.publishing.checks import problems, warnings
from surveys.publishing.counting import Progress, progress
from surveys.publishing.hits import (
    expire,
    finish_publishing,
    hits_to_expire,
    publish_here,
    publish_questionnaire,
    register_hit_type,
    retry_refused,
    stop,
    to_publish,
)
from surveys.publishing.questionnaires import CannotPublish, start_publishing
from surveys.publishing.quoting import Quote, quote

__all__ = [
    "CannotPublish",
    "Progress",
    "Quote",
    "expire",
    "finish_publishing",
    "hits_to_expire",
    "problems",
    "progress",
    "publish_here",
    "publish_questionnaire",
    "quote",
    "register_hit_type",
    "retry_refused",
    "start_publishing",
    "stop",
    "to_publish",
    "warnings",
]
