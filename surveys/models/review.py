"""What was decided about a submitted assignment, and what one that does not count is replaced by."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotators.models import Assignment
from surveys.models.answers import is_skipped
from surveys.models.batch import Questionnaire

Status = Assignment.Status


class Decision(models.Model):
    """Whether a submitted assignment is paid: what we decided, by rule or by a person, and why.

    The decision is ours; that the marketplace carried it out is the assignment's status. A rejection that is
    taken back stays written down as it was, and who took it back, when and why stands beside it. Whether the answers
    are used is another decision (Inclusion), and whether the worker may go on a third (Worker.standing); every
    change of any of them is an AuditEntry.
    """

    class Verdict(models.TextChoices):
        APPROVE = "approve", "Approve"
        REJECT = "reject", "Reject"
        PROPOSE = "propose", "Rejection proposed"
        FLAG = "flag", "Wait for a person"

    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="decision")
    verdict = models.CharField(max_length=8, choices=Verdict)
    reason = models.TextField(blank=True, help_text="For a rejection: the message the worker reads.")
    n_correct = models.PositiveSmallIntegerField(null=True, blank=True)
    n_graded = models.PositiveSmallIntegerField(null=True, blank=True)
    flags = models.JSONField(
        default=list, blank=True, help_text='What the rules noticed: [{"kind", "sentence"}].'
    )
    policy = models.JSONField(default=dict, help_text="The rule as it stood.")
    rule_version = models.CharField(max_length=32, blank=True)
    is_auto_approved = models.BooleanField(
        default=False, help_text="The marketplace approved it before we decided."
    )
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


class Inclusion(models.Model):
    """Whether an assignment's answers are used in the analysis, where that is not what its payment says.

    Without a row, everything but rejected work is used. `is_replaced`: what is left out is collected once more.
    """

    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="inclusion")
    is_included = models.BooleanField()
    is_replaced = models.BooleanField(default=False)
    reason = models.TextField()
    rule_version = models.CharField(max_length=32, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        help_text="Empty: by rule.",
    )
    decided_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="inclusion_has_reason"),
            models.CheckConstraint(
                condition=Q(is_included=False) | Q(is_replaced=False), name="included_is_not_replaced"
            ),
        ]

    def __str__(self) -> str:
        return f"{'in' if self.is_included else 'out'}: {self.assignment}"


class Appeal(models.Model):
    """What a rejected worker can write to us with the code of the message they got. One per rejection.

    The row is there from the moment the message is written; `text` and `made_at` come with the worker.
    """

    class Outcome(models.TextChoices):
        OVERTURNED = "overturned", "The rejection was overturned"
        UPHELD = "upheld", "The rejection stays"

    class Told(models.TextChoices):
        RECEIVED = "received", "That it has come"
        UPHELD = "upheld", "That the rejection stays"

    assignment = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="appeal")
    code = models.CharField(max_length=32, unique=True)
    text = models.TextField(blank=True)
    made_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=16, choices=Outcome, blank=True)
    answer = models.TextField(blank=True, help_text="The worker reads this.")
    answered_at = models.DateTimeField(null=True, blank=True)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, editable=False, on_delete=models.SET_NULL
    )
    told = models.CharField(
        max_length=16, choices=Told, blank=True, default="", editable=False,
        help_text="What the worker's marketplace was last told, before it was asked to pass it on.",
    )  # fmt: skip

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(made_at=None) | ~Q(text=""), name="appeal_says_something"),
            models.CheckConstraint(
                condition=Q(answered_at=None, outcome="")
                | Q(answered_at__isnull=False, made_at__isnull=False) & ~Q(outcome="") & ~Q(answer=""),
                name="answered_appeal_has_outcome",
            ),
        ]

    def __str__(self) -> str:
        return f"against {self.assignment}"


class Replacement(models.Model):
    """What a rejected, skipped or excluded assignment buys: one more, on a HIT with room or on a sibling HIT."""

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


def does_not_count(assignment: str = "") -> Q:
    """Tell, in a query over assignments or over what has one at `assignment`, whose answers fill no place.

    That is what is wanted again: rejected work, work with a skipped item, and work left out to be collected once more.
    Whoever asks whether something is to be replaced, reopened, filled or kept asks here, or asks for one of the three.
    """
    is_handed_in = _at(assignment, status__in=[Status.SUBMITTED, Status.APPROVED])
    is_skipped_or_left_out = Q(is_skipped(assignment or "pk")) | is_left_out(assignment)
    return is_rejected(assignment) | is_handed_in & is_skipped_or_left_out


def is_rejected(assignment: str = "") -> Q:
    """Tell whether work is rejected, and nobody has taken that back."""
    return _at(assignment, status=Status.REJECTED, decision__overturned_at=None)


def is_accepted(assignment: str = "") -> Q:
    """Tell whether work is paid, or will be as far as is decided."""
    is_decided = _at(assignment, decision__verdict=Decision.Verdict.APPROVE)
    return _at(assignment, status=Status.APPROVED) | is_decided


def is_undecided(assignment: str = "") -> Q:
    """Tell whether the marketplace approves work by itself unless it hears from us.

    That is submitted work without a decision, flagged, proposed for rejection, or rejected without anybody being told.
    """
    is_approved = _at(assignment, decision__verdict=Decision.Verdict.APPROVE)
    return _at(assignment, status=Status.SUBMITTED) & ~is_approved


def is_held(assignment: str = "") -> Q:
    """Tell whether submitted work waits for a person: flagged by a rule, held by hand, or proposed for rejection."""
    held = [Decision.Verdict.FLAG, Decision.Verdict.PROPOSE]
    return _at(assignment, status=Status.SUBMITTED, decision__verdict__in=held)


def is_held_by_hand(assignment: str = "") -> Q:
    """Tell whether submitted work waits because somebody said so."""
    is_by_person = _at(
        assignment, decision__verdict=Decision.Verdict.FLAG, decision__decided_by__isnull=False
    )
    return _at(assignment, status=Status.SUBMITTED) & is_by_person


def is_left_out(assignment: str = "") -> Q:
    """Tell whether answers were left out of the analysis and are collected once more."""
    return _at(assignment, inclusion__is_replaced=True)


def is_used(assignment: str = "") -> Q:
    """Tell whether answers that were handed in are used in the analysis, skips among them."""
    is_handed_in = _at(assignment, status__in=[Status.SUBMITTED, Status.APPROVED])
    return is_handed_in & (
        _at(assignment, inclusion__isnull=True) | _at(assignment, inclusion__is_included=True)
    )


def _at(assignment: str, **conditions: object) -> Q:
    prefix = f"{assignment}__" if assignment else ""
    return Q(**{f"{prefix}{name}": value for name, value in conditions.items()})
