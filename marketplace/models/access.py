"""How people come in: invitations for workers, and sign-ins that failed."""

from django.db import models
from django.db.models import F, Q


class Invitation(models.Model):
    """A link with which `most_uses` people become workers until it expires. The link is kept as a digest."""

    digest = models.CharField(max_length=64, unique=True, editable=False)
    note = models.CharField(max_length=128, blank=True, help_text="Seen in the admin only.")
    most_uses = models.PositiveIntegerField()
    used = models.PositiveIntegerField(default=0)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(used__lte=F("most_uses")), name="marketplace_invitation_not_overused"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.note or 'Invitation'} {self.pk}"


class FailedSignIn(models.Model):
    """A sign-in that failed, kept while it counts against the worker id and the address."""

    worker_id = models.CharField(max_length=64)
    address = models.CharField(max_length=64)
    failed_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["worker_id", "failed_at"]),
            models.Index(fields=["address", "failed_at"]),
        ]

    def __str__(self) -> str:
        return f"{self.worker_id} from {self.address}"
