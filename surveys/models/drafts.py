"""Survey types that are being written: each change is a version, so that any can be undone."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from surveys.models.study import Protocol


class ProtocolDraft(models.Model):
    """A survey type that is being written. `current` is the number of the version that counts.

    `origin` is the type it began as a copy of, whose pictures it may name; `protocol` the one it became, after which it
    is not changed any more. `items` is a file of a few items to look at it with.
    """

    current = models.PositiveIntegerField(default=1)
    origin = models.ForeignKey(
        Protocol, null=True, editable=False, on_delete=models.SET_NULL, related_name="copies"
    )
    protocol = models.OneToOneField(
        Protocol, null=True, editable=False, on_delete=models.SET_NULL, related_name="draft"
    )
    items = models.TextField(blank=True)
    is_shared = models.BooleanField(
        "shared", default=False, help_text="Everybody with a role here may write on it, as far as that goes."
    )
    team = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="protocol_drafts")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name = "survey type being written"
        verbose_name_plural = "survey types being written"

    def __str__(self) -> str:
        return f"draft {self.pk}"


class ProtocolDraftVersion(models.Model):
    """A draft's document as somebody left it. `before` is the number of the version it was made from, 0 of the first.

    One that was overtaken by somebody else's is kept beside it (`is_aside`), and never counts itself.
    """

    draft = models.ForeignKey(ProtocolDraft, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    before = models.PositiveIntegerField()
    document = models.TextField(blank=True)
    is_aside = models.BooleanField(default=False)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["draft_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["draft", "number"], name="draft_version_once"),
            models.CheckConstraint(condition=Q(before__lt=models.F("number")), name="draft_version_after"),
        ]

    def __str__(self) -> str:
        return f"{self.draft} version {self.number}"
