"""HIT types, HITs and assignments, as MTurk names them."""

import uuid

from django.db import models
from django.db.models import F, Q

from annotators.models.people import Channel, Endpoint, Worker


class HITType(models.Model):
    """What HITs have in common on the marketplace. Equal values give the same HITTypeId there."""

    endpoint = models.CharField(max_length=16, choices=Endpoint)
    hit_type_id = models.CharField(max_length=64)
    title = models.CharField(max_length=128)
    description = models.CharField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    reward = models.DecimalField(max_digits=8, decimal_places=2)
    assignment_duration = models.DurationField()
    auto_approval_delay = models.DurationField()

    class Meta:
        verbose_name = "HIT type"
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "hit_type_id"], name="hit_type_id_once"),
        ]

    def __str__(self) -> str:
        return f"{self.title} ({self.hit_type_id})"


class HIT(models.Model):
    """One HIT the marketplace has confirmed. It is written only after CreateHIT answered."""

    class Status(models.TextChoices):
        ASSIGNABLE = "Assignable"
        UNASSIGNABLE = "Unassignable"
        REVIEWABLE = "Reviewable"
        REVIEWING = "Reviewing"
        DISPOSED = "Disposed"

    hit_type = models.ForeignKey(
        HITType, verbose_name="HIT type", on_delete=models.PROTECT, related_name="hits"
    )
    hit_id = models.CharField("HITId", max_length=64)
    status = models.CharField(max_length=16, choices=Status, default=Status.ASSIGNABLE)
    max_assignments = models.PositiveIntegerField()
    requester_annotation = models.CharField(max_length=255, blank=True)
    created_at = models.DateTimeField("creation time")
    expires_at = models.DateTimeField("expiration")
    synced_at = models.DateTimeField(null=True, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True, help_text="One task at a time works on a HIT.")
    missing_since = models.DateTimeField(
        null=True, blank=True, help_text="The marketplace has said since then that there is no such HIT."
    )
    gone_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When it last said so, once that is believed; it is asked again after a day.",
    )
    listed_as = models.CharField(
        max_length=100,
        blank=True,
        editable=False,
        help_text="What the marketplace's list said when it last moved.",
    )
    moved_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="There is something new about it since then, which is not fetched yet.",
    )
    enqueued_at = models.DateTimeField(
        null=True, blank=True, help_text="A task to look at it waits since then."
    )

    class Meta:
        verbose_name = "HIT"
        constraints = [
            models.UniqueConstraint(fields=["hit_type", "hit_id"], name="hit_id_once"),
            models.CheckConstraint(condition=Q(max_assignments__gte=1), name="hit_has_assignments"),
        ]
        indexes = [
            models.Index(fields=["hit_id"]),
            models.Index(fields=["synced_at"]),
            models.Index(fields=["moved_at"], condition=Q(moved_at__isnull=False), name="hit_moved"),
            models.Index(fields=["enqueued_at"], condition=Q(enqueued_at__isnull=False), name="hit_enqueued"),
            models.Index(
                fields=["missing_since"], condition=Q(missing_since__isnull=False), name="hit_missing"
            ),
        ]

    def __str__(self) -> str:
        return self.hit_id

    @property
    def endpoint(self) -> str:
        return self.hit_type.endpoint


class Listing(models.Model):
    """When all HITs of an account were last listed. One row for each marketplace."""

    endpoint = models.CharField(max_length=16, choices=Endpoint, unique=True)
    began_at = models.DateTimeField(null=True, blank=True, help_text="Whoever writes it here lists them.")
    listed_at = models.DateTimeField(
        null=True, blank=True, help_text="When the last one began that ended well."
    )
    n_pages = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return self.endpoint


# Opened by the frame's address alone: the marketplace names nobody before they submit.
IS_CLAIM = Q(status="Accepted", channel=Channel.MARKETPLACE)
# The marketplace knows no such HIT any more: nothing is asked or told about the work, so nothing more becomes of it.
IS_LOST = Q(channel=Channel.MARKETPLACE, hit__gone_at__isnull=False)


