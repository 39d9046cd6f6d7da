"""Workers, and by whom and how they come to us."""

from django.db import models


class Endpoint(models.TextChoices):
    """Which marketplace a HIT lives on, if any. Identifiers of different endpoints are never mixed."""

    EMBEDDED = "embedded", "Embedded marketplace"
    SANDBOX = "sandbox", "MTurk sandbox"
    PRODUCTION = "production", "MTurk production (real money)"
    LINK = "link", "No marketplace: people come by link"


class Source(models.TextChoices):
    """Who knows a worker by their WorkerId: a marketplace, we ourselves, or a panel ("prolific:5f2a...")."""

    EMBEDDED = Endpoint.EMBEDDED.value, Endpoint.EMBEDDED.label
    SANDBOX = Endpoint.SANDBOX.value, Endpoint.SANDBOX.label
    PRODUCTION = Endpoint.PRODUCTION.value, Endpoint.PRODUCTION.label
    LINK = "link", "Personal link"
    PANEL = "panel", "Panel"


class Channel(models.TextChoices):
    """How a worker came to an assignment. Only the marketplace's are listed, paid and decided there."""

    MARKETPLACE = "marketplace", "Marketplace"
    LINK = "link", "Personal link"
    PANEL = "panel", "Panel"


class Worker(models.Model):
    """A person who rates, as one endpoint knows them."""

    class Standing(models.TextChoices):
        OK = "ok", "May work"
        WATCH = "watch", "Watched"
        EXCLUDED = "excluded", "Excluded from our HITs"

    worker_id = models.CharField(max_length=64)
    source = models.CharField(max_length=16, choices=Source)
    standing = models.CharField(max_length=16, choices=Standing, default=Standing.OK)
    created_at = models.DateTimeField(auto_now_add=True)
    purged_at = models.DateTimeField(
        null=True, blank=True, help_text="The marketplace's id was replaced by our pseudonym then."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "worker_id"], name="worker_once_per_source"),
        ]

    def __str__(self) -> str:
        return self.worker_id
