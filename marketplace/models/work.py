"""What is offered and what was done, in MTurk's words."""

from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.db import models
from django.db.models import F, Q

from marketplace import refusals
from marketplace.models.accounts import Requester, Worker
from marketplace.models.qualifications import QualificationType
from statements import Change, Hole, Statement

TOKEN_LIFE = timedelta(hours=24)  # API reference, UniqueRequestToken
IS_FULL = Q(max_assignments=F("pending") + F("submitted") + F("approved") + F("rejected"))
LIVE = ("Open", "Submitted", "Approved", "Rejected")


class HITTypeManager(models.Manager["HITType"]):
    def count_open(self, pk: int, *, by: int) -> None:
        """Count so many more HITs of the type as open. After money has moved, the order in which all lock."""
        self.filter(pk=pk).update(open_hits=F("open_hits") + by)


class HITType(models.Model):
    """What HITs have in common. Equal values from one requester are one type (`fingerprint`).

    `open_hits` counts those with `HIT.is_open`: a list of 100,000 HITs counts none of them.
    """

    type_id = models.CharField("HITTypeId", max_length=64, unique=True)
    group_id = models.CharField("HITGroupId", max_length=64, unique=True)
    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="hit_types")
    fingerprint = models.CharField(max_length=64)
    title = models.CharField(max_length=128)
    description = models.CharField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    reward_cents = models.PositiveBigIntegerField()
    duration_seconds = models.PositiveBigIntegerField()
    auto_approval_seconds = models.PositiveBigIntegerField()
    requirements = models.JSONField(default=list)
    qualification_types = models.ManyToManyField(QualificationType, related_name="hit_types")
    open_hits = models.PositiveIntegerField(default=0, editable=False)
    created_at = models.DateTimeField()

    objects: ClassVar[HITTypeManager] = HITTypeManager()

    class Meta:
        verbose_name = "HIT type"
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "fingerprint"], name="marketplace_one_type_per_values"
            ),
        ]
        indexes = [
            models.Index(fields=["id"], condition=Q(open_hits__gt=0), name="marketplace_type_offered"),
        ]

    def __str__(self) -> str:
        return self.title

    @property
    def duration(self) -> timedelta:
        return timedelta(seconds=self.duration_seconds)

    @property
    def auto_approval_delay(self) -> timedelta:
        return timedelta(seconds=self.auto_approval_seconds)


class HITQuerySet(models.QuerySet["HIT"]):
    """The same rule as `HIT.status`, over a query."""

    def reviewable(self, *, now: datetime) -> Self:
        """Return what is Reviewable or Reviewing."""
        has_ended = IS_FULL | Q(expires_at__lte=now) | Q(is_expired=True)
        return self.filter(Q(disposed_at=None, pending=0) & has_ended)

    def to_lock(self) -> Self:
        """Lock what is read, with all that is needed to give out, take back or decide an assignment of it."""
        related = self.select_related("hit_type__notification", "requester")
        return related.select_for_update(of=("self",), no_key=True)

    def locked(self, pk: int) -> "HIT":
        """Return the HIT with its row locked (on SQLite the IMMEDIATE transaction is the lock)."""
        if hit := LOCKED.first(pk=pk):
            return hit
        raise HIT.DoesNotExist("It is gone.")

    def locked_by_name(self, hit_id: str, *, of: str) -> "HIT | None":
        """Return the HIT with this HITId, locked; None where none of the HITTypeId or HITGroupId `of` has it."""
        return LOCKED_BY_NAME.first(hit_id=hit_id, of=of)

    def rewrite(self, hit: "HIT") -> None:
        """Write the counts of a locked HIT."""
        WRITE_COUNTS(pk=hit.pk, **{name: getattr(hit, name) for name in COUNTS})


