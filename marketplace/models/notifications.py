"""Who wants to hear of which events, and what has still to be told."""

from django.db import models
from django.db.models import Q

from marketplace.models.accounts import Requester
from marketplace.models.work import HITType


class NotificationSetting(models.Model):
    """A HIT type's notification specification, in MTurk's words."""

    class Transport(models.TextChoices):
        SQS = "SQS"
        SNS = "SNS"

    hit_type = models.OneToOneField(HITType, on_delete=models.CASCADE, related_name="notification")
    destination = models.CharField(max_length=2048)
    transport = models.CharField(max_length=8, choices=Transport)
    version = models.CharField(max_length=16)
    event_types = models.JSONField(default=list)
    is_active = models.BooleanField(default=True)

    def __str__(self) -> str:
        return f"{self.hit_type}: {self.destination}"


class Event(models.Model):
    """One event that waits to be told; written with the change it tells of, deleted once it has arrived.

    `document_id` (EventDocId) is given at the first attempt and stays, so that a repetition can be recognised.
    """

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="events")
    destination = models.CharField(max_length=2048)
    transport = models.CharField(max_length=8, choices=NotificationSetting.Transport)
    version = models.CharField(max_length=16)
    body = models.JSONField()
    document_id = models.UUIDField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(help_text="Real time, not the marketplace's.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(attempts=0) | Q(document_id__isnull=False), name="marketplace_tried_event_has_id"
            ),
        ]
        indexes = [models.Index(fields=["due_at", "id"]), models.Index(fields=["document_id"])]

    def __str__(self) -> str:
        return f"{self.body.get('EventType')} for {self.destination}"
