"""What a requester can know about a worker, and what is known."""

from django.db import models
from django.db.models import Q

from marketplace.models.accounts import Requester, Worker


class QualificationType(models.Model):
    """A requester's own scale. A deleted type keeps its rows; its name may be used again."""

    class Status(models.TextChoices):
        ACTIVE = "Active"
        INACTIVE = "Inactive"

    type_id = models.CharField("QualificationTypeId", max_length=64, unique=True)
    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="qualification_types")
    name = models.CharField(max_length=200)
    description = models.CharField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    status = models.CharField(max_length=16, choices=Status)
    test = models.TextField(blank=True)
    answer_key = models.TextField(blank=True)
    test_seconds = models.PositiveBigIntegerField(null=True, blank=True)
    retry_seconds = models.PositiveBigIntegerField(null=True, blank=True)
    auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(default=1)
    created_at = models.DateTimeField()
    disposed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"],
                condition=Q(disposed_at=None),
                name="marketplace_qualification_name_once",
            ),
            models.CheckConstraint(
                condition=Q(test="") | Q(auto_granted=False, test_seconds__isnull=False),
                name="marketplace_test_has_time_and_is_taken",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_retakeable(self) -> bool:
        """Tell whether a worker who has a value may take the test again for a better one."""
        return bool(self.test) and self.retry_seconds is not None


class Qualification(models.Model):
    """A worker's value on a scale. A revoked one stays as a row and counts as none."""

    class Status(models.TextChoices):
        GRANTED = "Granted"
        REVOKED = "Revoked"

    qualification_type = models.ForeignKey(
        QualificationType, on_delete=models.PROTECT, related_name="qualifications"
    )
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="qualifications")
    value = models.IntegerField(default=1)
    status = models.CharField(max_length=16, choices=Status, default=Status.GRANTED)
    granted_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"], name="marketplace_one_value_per_worker"
            ),
        ]
        indexes = [models.Index(fields=["qualification_type", "status", "id"])]

    def __str__(self) -> str:
        return f"{self.qualification_type}: {self.value}"


class QualificationRequest(models.Model):
    """A worker's wish for a value; at most one of a type is under way.

    With a test it starts when the worker does. The test and its key are the type's at that moment: what was
    shown is what is marked. `answer` is a QuestionFormAnswers document, `submitted_at` first the start.
    """

    class Status(models.TextChoices):
        STARTED = "Started"
        LATE = "Late"
        PENDING = "Pending"
        GRANTED = "Granted"
        REJECTED = "Rejected"

    request_id = models.CharField("QualificationRequestId", max_length=64, unique=True)
    qualification_type = models.ForeignKey(
        QualificationType, on_delete=models.PROTECT, related_name="requests"
    )
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="qualification_requests")
    status = models.CharField(max_length=16, choices=Status, default=Status.PENDING)
    submitted_at = models.DateTimeField()
    test = models.TextField(blank=True)
    answer_key = models.TextField(blank=True)
    deadline = models.DateTimeField(null=True, blank=True)
    answer = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"],
                condition=Q(status__in=["Started", "Pending"]),
                name="marketplace_one_pending_request",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["Pending", "Granted", "Rejected"])
                | (~Q(test="") & Q(deadline__isnull=False)),
                name="marketplace_test_taken_has_an_end",
            ),
        ]
        indexes = [models.Index(fields=["qualification_type", "status", "id"])]

    def __str__(self) -> str:
        return self.request_id
