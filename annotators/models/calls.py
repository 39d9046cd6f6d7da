"""The outbox: every call that costs money or decides about a person."""

from django.db import models
from django.db.models import Case, F, Q, When

from annotators.models.people import Endpoint
from annotators.models.work import HIT, Assignment

# In the order of a list of them: what waits for its outcome before what has one.
OPEN_FIRST = Case(
    When(state="unknown", then=0), When(state="sent", then=1), When(state="planned", then=2), default=3
)


class Call(models.Model):
    """One call that costs money or decides about a person, written down before it is made.

    planned -> sent -> done | refused | unknown. A call whose answer never came is `unknown`, as is one that was sent
    by a process that is gone; it is settled by reading the marketplace before anything is repeated. `token` is
    deterministic, so an intent exists once. Of what the marketplace only counts (more assignments of a HIT, equal
    bonuses of an assignment) one at a time can be unsettled, or two could be taken for one another.
    """

    class Operation(models.TextChoices):
        CREATE_HIT = "CreateHITWithHITType", "Create HIT"
        EXTEND = "CreateAdditionalAssignmentsForHIT"
        APPROVE = "ApproveAssignment"
        REJECT = "RejectAssignment"
        OVERTURN = "ApproveAssignment(OverrideRejection)"
        EXPIRE = "UpdateExpirationForHIT"
        BONUS = "SendBonus"

    class State(models.TextChoices):
        PLANNED = "planned", "Planned"
        SENT = "sent", "Sent"
        UNKNOWN = "unknown", "Sent, outcome unknown"
        DONE = "done", "Done"
        REFUSED = "refused", "Refused"

    OPEN = (State.PLANNED, State.SENT, State.UNKNOWN)  # without an outcome

    token = models.CharField(max_length=64, unique=True)
    operation = models.CharField(max_length=48, choices=Operation)
    endpoint = models.CharField(max_length=16, choices=Endpoint)
    hit = models.ForeignKey(
        HIT, verbose_name="HIT", null=True, blank=True, on_delete=models.PROTECT, related_name="calls"
    )
    assignment = models.ForeignKey(
        Assignment, null=True, blank=True, on_delete=models.PROTECT, related_name="calls"
    )
    arguments = models.JSONField(default=dict)
    amount = models.DecimalField(
        max_digits=10, decimal_places=2, default=0, help_text="Reward and fee at stake."
    )
    state = models.CharField(max_length=8, choices=State, default=State.PLANNED)
    error = models.TextField(blank=True)
    attempts = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["planned", "sent", "unknown"]) | Q(finished_at__isnull=False),
                name="finished_call_has_time",
            ),
            models.UniqueConstraint(
                fields=["hit"],
                condition=Q(operation="CreateAdditionalAssignmentsForHIT", state__in=["sent", "unknown"]),
                name="one_unsettled_extension_of_a_hit",
            ),
            models.UniqueConstraint(
                fields=["assignment"],
                condition=Q(operation="SendBonus", state__in=["sent", "unknown"]),
                name="one_unsettled_bonus_of_an_assignment",
            ),
        ]
        indexes = [
            models.Index(fields=["state", "created_at"]),
            models.Index(OPEN_FIRST, F("created_at").desc(), F("id").desc(), name="call_open_first"),
            models.Index(fields=["assignment"], condition=Q(operation="SendBonus"), name="call_bonus"),
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.token} ({self.state})"


# Of calls: the marketplace knows the HIT no more, and so tells no outcome.
IS_UNTOLD = Q(hit__gone_at__isnull=False) | Q(assignment__hit__gone_at__isnull=False)


class Hold(models.Model):
    """Nothing is sent: a restore has brought old books back. It ends when a person has looked at the comparison."""

    reason = models.TextField()
    began_at = models.DateTimeField(auto_now_add=True)
    tried_at = models.DateTimeField(null=True, blank=True, help_text="When a comparison last began or ended.")
    leased_until = models.DateTimeField(null=True, blank=True, help_text="One task at a time compares.")
    compared_at = models.DateTimeField(null=True, blank=True)
    books = models.JSONField(default=dict, blank=True, help_text="What the comparison found.")
    listings = models.JSONField(
        default=dict,
        blank=True,
        help_text="Of each account read since: when, and the HITs that nobody here knew, by annotation.",
    )
    mailed_at = models.DateTimeField(null=True, blank=True)
    released_at = models.DateTimeField(null=True, blank=True)
    released_by = models.CharField(max_length=150, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(released_at__isnull=True) | ~Q(released_by=""), name="released_hold_has_name"
            ),
        ]

    def __str__(self) -> str:
        return f"since {self.began_at:%Y-%m-%d %H:%M}"
