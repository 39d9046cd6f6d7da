"""Who asks and who works, how they come in, and what passes between them besides HITs."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q


class NamedManager(models.Manager["Requester"]):
    def get_by_natural_key(self, name: str) -> "Requester":
        return self.get(name=name)


class Requester(models.Model):
    """An account that publishes HITs and pays for them."""

    name = models.CharField(max_length=128, unique=True, help_text="Workers see it beside the HITs.")
    researchers = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        blank=True,
        related_name="requesters",
        help_text="Who may see and run this account besides administrators.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects: ClassVar[NamedManager] = NamedManager()

    def __str__(self) -> str:
        return self.name

    def natural_key(self) -> tuple[str]:
        return (self.name,)


class AccessKey(models.Model):
    """One key pair of a requester. The secret is derived from the site's key and `salt`, and never stored.

    `known_secret` exists for the published demo key only, and such a key is honoured on loopback alone.
    """

    key_id = models.CharField("access key id", max_length=32, primary_key=True)
    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="keys")
    salt = models.CharField(max_length=64, blank=True, editable=False)
    known_secret = models.CharField(max_length=64, blank=True, editable=False)
    loopback_only = models.BooleanField(default=False, editable=False)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(known_secret="") | Q(loopback_only=True), name="stored_secret_is_loopback_only"
            ),
            models.CheckConstraint(condition=~Q(salt="", known_secret=""), name="key_has_a_secret"),
        ]

    def __str__(self) -> str:
        return self.key_id


class Worker(models.Model):
    """A person who does HITs. Signs in with the worker id and an access code kept only as a digest."""

    worker_id = models.CharField("worker id", max_length=64, unique=True)
    code_digest = models.CharField(max_length=64, editable=False)
    is_active = models.BooleanField(default=True)
    country = models.CharField(max_length=2, blank=True, help_text="ISO 3166 code, for locale requirements.")
    subdivision = models.CharField(max_length=2, blank=True, help_text="A state or province, as in US-CA.")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.worker_id


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


class CallRate(models.Model):
    """When a requester has paid off the calls of one operation made so far."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="call_rates")
    operation = models.CharField(max_length=64)
    free_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "operation"], name="marketplace_one_rate_per_operation"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.operation} from {self.free_at}"


class Block(models.Model):
    """A worker who may accept no HIT of the requester."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="blocks")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="blocks")
    reason = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "worker"], name="marketplace_block_once"),
        ]

    def __str__(self) -> str:
        return f"{self.requester} / {self.worker}"


class Message(models.Model):
    """Text a requester sent; the worker reads it under My work."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="messages")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="messages")
    subject = models.CharField(max_length=255)
    text = models.TextField()
    sent_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["worker", "id"])]

    def __str__(self) -> str:
        return self.subject
