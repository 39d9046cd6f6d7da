"""The audit trail: who decided what about whom, when, by which rule and why. Nothing in it is ever changed."""

from typing import Any, NoReturn

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotators.models import Assignment, Worker
from surveys.models.batch import Batch
from surveys.models.study import Survey


class AuditEntry(models.Model):
    """One decision or deed. Rows are only added: the database refuses to change them (migration 0002).

    `kind` is what was decided about, `outcome` what was decided ("approve", "exclude", "watch"). No raw worker id
    belongs into `reason` or `details`: the trail outlives the purge of identifiers.
    """

    class Kind(models.TextChoices):
        PAYMENT = "payment", "Payment"
        INCLUSION = "inclusion", "Use in the analysis"
        STANDING = "standing", "Worker's standing"
        BONUS = "bonus", "Bonus"
        APPEAL = "appeal", "Appeal"
        PUBLISHING = "publishing", "Publishing"
        POLICY = "policy", "Review policy"
        BUDGET = "budget", "Budget"
        DOWNLOAD = "download", "Download with worker ids"
        PURGE = "purge", "Purge of identifiers"
        RESULTS = "results", "Numbers entered for results"
        SHARING = "sharing", "Read-only link to results"
        TEAM = "team", "Team of a study"

    kind = models.CharField(max_length=16, choices=Kind)
    outcome = models.CharField(max_length=32)
    reason = models.TextField(blank=True)
    rule_version = models.CharField(max_length=32, blank=True)
    details = models.JSONField(default=dict, blank=True)
    survey = models.ForeignKey(
        Survey,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="audit_entries",
        help_text="Where it is about a study as a whole.",
    )
    batch = models.ForeignKey(
        Batch, null=True, blank=True, on_delete=models.PROTECT, related_name="audit_entries"
    )
    assignment = models.ForeignKey(
        Assignment, null=True, blank=True, on_delete=models.PROTECT, related_name="audit_entries"
    )
    worker = models.ForeignKey(
        Worker, null=True, blank=True, on_delete=models.PROTECT, related_name="audit_entries"
    )
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Empty: by rule.",
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at", "-pk"]
        verbose_name_plural = "audit trail"
        indexes = [
            models.Index(fields=["kind", "at"]),
            models.Index(fields=["-at", "-id"], name="audit_latest"),
        ]
        constraints = [
            models.CheckConstraint(condition=~Q(outcome=""), name="audit_entry_has_outcome"),
            models.CheckConstraint(
                condition=Q(survey__isnull=False)
                | Q(batch__isnull=False)
                | Q(assignment__isnull=False)
                | Q(worker__isnull=False),
                name="audit_entry_is_about_something",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.outcome}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Add the entry; TypeError for one that exists."""
        if not self._state.adding:
            raise TypeError("An audit entry is never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("An audit entry is never deleted.")

    @property
    def by_whom(self) -> str:
        """Who decided or did it: a person by name, the worker, the marketplace, the rule, or the server by itself."""
        if self.actor:
            return str(self.actor)
        if account := self.details.get("account"):
            return f"{account}, on the command line"
        if self.kind == self.Kind.APPEAL and self.outcome == "made":
            return "the worker"
        if self.details.get("is_auto_approved"):
            return "the marketplace"
        is_by_rule = self.kind in (self.Kind.PAYMENT, self.Kind.INCLUSION)
        return "the batch's rule" if is_by_rule else "this server"
