"""The marketplace's own tables: who asks, who works, what is offered, and where the money is."""

from marketplace.models.accounts import (
    AccessKey,
    Block,
    CallRate,
    FailedSignIn,
    Invitation,
    Message,
    Requester,
    Worker,
)
from marketplace.models.batches import BatchRow, TemplateBatch
from marketplace.models.money import Balance, Bonus, Entry
from marketplace.models.notifications import Event, NotificationSetting
from marketplace.models.qualifications import (
    Qualification,
    QualificationRequest,
    QualificationType,
)
from marketplace.models.rehearsing import ClockOffset, Fault, LoggedCall
from marketplace.models.work import HIT, IS_FULL, LIVE, Assignment, HITType, Token

__all__ = [
    "HIT",
    "IS_FULL",
    "LIVE",
    "AccessKey",
    "Assignment",
    "Balance",
    "BatchRow",
    "Block",
    "Bonus",
    "CallRate",
    "ClockOffset",
    "Entry",
    "Event",
    "FailedSignIn",
    "Fault",
    "HITType",
    "Invitation",
    "LoggedCall",
    "Message",
    "NotificationSetting",
    "Qualification",
    "QualificationRequest",
    "QualificationType",
    "Requester",
    "TemplateBatch",
    "Token",
    "Worker",
]