class Assignment(models.Model):
    """One worker on one HIT, or somebody's claim to be that worker.

    `saved_at` is our fact (the answers are in our database), `submitted_at` is the marketplace's (its
    SubmitTime). They are kept apart because either can be missing. AssignmentIds are recycled after a
    return, so (AssignmentId, WorkerId) identifies the work, never the AssignmentId alone. Until the marketplace
    names its worker a row is a claim: there may be several for a worker on a HIT, one for each AssignmentId.
    """

    class Status(models.TextChoices):
        ACCEPTED = (
            "Accepted"  # claimed to us by the frame's URL; the marketplace lists it only once submitted
        )
        SUBMITTED = "Submitted"
        APPROVED = "Approved"
        REJECTED = "Rejected"

    hit = models.ForeignKey(HIT, verbose_name="HIT", on_delete=models.PROTECT, related_name="assignments")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="assignments")
    assignment_id = models.CharField("AssignmentId", max_length=64)
    channel = models.CharField(max_length=16, choices=Channel, default=Channel.MARKETPLACE)
    status = models.CharField(max_length=16, choices=Status, default=Status.ACCEPTED)
    nonce = models.UUIDField(default=uuid.uuid4, editable=False, help_text="Comes back in the MTurk copy.")
    loaded_at = models.DateTimeField(auto_now_add=True, help_text="First opened in our frame.")
    saved_at = models.DateTimeField(null=True, blank=True, help_text="Answers complete in our database.")
    accepted_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    auto_approval_at = models.DateTimeField(null=True, blank=True)
    approved_at = models.DateTimeField(null=True, blank=True)
    rejected_at = models.DateTimeField(null=True, blank=True)
    feedback = models.TextField(blank=True, help_text="RequesterFeedback, shown to the worker.")
    comment = models.TextField(blank=True, help_text="What the worker wrote to us at the end.")
    answer_xml = models.TextField(blank=True, help_text="The marketplace's copy, as it was fetched.")
    user_agent = models.CharField(max_length=255, blank=True)
    claimed_from = models.CharField(
        max_length=16,
        blank=True,
        editable=False,
        help_text="Of a claim: a keyed hash of the network address that opened it.",
    )

    class Meta:
        ordering = ["hit_id", "submitted_at", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["hit", "worker"], condition=~IS_CLAIM, name="assignment_once_per_hit_and_worker"
            ),
            models.UniqueConstraint(fields=["assignment_id", "worker"], name="assignment_id_once_per_worker"),
            models.CheckConstraint(
                condition=Q(status="Accepted") | Q(submitted_at__isnull=False),
                name="assignment_has_submit_time",
            ),
            models.CheckConstraint(
                condition=~Q(status="Approved") | Q(approved_at__isnull=False),
                name="approved_has_approval_time",
            ),
            models.CheckConstraint(
                condition=~Q(status="Rejected") | Q(rejected_at__isnull=False),
                name="rejected_has_rejection_time",
            ),
            models.CheckConstraint(
                condition=Q(submitted_at__isnull=True)
                | Q(accepted_at__isnull=True)
                | Q(submitted_at__gte=F("accepted_at")),
                name="submitted_after_accepted",
            ),
        ]
        indexes = [
            models.Index(fields=["status"]),
            models.Index(
                fields=["hit", "saved_at"], condition=IS_CLAIM & Q(saved_at__isnull=False), name="saved_claim"
            ),
            models.Index(
                fields=["auto_approval_at"], condition=Q(status="Submitted"), name="assignment_undecided"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id} by {self.worker}"

    @property
    def is_claim(self) -> bool:
        """Tell whether nobody but the frame's address says who this is."""
        return self.status == self.Status.ACCEPTED and self.channel == Channel.MARKETPLACE

    @property
    def work_seconds(self) -> int | None:
        """MTurk's WorkTimeInSeconds: SubmitTime - AcceptTime in whole seconds, queue time included."""
        if not (self.submitted_at and self.accepted_at):
            return None
        return int(self.submitted_at.timestamp()) - int(self.accepted_at.timestamp())


# The states of work that was handed in, whatever was decided of it since.
SUBMITTED = (Assignment.Status.SUBMITTED, Assignment.Status.APPROVED, Assignment.Status.REJECTED)