class HIT(models.Model):
    """One HIT with the counts of its assignments; its status follows from them and the time.

    `held_slots` is how many of its assignments have money set aside at this moment. `is_open`: not disposed of, not
    noticed to have expired, and not full; written with the counts, and counted in the type's `open_hits`.
    """

    class Status(models.TextChoices):
        ASSIGNABLE = "Assignable"
        UNASSIGNABLE = "Unassignable"
        REVIEWABLE = "Reviewable"
        REVIEWING = "Reviewing"
        DISPOSED = "Disposed"

    hit_id = models.CharField("HITId", max_length=64, unique=True)
    hit_type = models.ForeignKey(HITType, on_delete=models.PROTECT, related_name="hits")
    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="hits")
    question = models.TextField()
    annotation = models.CharField(max_length=255, blank=True)
    max_assignments = models.PositiveIntegerField()
    pending = models.PositiveIntegerField(default=0)
    submitted = models.PositiveIntegerField(default=0)
    approved = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    held_slots = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    disposed_at = models.DateTimeField(null=True, blank=True)
    is_expired = models.BooleanField(default=False, help_text="The expiry has been noticed and acted upon.")
    is_reviewing = models.BooleanField(default=False, help_text="Counts while the HIT is reviewable.")
    is_open = models.BooleanField(default=True, editable=False)

    objects = HITQuerySet.as_manager()

    class Meta:
        verbose_name = "HIT"
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    max_assignments__gte=F("pending") + F("submitted") + F("approved") + F("rejected")
                ),
                name="marketplace_hit_not_overbooked",
            ),
            models.CheckConstraint(
                condition=Q(held_slots__lte=F("max_assignments")), name="marketplace_hold_within_hit"
            ),
        ]
        indexes = [
            models.Index(fields=["requester", "id"]),
            models.Index(fields=["hit_type", "expires_at"]),
            # The oldest, and the newest, HIT of a type that has something to give.
            models.Index(
                fields=["hit_type", "id"], condition=Q(is_open=True), name="marketplace_open_oldest"
            ),
            models.Index(
                fields=["hit_type", "created_at"], condition=Q(is_open=True), name="marketplace_open_newest"
            ),
            models.Index(fields=["expires_at"], condition=Q(disposed_at=None), name="marketplace_hit_live"),
            models.Index(
                fields=["expires_at"],
                condition=Q(is_expired=False, disposed_at=None),
                name="marketplace_hit_not_expired",
            ),
        ]

    def __str__(self) -> str:
        return self.hit_id

    @property
    def taken(self) -> int:
        return self.pending + self.submitted + self.approved + self.rejected

    @property
    def free(self) -> int:
        return self.max_assignments - self.taken

    @property
    def is_offered(self) -> bool:
        """What `is_open` has to be; a HIT whose time is over is offered until that is noticed."""
        return self.disposed_at is None and not self.is_expired and self.free > 0

    def status(self, *, now: datetime) -> str:
        """Return the HITStatus. Source: the life-cycle table of MTurk's developer guide."""
        if self.disposed_at is not None:
            return self.Status.DISPOSED
        # A clock that was read before the HIT's lock may be behind an expiry that was acted upon.
        if self.free > 0 and self.expires_at > now and not self.is_expired:
            return self.Status.ASSIGNABLE
        if self.pending:
            return self.Status.UNASSIGNABLE
        return self.Status.REVIEWING if self.is_reviewing else self.Status.REVIEWABLE

    def slots_to_fund(self, *, now: datetime) -> int:
        """Return how many assignments may still have to be paid."""
        undecided = self.pending + self.submitted
        return undecided + (self.free if self.status(now=now) == self.Status.ASSIGNABLE else 0)


COUNTS = ("pending", "submitted", "approved", "rejected", "held_slots", "is_open")

LOCKED = Statement(lambda: HIT.objects.to_lock().filter(pk=Hole("pk", HIT._meta.pk)))
NAME_OF_TYPE = Hole("of", HITType._meta.get_field("type_id"))
LOCKED_BY_NAME = Statement(
    lambda: HIT.objects.to_lock().filter(
        Q(hit_type__type_id=NAME_OF_TYPE) | Q(hit_type__group_id=NAME_OF_TYPE),
        hit_id=Hole("hit_id", HIT._meta.get_field("hit_id")),
    )
)
WRITE_COUNTS = Change(
    lambda: HIT.objects.filter(pk=Hole("pk", HIT._meta.pk)),
    **{name: Hole(name, HIT._meta.get_field(name)) for name in COUNTS},
)


