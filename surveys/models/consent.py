"""What people agree to before they answer, and who agreed to which version of it."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotators.models import Worker
from surveys.models.study import Survey


class ConsentText(models.Model):
    """One version of what a study asks people to agree to. Never changed, only followed.

    `translations`: {language: text}. From a version without a text on nobody is asked.
    """

    survey = models.ForeignKey(Survey, on_delete=models.CASCADE, related_name="consent_texts")
    version = models.PositiveIntegerField(help_text="From 1.")
    text = models.TextField(blank=True)
    translations = models.JSONField(default=dict, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["survey_id", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["survey", "version"], name="consent_text_version_once"),
            models.CheckConstraint(condition=Q(version__gte=1), name="consent_text_counts_from_one"),
            models.CheckConstraint(
                condition=~Q(text="") | Q(translations={}), name="consent_text_translates_something"
            ),
        ]

    def __str__(self) -> str:
        return f"Consent {self.version} of {self.survey}"


class Consent(models.Model):
    """One person agreed to one version. `language`: the translation they read, "" for the text itself."""

    text = models.ForeignKey(ConsentText, on_delete=models.PROTECT, related_name="consents")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="consents")
    language = models.CharField(max_length=16, blank=True)
    given_at = models.DateTimeField(auto_now_add=True)
    claimed_from = models.CharField(
        max_length=16, blank=True, editable=False, help_text="As the assignment's, until that is confirmed."
    )

    class Meta:
        ordering = ["text_id", "given_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["text", "worker", "claimed_from"], name="consent_once_per_version"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.worker} to {self.text}"
