"""People who come by a link: who may, and which annotation id is whose."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotators.models import Assignment, Worker
from surveys.models.batch import Batch, Questionnaire
from surveys.models.study import new_code


class AnnotationSlot(models.Model):
    """One annotation wanted: a questionnaire, and the assignment it was given to. `number` is the annotation id.

    A batch that takes links has one per wanted assignment, whatever the channel: that is its one quota. A rejected or
    skipped one keeps its assignment and is wanted again in a new slot that `reopens` it. One whose lease ran out
    unanswered is given to somebody else under its number; its author's draft moves to a new slot, which it reopens.
    """

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="annotation_slots")
    questionnaire = models.ForeignKey(
        Questionnaire, on_delete=models.CASCADE, related_name="annotation_slots"
    )
    number = models.PositiveIntegerField("annotation id")
    replicate = models.PositiveSmallIntegerField(
        help_text="From 1: the how manieth of its questionnaire; the least filled are given out first."
    )
    assignment = models.OneToOneField(
        Assignment, null=True, blank=True, on_delete=models.PROTECT, related_name="annotation_slot"
    )
    leased_until = models.DateTimeField(
        null=True, blank=True, help_text="Until then nobody else gets it, unless it was answered."
    )
    reopens = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="reopened_as"
    )

    class Meta:
        ordering = ["batch_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "number"], name="annotation_id_once_per_batch"),
            models.CheckConstraint(condition=Q(number__gte=1), name="annotation_id_from_one"),
            models.CheckConstraint(
                condition=Q(assignment__isnull=True, leased_until__isnull=True)
                | Q(assignment__isnull=False, leased_until__isnull=False),
                name="given_slot_has_lease",
            ),
        ]
        indexes = [
            models.Index(  # in the order they are given in
                fields=["batch", "replicate", "number"],
                condition=Q(leased_until=None),
                name="annotation_never_given",
            ),
            models.Index(
                fields=["batch"], condition=Q(reopens__isnull=False), name="annotation_that_reopens"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.batch} annotation {self.number}"


class Invitation(models.Model):
    """A personal link to a batch. Its address is signed and holds `key`; a new key makes the old address void.

    `access_code` is stored as a salted hash, as a password is. `max_assignments` empty: as many as there are.
    """

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="invitations")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="invitations")
    name = models.CharField(max_length=200, help_text="Whom it is for, as you call them.")
    email = models.EmailField(blank=True)
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    access_code = models.CharField(max_length=128, blank=True, editable=False)
    max_assignments = models.PositiveIntegerField(null=True, blank=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(null=True, blank=True, help_text="First used.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, editable=False, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["batch_id", "name"]
        constraints = [
            models.UniqueConstraint(fields=["batch", "worker"], name="one_invitation_per_worker_and_batch"),
            models.UniqueConstraint(fields=["batch", "name"], name="one_invitation_per_name_and_batch"),
        ]

    def __str__(self) -> str:
        return f"{self.name} to {self.batch}"


class Outcome(models.TextChoices):
    """How a panel's person came to their end; each may have a completion code of its own."""

    COMPLETED = "completed", "Completed"
    CHECKS_FAILED = "checks_failed", "Checks failed"
    NOTHING_LEFT = "nothing_left", "Nothing left"
    NO_CONSENT = "no_consent", "No consent"


class Panel(models.Model):
    """A panel that sends its people by URL parameters and wants them back with a completion code.

    The parameter names are Prolific's unless changed. `provider` keeps ids of different panels apart.
    """

    batch = models.OneToOneField(Batch, on_delete=models.CASCADE, related_name="panel")
    code = models.CharField(max_length=32, unique=True, default=new_code, editable=False)
    provider = models.SlugField(max_length=16, default="prolific")
    worker_parameter = models.CharField(max_length=64, default="PROLIFIC_PID")
    study_parameter = models.CharField(max_length=64, default="STUDY_ID", blank=True)
    session_parameter = models.CharField(max_length=64, default="SESSION_ID", blank=True)
    study_id = models.CharField(max_length=64, blank=True, help_text="Empty: any study may send people.")
    completion_code = models.CharField(max_length=64)
    completion_url = models.URLField(
        blank=True,
        help_text="Where a person goes when done; {code} stands for the completion code.",
        default="https://app.prolific.com/submissions/complete?cc={code}",
    )
    assignments_per_worker = models.PositiveIntegerField(default=1)

    def __str__(self) -> str:
        return f"{self.provider} for {self.batch}"

    def code_of(self, outcome: str) -> str:
        """Return the code for an outcome. Failed checks without one of their own are completed; others give none."""
        if outcome == Outcome.COMPLETED:
            return self.completion_code
        own = {one.outcome: one.code for one in self.codes.all()}
        otherwise = self.completion_code if outcome == Outcome.CHECKS_FAILED else ""
        return own.get(outcome, otherwise)


class PanelCode(models.Model):
    """What a panel's person takes back who did not complete. The code of the completed is the panel's own."""

    panel = models.ForeignKey(Panel, on_delete=models.CASCADE, related_name="codes")
    outcome = models.CharField(max_length=16, choices=Outcome)
    code = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["panel", "outcome"], name="one_code_per_outcome"),
            models.UniqueConstraint(fields=["panel", "code"], name="one_outcome_per_code"),
            models.CheckConstraint(condition=~Q(code=""), name="panel_code_says_something"),
            models.CheckConstraint(
                condition=Q(outcome__in=["checks_failed", "nothing_left", "no_consent"]),
                name="panel_code_of_an_outcome",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.code}: {self.get_outcome_display()}"


class PanelVisit(models.Model):
    """One person sent by a panel, with the study and session they came from, and how they came to their end.

    `outcome` is what they were told first, with its code: whatever is decided later, the panel has that.
    """

    panel = models.ForeignKey(Panel, on_delete=models.CASCADE, related_name="visits")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="panel_visits")
    study = models.CharField(max_length=64, blank=True)
    session = models.CharField(max_length=64, blank=True)
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=16, blank=True, choices=Outcome)
    ended_at = models.DateTimeField(null=True, blank=True, help_text="When they were told the outcome.")

    class Meta:
        ordering = ["panel_id", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["panel", "worker"], name="one_visit_per_panel_and_worker"),
            models.CheckConstraint(
                condition=Q(outcome="", ended_at__isnull=True)
                | Q(outcome__in=Outcome.values, ended_at__isnull=False),
                name="visit_ends_with_an_outcome",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.worker} from {self.panel}"
