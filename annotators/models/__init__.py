"""What is stored of people, their work and the calls about it. Django looks for models here."""

from annotators.models.calls import Call
from annotators.models.people import Channel, Endpoint, Source, Worker
from annotators.models.work import HIT, Assignment, HITType

__all__ = ["HIT", "Assignment", "Call", "Channel", "Endpoint", "HITType", "Source", "Worker"]
