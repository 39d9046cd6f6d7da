"""What was decided about a submitted assignment, and what one that does not count is replaced by."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotators.models import Assignment
from surveys.models.batch import Questionnaire


class Decision(models.Model):
    """What we decided about a submitted assignment, by rule or by a person, and why.

    The decision is ours; that the marketplace carried it out is the assignment's status. A rejection that is
    taken back stays written down as it was, and who took it back, when and why stands beside it.
    """

    class Verdict(models.TextChoices):
        APPROVE = "approve", "Approve"
        REJECT = "reject", "Reject"
        FLAG = "flag", "Wait for a person"

    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="decision")
    verdict = models.CharField(max_length=8, choices=Verdict)
    reason = models.TextField(blank=True, help_text="For a rejection: the message the worker reads.")
    n_correct = models.PositiveSmallIntegerField(null=True, blank=True)
    n_graded = models.PositiveSmallIntegerField(null=True, blank=True)
    policy = models.JSONField(default=dict, help_text="The rule as it stood.")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        help_text="Empty: by rule.",
    )
    decided_at = models.DateTimeField()
    overturned_at = models.DateTimeField(null=True, blank=True)
    overturned_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="overturned_decisions",
    )
    overturn_reason = models.TextField(blank=True, help_text="The message the worker reads then.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(verdict="reject") | ~Q(reason=""), name="rejection_has_reason"
            ),
            models.CheckConstraint(
                condition=Q(overturned_at=None) | ~Q(overturn_reason=""), name="overturning_has_reason"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} {self.assignment}"


class Replacement(models.Model):
    """The one assignment that a rejected or skipped one buys: more room on a HIT, or a sibling HIT made for it."""

    class OpenedBy(models.TextChoices):
        EXTEND = "extend", "One more assignment on a HIT"
        CREATE = "create", "A sibling HIT"

    replaces = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="replacement")
    questionnaire = models.ForeignKey(Questionnaire, on_delete=models.PROTECT, related_name="replacements")
    opened_by = models.CharField(max_length=8, choices=OpenedBy)
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True, help_text="The marketplace has opened the slot.")

    def __str__(self) -> str:
        return f"for {self.replaces}"
