"""Results as somebody outside may read them: frozen, and open to whoever has the link until it is withdrawn."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from surveys.models.batch import Batch


class SharedResults(models.Model):
    """The numbers of a batch as they were when the link was made.

    The link's token is nowhere stored: `token_hash` is its SHA-256, and 256 random bits need no salt. `content` is what
    a page shows and no more, so that a link can show nothing that its author has not chosen.
    """

    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="shared_results")
    token_hash = models.CharField(max_length=64, unique=True, editable=False)
    name = models.CharField(max_length=200, help_text="Whom it is for, as you call them.")
    content = models.TextField(help_text="JSON.")
    choice = models.CharField(max_length=1000, blank=True, help_text="Which answers, as an address says it.")
    has_outputs = models.BooleanField(default=False)
    has_key = models.BooleanField(default=False)
    numbers_at = models.DateTimeField(help_text="When the numbers were made.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name_plural = "shared results"
        constraints = [
            models.CheckConstraint(
                condition=~Q(content="") & ~Q(name=""), name="shared_results_say_something"
            ),
            models.CheckConstraint(
                condition=Q(has_key=False) | Q(has_outputs=True), name="shared_key_is_of_outputs"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.batch} for {self.name}"
