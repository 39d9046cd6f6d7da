"""The models every survey type shares. A new type needs no new model."""

import secrets
import uuid
from datetime import timedelta
from decimal import Decimal
from functools import cached_property

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse

from annotators.models import HIT, Assignment, Endpoint, HITType, Worker
from surveys.definitions import DEFINITIONS, Choice, Definition, get_definition


def definition_choices() -> list[tuple[str, str]]:
    return [(definition.key, definition.name) for definition in DEFINITIONS.values()]


def new_code() -> str:
    """Return an opaque name that tells a browser nothing about what it stands for."""
    return secrets.token_hex(8)


def new_seed() -> int:
    return secrets.randbelow(2**31)


class Survey(models.Model):
    """One study: items of one survey type."""

    name = models.CharField(max_length=200)
    slug = models.SlugField(unique=True)
    definition_key = models.CharField("survey type", max_length=64, choices=definition_choices)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    @property
    def definition(self) -> Definition:
        return get_definition(self.definition_key)


class Item(models.Model):
    """The thing looked at: pictures, a question, choices, and the gold answer no browser ever sees.

    `payload`: `question` (str) and `columns`, the row as it was imported, for the raw export.
    `choices`: [{"value", "label"}] sorted by value, so that their order says nothing about the gold answer; empty
    where the definition fixes them.
    """

    survey = models.ForeignKey(Survey, on_delete=models.CASCADE, related_name="items")
    external_id = models.CharField(max_length=255)
    position = models.PositiveIntegerField(help_text="Order of import.")
    source_row = models.PositiveIntegerField(null=True, blank=True, help_text="Row of the batch CSV, from 1.")
    payload = models.JSONField(default=dict)
    choices = models.JSONField(default=list)
    gold = models.CharField(max_length=2000, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["survey_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["survey", "external_id"], name="item_once_per_survey"),
            models.UniqueConstraint(fields=["survey", "position"], name="item_position_once_per_survey"),
        ]

    def __str__(self) -> str:
        return self.external_id

    def choices_for(self, definition: Definition) -> tuple[Choice, ...]:
        """Return the answers to choose from: the definition's where it fixes them, else this item's own."""
        if definition.answer is None:
            return ()
        return definition.answer.choices or tuple(Choice(c["value"], c["label"]) for c in self.choices)


class Picture(models.Model):
    """One picture of an item. `code` is its name in the browser: published file names can hold the gold answer.

    `file` is empty while the picture has not arrived.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="pictures")
    position = models.PositiveIntegerField(default=1)
    name = models.CharField(max_length=500, help_text="File name as the researcher's file gives it.")
    code = models.CharField(max_length=32, unique=True, default=new_code, editable=False)
    file = models.FileField(upload_to="pictures/", blank=True, max_length=255)
    content_type = models.CharField(max_length=32, blank=True)
    width = models.PositiveIntegerField(default=0)
    height = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["item_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["item", "position"], name="picture_position_once_per_item")
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("picture", args=[self.code])


class Output(models.Model):
    """What a system said about an item. `code` is its name in the browser, where systems stay anonymous."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="outputs")
    system = models.SlugField(max_length=64)
    text = models.TextField()
    answer = models.CharField(max_length=2000, blank=True, help_text="The answer this system gave.")
    code = models.CharField(max_length=32, unique=True, default=new_code, editable=False)

    class Meta:
        ordering = ["item_id", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["item", "system"], name="output_once_per_item_and_system")
        ]

    def __str__(self) -> str:
        return f"{self.system} on {self.item}"


def default_review_policy() -> dict[str, object]:
    return {"kind": "minimum_correct", "minimum": 3, "out_of": 5}