class Assignment(models.Model):
    """One worker's go at a HIT.

    AssignmentIds are recycled: after a return or a time-out the row stays as history and `is_reusable` lets
    the next worker have the same AssignmentId, so an id has at most one live row.
    """

    class Status(models.TextChoices):
        OPEN = "Open"
        RETURNED = "Returned"
        ABANDONED = "Abandoned"
        SUBMITTED = "Submitted"
        APPROVED = "Approved"
        REJECTED = "Rejected"

    assignment_id = models.CharField("AssignmentId", max_length=64)
    hit = models.ForeignKey(HIT, on_delete=models.PROTECT, related_name="assignments")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="assignments")
    status = models.CharField(max_length=16, choices=Status, default=Status.OPEN)
    is_reusable = models.BooleanField(default=False)
    accepted_at = models.DateTimeField()
    deadline = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True, blank=True)
    auto_approval_at = models.DateTimeField(null=True, blank=True)
    approved_at = models.DateTimeField(null=True, blank=True)
    rejected_at = models.DateTimeField(null=True, blank=True)
    feedback = models.TextField(blank=True)
    answer = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment_id"], condition=Q(status__in=LIVE), name="marketplace_one_live_row_per_id"
            ),
            models.UniqueConstraint(
                fields=["hit", "worker"], condition=Q(status__in=LIVE), name="marketplace_hit_once_per_worker"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["Open", "Returned", "Abandoned"])
                | Q(submitted_at__isnull=False, auto_approval_at__isnull=False),
                name="marketplace_submitted_has_times",
            ),
            models.CheckConstraint(
                condition=~Q(status="Approved") | Q(approved_at__isnull=False),
                name="marketplace_approved_has_time",
            ),
            models.CheckConstraint(
                condition=~Q(status="Rejected") | Q(rejected_at__isnull=False),
                name="marketplace_rejected_has_time",
            ),
        ]
        indexes = [
            models.Index(fields=["assignment_id"]),
            # For the question the unique constraint answers, too: SQLite finds no partial index for IN (?, ?).
            models.Index(fields=["hit", "worker", "status"]),
            models.Index(fields=["hit", "status", "id"]),
            models.Index(
                fields=["hit", "id"],
                condition=Q(submitted_at__isnull=False),
                name="marketplace_hit_submissions",
            ),
            models.Index(
                fields=["hit", "id"], condition=Q(is_reusable=True), name="marketplace_reusable_ids"
            ),
            models.Index(fields=["worker", "status", "id"]),
            models.Index(fields=["deadline"], condition=Q(status="Open"), name="marketplace_open_due"),
            models.Index(
                fields=["auto_approval_at"], condition=Q(status="Submitted"), name="marketplace_approval_due"
            ),
        ]

    def __str__(self) -> str:
        return self.assignment_id


class TokenManager(models.Manager["Token"]):
    """What a requester repeats within 24 hours is refused, not done twice."""

    def earlier_use(
        self, requester: Requester, *, operation: str, token: str | None, now: datetime
    ) -> "Token | None":
        """Return the token's use of the last 24 hours; the locked requester keeps two from passing."""
        if not token:
            return None
        Requester.objects.select_for_update(no_key=True).get(pk=requester.pk)
        lately = self.filter(requester=requester, used_at__gt=now - TOKEN_LIFE)
        return lately.filter(operation=operation, token=token).select_related("hit").first()

    def refuse_used(self, requester: Requester, *, operation: str, token: str | None, now: datetime) -> None:
        """Raise Refusal when the token was used for the operation before. Without a token nothing is checked."""
        use = self.earlier_use(requester, operation=operation, token=token, now=now)
        if use is not None:
            raise refusals.token_processed(use.token)

    def remember(self, hit: HIT, *, operation: str, token: str | None, now: datetime) -> None:
        """Note that the token was used, on this HIT."""
        if token:
            self.update_or_create(
                requester=hit.requester,
                operation=operation,
                token=token,
                defaults={"hit": hit, "used_at": now},
            )


class Token(models.Model):
    """An idempotency token a requester has used for one operation; it counts for 24 hours."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE)
    operation = models.CharField(max_length=64)
    token = models.CharField(max_length=128)
    hit = models.ForeignKey(HIT, on_delete=models.CASCADE)
    used_at = models.DateTimeField()

    objects: ClassVar[TokenManager] = TokenManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "operation", "token"], name="marketplace_token_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.token}"
