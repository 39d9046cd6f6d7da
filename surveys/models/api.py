"""What scripts come with: tokens of people, and what was asked under an idempotency key."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.db.models import Q

KEPT = timedelta(hours=24)  # an idempotency key with what was answered


class ApiToken(models.Model):
    """One person's way in for their scripts, with their rights and no more.

    The token is nowhere stored: `token_hash` is its SHA-256, and 256 random bits need no salt. `start` are its first
    letters, by which its owner knows it again.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    token_hash = models.CharField(max_length=64, unique=True, editable=False)
    start = models.CharField(max_length=16, editable=False)
    is_read_only = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True, help_text="Empty: when it is revoked.")
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name = "API token"
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="api_token_has_a_name")]

    def __str__(self) -> str:
        return self.name

    def is_good(self, now: datetime) -> bool:
        """Tell whether it opens anything: neither revoked nor expired, and its owner still works here."""
        is_late = self.expires_at is not None and self.expires_at <= now
        return not self.revoked_at and not is_late and self.user.is_active and self.user.is_staff


class ApiRequest(models.Model):
    """One request under somebody's idempotency key: begun, and once it was answered, the answer. Kept for a day.

    `fingerprint` is the SHA-256 of what was asked. `status` empty: it is still being answered.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    begun_at = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True)
    content = models.TextField(blank=True, help_text="JSON.")

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["user", "key"], name="api_request_once_per_user_and_key")
        ]

    def __str__(self) -> str:
        return self.key
