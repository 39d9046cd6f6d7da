"""What researchers are warned of by e-mail, so that nothing is mailed twice."""

from django.db import models
from django.db.models import Q

from surveys.models.batch import Batch


class Alarm(models.Model):
    """One thing a mail is about: an assignment near its deadline, an error that stands, an appeal nobody answers.

    seen -> claimed by one process -> sent. A claim that never became a mail is free again after some minutes.
    """

    class Kind(models.TextChoices):
        DEADLINE = "deadline", "Undecided near the deadline"
        ERROR = "error", "Batch stands still"
        APPEAL = "appeal", "Appeal without an answer"

    kind = models.CharField(max_length=16, choices=Kind)
    about = models.CharField(max_length=64, help_text="The key of an assignment or appeal, or of an error.")
    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="alarms")
    seen_at = models.DateTimeField(auto_now_add=True)
    claim = models.UUIDField(null=True, blank=True, db_index=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind", "about"], name="alarm_once"),
            models.CheckConstraint(
                condition=Q(claim=None, claimed_at=None) | Q(claim__isnull=False, claimed_at__isnull=False),
                name="claimed_alarm_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.about}"
