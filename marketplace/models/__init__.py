"""The marketplace's own tables: who asks, who works, what is offered, and where the money is."""

from marketplace.models.access import FailedSignIn, Invitation
from marketplace.models.accounts import AccessKey, Requester, Worker
from marketplace.models.batches import BatchRow, TemplateBatch
from marketplace.models.contact import Block, Message
from marketplace.models.money import Balance, Bonus, Entry
from marketplace.models.notices import Event, NotificationSetting
from marketplace.models.qualifications import (
    Qualification,
    QualificationRequest,
    QualificationType,
)
from marketplace.models.rehearsal import CallRate, Fault, LoggedCall
from marketplace.models.time import ClockOffset
from marketplace.models.work import HIT, LIVE, Assignment, HITType, Token

__all__ = [
    "HIT",
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
