"""What rehearsals and tests need: planned faults, a log of calls, and a clock that can be moved."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from marketplace.models.accounts import Requester


class FaultManager(models.Manager["Fault"]):
    """Plans faults and uses them up, the oldest plan first. For callers who know that the control API is open."""

    def take_for_call(self, requester: Requester, *, operation: str) -> "Fault | None":
        """Use up one planned fault for this call; None when none is planned."""
        return self._take(requester, ~Q(kind__in=Fault.OF_MESSAGES), Q(operation__in=["", operation]))

    def take_for_message(self, requester: Requester) -> "Fault | None":
        """Use up one planned fault for this message of notifications."""
        return self._take(requester, Q(kind__in=Fault.OF_MESSAGES))

    def plan(
        self, *, operation: str, requester: Requester | None, kind: str, times: int, seconds: float
    ) -> "Fault":
        """Let the next `times` calls go wrong; `seconds` is how long a lag or a time-out lasts, at most 300."""
        self.filter(remaining=0).delete()
        return self.create(
            operation=operation, requester=requester, kind=kind, remaining=times, seconds=seconds
        )

    def _take(self, requester: Requester, *meant: Q) -> "Fault | None":
        theirs = self.filter(Q(requester=None) | Q(requester=requester), *meant)
        for fault in theirs.filter(remaining__gt=0).order_by("pk"):
            left = self.filter(pk=fault.pk, remaining__gt=0)
            if left.update(remaining=F("remaining") - 1):
                return fault
        return None


class Fault(models.Model):
    """The next `remaining` calls of an operation go wrong. An empty operation is any, no requester is every.

    Two kinds are for notifications instead: messages that arrive twice, or with their events in another order.
    """

    class Kind(models.TextChoices):
        THROTTLE = "throttle"
        SERVICE_FAULT = "service-fault"
        TIMEOUT = "timeout"
        LAG = "lag"
        DUPLICATE = "duplicate"
        REORDER = "reorder"

    OF_MESSAGES = (Kind.DUPLICATE, Kind.REORDER)
    operation = models.CharField(max_length=64, blank=True)
    requester = models.ForeignKey(
        Requester, null=True, blank=True, on_delete=models.CASCADE, related_name="faults"
    )
    kind = models.CharField(max_length=16, choices=Kind)
    remaining = models.PositiveIntegerField()
    seconds = models.FloatField(default=0)

    objects: ClassVar[FaultManager] = FaultManager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(seconds__gte=0, seconds__lte=300), name="marketplace_fault_ends"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.operation or 'any'} x {self.remaining}"


class LoggedCall(models.Model):
    """One call of the API, as the control API shows it; only the latest are kept."""

    requester = models.ForeignKey(
        Requester, null=True, blank=True, on_delete=models.CASCADE, related_name="logged_calls"
    )
    operation = models.CharField(max_length=64, blank=True)
    status = models.PositiveSmallIntegerField(help_text="0 where the connection was cut instead.")
    code = models.CharField(max_length=128, blank=True)
    request = models.TextField(default="{}", help_text="JSON, long values cut off.")
    called_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.operation} {self.status}"


class ClockOffset(models.Model):
    """How far the marketplace's clock runs ahead of real time. At most one row."""

    seconds = models.FloatField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(pk=1), name="marketplace_one_clock"),
        ]

    def __str__(self) -> str:
        return f"{self.seconds} s ahead"
