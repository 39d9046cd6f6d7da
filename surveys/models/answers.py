"""What a worker was shown and what they answered."""

from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Length

from annotators.models import Assignment, Worker
from surveys.models.batch import Batch
from surveys.models.study import Item, Output
from surveys.protocols.definition import UNSEEN


class Response(models.Model):
    """One worker on one item. Written when the item is first shown, with the order it is shown in.

    `shown`: {"outputs": [output id, in the order shown], "choices": [value, in the order shown], "place": from 1, where
    the item stands on this worker's page; without it, at its position}. `is_repeat`: the item asked again on the same
    page; a repeat counts in agreement within raters alone, wherever else answers are counted the first one does.
    `draft` is the item's form data as last saved; `answer` and the ratings are written at submission, in one
    transaction. `batch` and `worker` repeat the assignment's, so that the database itself refuses to show a
    worker the same item twice in a batch; where the worker is only claimed, that proves nothing about them.
    """

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="responses")
    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="responses")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="responses")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="responses")
    position = models.PositiveSmallIntegerField(help_text="From 1, as in the questionnaire.")
    shown = models.JSONField(default=dict)
    draft = models.JSONField(default=dict, blank=True)
    draft_version = models.PositiveIntegerField(
        default=0, help_text="Client's counter: a late save can't win."
    )
    answer = models.CharField(max_length=2000, blank=True)
    is_correct = models.BooleanField(null=True, blank=True)
    skip_reason = models.CharField(max_length=200, blank=True)
    active_seconds = models.FloatField(default=0.0, help_text="Visible and focused, as the page measured.")
    saved_at = models.DateTimeField(null=True, blank=True, help_text="Draft last saved.")
    is_claim = models.BooleanField(default=False, help_text="The marketplace has not named the worker yet.")
    is_repeat = models.BooleanField(
        default=False, help_text="The item asked again, for agreement within raters."
    )

    class Meta:
        ordering = ["assignment_id", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "item", "is_repeat"], name="response_once_per_assignment_and_item"
            ),
            models.UniqueConstraint(
                fields=["batch", "worker", "item", "is_repeat"],
                condition=Q(is_claim=False),
                name="worker_sees_item_once_per_batch",
            ),
            models.CheckConstraint(condition=Q(active_seconds__gte=0), name="active_seconds_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.assignment} on {self.item}"

    @property
    def shown_outputs(self) -> list[Output]:
        """Return the item's outputs that were shown, in the order of import; all where nothing says which."""
        shown = self.shown.get("outputs")
        return [output for output in self.item.outputs.all() if not shown or output.pk in shown]

    @property
    def place(self) -> int:
        """Where, from 1, the item stands on this worker's page."""
        return int(self.shown.get("place", self.position))


def is_skipped(assignment: str = "pk") -> Exists:
    """Tell, in a query over assignments or over what has one at `assignment`, whether an item of it was skipped.

    By a reason of its survey type's own: what was unseen is asked of nobody else (ADR 25).
    """
    return Exists(skips(Response.objects.filter(assignment=OuterRef(assignment))))


def skips(responses: "models.QuerySet[Response]") -> "models.QuerySet[Response]":
    """Return those of responses that were skipped by a reason of their survey type's own."""
    return responses.exclude(skip_reason__in=["", *UNSEEN])


class Rating(models.Model):
    """One value a worker gave, as a number; a text is the one value without.

    A scale is one row, and so are marks in a text, whose value lists them; a checklist is one 0/1 row per option
    (criterion "shortcomings.none"); a preference is one 0/1 row per output.
    `output` is null where the judgement is about the item.
    """

    response = models.ForeignKey(Response, on_delete=models.CASCADE, related_name="ratings")
    output = models.ForeignKey(
        Output, null=True, blank=True, on_delete=models.PROTECT, related_name="ratings"
    )
    criterion = models.CharField(max_length=64)
    value = models.TextField()
    score = models.FloatField(null=True, blank=True, help_text="Empty: a text.")

    class Meta:
        ordering = ["response_id", "output_id", "criterion"]
        constraints = [
            models.UniqueConstraint(
                fields=["response", "output", "criterion"],
                condition=Q(output__isnull=False),
                name="rating_once_per_output_and_criterion",
            ),
            models.UniqueConstraint(
                fields=["response", "criterion"],
                condition=Q(output__isnull=True),
                name="rating_once_per_item_and_criterion",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.criterion}={self.value}"


class MarkedSpan(models.Model):
    """One mark of a rating by spans, in columns: the rating's value says the same (`surveys.protocols.spans`).

    `start` and `end` count code points of the text as it is stored, which has `length` of them; the end is excluded.
    Both are empty where the whole text is meant. `column` names the item's block it is in, "" the text judged.
    """

    rating = models.ForeignKey(Rating, on_delete=models.CASCADE, related_name="spans")
    number = models.PositiveSmallIntegerField(help_text="From 1, in the order of the text.")
    column = models.CharField(max_length=64, blank=True)
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)
    length = models.PositiveIntegerField()
    text = models.TextField(blank=True, help_text="What is marked.")
    category = models.CharField(max_length=200, blank=True)
    severity = models.CharField(max_length=200)
    cost = models.FloatField(help_text="What the severity costs in the batch's protocol.")
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["rating_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["rating", "number"], name="span_number_once_per_rating"),
            models.CheckConstraint(condition=Q(number__gte=1), name="span_number_from_one"),
            models.CheckConstraint(
                condition=Q(start__isnull=True, end__isnull=True, text="")
                | Q(
                    start__isnull=False,
                    end__isnull=False,
                    start__gte=0,
                    start__lt=F("end"),
                    end__lte=F("length"),
                ),
                name="span_within_its_text_or_whole",
            ),
            models.CheckConstraint(
                condition=Q(start__isnull=True) | Q(end=F("start") + Length("text")),
                name="span_as_long_as_its_text",
            ),
            models.CheckConstraint(condition=~Q(severity=""), name="span_has_a_severity"),
            models.CheckConstraint(condition=Q(cost__gte=0), name="span_cost_not_negative"),
        ]

    def __str__(self) -> str:
        place = "whole text" if self.start is None else f"{self.start}–{self.end}"
        return f"{self.severity} at {place}"


class AnswerRevision(models.Model):
    """Complete answers as they were before their author changed them: `data` as `collection.task_answers` gives it."""

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="revisions")
    data = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["assignment_id", "pk"]

    def __str__(self) -> str:
        return f"{self.assignment} until {self.created_at:%Y-%m-%d %H:%M}"


class QuizAttempt(models.Model):
    """One try at a batch's quiz. `answers`: the value chosen for each question, in their order."""

    batch = models.ForeignKey(Batch, on_delete=models.PROTECT, related_name="quiz_attempts")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="quiz_attempts")
    number = models.PositiveSmallIntegerField(help_text="From 1.")
    answers = models.JSONField()
    n_right = models.PositiveSmallIntegerField()
    is_passed = models.BooleanField()
    created_at = models.DateTimeField(auto_now_add=True)
    claimed_from = models.CharField(
        max_length=16, blank=True, editable=False, help_text="As the assignment's, until that is confirmed."
    )

    class Meta:
        ordering = ["batch_id", "worker_id", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["batch", "worker", "number", "claimed_from"], name="quiz_attempt_number_once"
            ),
            models.CheckConstraint(condition=Q(number__gte=1), name="quiz_attempt_counts_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.worker} on {self.batch}, try {self.number}"