class Batch(models.Model):
    """HITs published together, with the definition frozen as they were published."""

    class Status(models.TextChoices):
        DRAFT = "draft", "Draft"
        PUBLISHING = "publishing", "Publishing"
        OPEN = "open", "Open"
        STOPPED = "stopped", "Stopped"
        COMPLETE = "complete", "Complete"

    survey = models.ForeignKey(Survey, on_delete=models.PROTECT, related_name="batches")
    name = models.CharField(max_length=200, unique=True)
    endpoint = models.CharField(max_length=16, choices=Endpoint, default=Endpoint.EMBEDDED)
    title = models.CharField(max_length=128)
    description = models.CharField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    items_per_hit = models.PositiveSmallIntegerField(
        "items per HIT", default=5, validators=[MinValueValidator(1)]
    )
    assignments_per_hit = models.PositiveSmallIntegerField(
        "assignments per HIT", default=5, validators=[MinValueValidator(1)]
    )
    reward = models.DecimalField(
        max_digits=6, decimal_places=2, validators=[MinValueValidator(Decimal("0.01"))]
    )
    assignment_duration = models.DurationField(default=timedelta(hours=1))
    lifetime = models.DurationField(default=timedelta(days=7))
    auto_approval_delay = models.DurationField()
    review_policy = models.JSONField(default=default_review_policy)
    seed = models.PositiveIntegerField(default=new_seed)
    assumed_minutes = models.DecimalField(
        "assumed minutes per assignment", max_digits=6, decimal_places=2, default=8
    )
    snapshot = models.JSONField(null=True, blank=True, editable=False)
    status = models.CharField(max_length=16, choices=Status, default=Status.DRAFT, editable=False)
    hit_type = models.ForeignKey(HITType, null=True, blank=True, editable=False, on_delete=models.PROTECT)
    error = models.TextField(blank=True, editable=False, help_text="Why publishing or syncing stands still.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, editable=False, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True, blank=True, editable=False)
    synced_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["-created_at"]
        verbose_name_plural = "batches"
        permissions = [
            ("publish_batch", "Can publish and stop batches"),
            ("export_raw", "Can download raw results, worker ids included"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(status="draft") | Q(snapshot__isnull=False), name="published_batch_has_snapshot"
            ),
            models.CheckConstraint(condition=Q(items_per_hit__gte=1), name="batch_has_items_per_hit"),
            models.CheckConstraint(
                condition=Q(assignments_per_hit__gte=1), name="batch_has_assignments_per_hit"
            ),
            models.CheckConstraint(condition=Q(reward__gt=0), name="batch_pays"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("batch", args=[self.pk])

    @cached_property
    def definition(self) -> Definition:
        """The definition this batch was published with; before publication, today's."""
        return Definition.from_snapshot(self.snapshot) if self.snapshot else self.survey.definition


class Questionnaire(models.Model):
    """What one HIT shows. `hit` is null until the marketplace has confirmed it.

    A HIT that started below 10 assignments can't grow to 10 (MTurk's 9-to-10 rule); then `sibling_of` tells
    whose items this questionnaire shows again, to people who have not seen them.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="questionnaires")
    position = models.PositiveIntegerField()
    target_assignments = models.PositiveSmallIntegerField(help_text="How many kept assignments it is to get.")
    hit = models.OneToOneField(
        HIT, null=True, blank=True, on_delete=models.PROTECT, related_name="questionnaire"
    )
    sibling_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="siblings"
    )
    items = models.ManyToManyField(Item, through="QuestionnaireItem", related_name="questionnaires")

    class Meta:
        ordering = ["batch_id", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["batch", "position"], name="questionnaire_position_once_per_batch"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.batch} #{self.position}"

    def get_absolute_url(self) -> str:
        return reverse("hit", args=[self.pk])


class QuestionnaireItem(models.Model):
    questionnaire = models.ForeignKey(Questionnaire, on_delete=models.CASCADE, related_name="slots")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="slots")
    position = models.PositiveSmallIntegerField(help_text="From 1.")

    class Meta:
        ordering = ["questionnaire_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["questionnaire", "position"], name="slot_position_once"),
            models.UniqueConstraint(fields=["questionnaire", "item"], name="slot_item_once"),
        ]

    def __str__(self) -> str:
        return f"{self.questionnaire}/{self.position}"


class Response(models.Model):
    """One worker on one item. Written when the item is first shown, with the order it is shown in.

    `shown`: {"outputs": [output id, in the order shown], "choices": [value, in the order shown]}.
    `draft` is the item's form data as last saved; `answer` and the ratings are written at submission, in one
    transaction. `batch` and `worker` repeat the assignment's, so that the database itself refuses to show a
    worker the same item twice in a batch.
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
    active_seconds = models.FloatField(default=0, help_text="Visible and focused, as the page measured.")
    first_shown_at = models.DateTimeField(auto_now_add=True)
    saved_at = models.DateTimeField(null=True, blank=True, help_text="Draft last saved.")

    class Meta:
        ordering = ["assignment_id", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["assignment", "item"], name="response_once_per_assignment_and_item"
            ),
            models.UniqueConstraint(
                fields=["batch", "worker", "item"], name="worker_sees_item_once_per_batch"
            ),
            models.CheckConstraint(condition=Q(active_seconds__gte=0), name="active_seconds_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.assignment} on {self.item}"


class Rating(models.Model):
    """One value a worker gave, as a number.

    A scale is one row; a checklist is one 0/1 row per option (criterion "shortcomings.none"); a preference is
    one 0/1 row per output. `output` is null where the judgement is about the item.
    """

    response = models.ForeignKey(Response, on_delete=models.CASCADE, related_name="ratings")
    output = models.ForeignKey(
        Output, null=True, blank=True, on_delete=models.PROTECT, related_name="ratings"
    )
    criterion = models.CharField(max_length=64)
    value = models.CharField(max_length=255)
    score = models.FloatField()

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


class Decision(models.Model):
    """What we decided about a submitted assignment, by rule or by a person, and why.

    The decision is ours; that the marketplace carried it out is the assignment's status.
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

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(verdict="reject") | ~Q(reason=""), name="rejection_has_reason"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} {self.assignment}"


class Replacement(models.Model):
    """The one assignment that a rejected one buys: more room on a HIT, or a sibling HIT made for it."""

    class OpenedBy(models.TextChoices):
        EXTEND = "extend", "One more assignment on a HIT"
        CREATE = "create", "A sibling HIT"

    rejected = models.OneToOneField(Assignment, on_delete=models.PROTECT, related_name="replacement")
    questionnaire = models.ForeignKey(Questionnaire, on_delete=models.PROTECT, related_name="replacements")
    opened_by = models.CharField(max_length=8, choices=OpenedBy)
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True, help_text="The marketplace has opened the slot.")

    def __str__(self) -> str:
        return f"for {self.rejected}"
