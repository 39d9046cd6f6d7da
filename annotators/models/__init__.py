"""What is stored of people, their work and the calls about it. Django looks for models here."""

from annotators.models.calls import IS_UNTOLD, Call, Hold
from annotators.models.people import Channel, Endpoint, Source, Worker
from annotators.models.work import HIT, IS_CLAIM, IS_LOST, SUBMITTED, Assignment, HITType, Listing

__all__ = [
    "HIT",
    "IS_CLAIM",
    "IS_LOST",
    "IS_UNTOLD",
    "SUBMITTED",
    "Assignment",
    "Call",
    "Channel",
    "Endpoint",
    "HITType",
    "Hold",
    "Listing",
    "Source",
    "Worker",
]
