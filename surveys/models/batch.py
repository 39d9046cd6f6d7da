"""What is published together: a batch, its questionnaires, and the items each of them shows."""

import secrets
import uuid
from datetime import timedelta
from decimal import Decimal
from functools import cached_property

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse

from annotators.crowds.base import has_market
from annotators.models import HIT, Endpoint, HITType
from surveys.models.consent import ConsentText
from surveys.models.study import Item, Output, Survey
from surveys.models.unread import Unread, UnreadJSONField
from surveys.protocols.definition import Definition


def new_seed() -> int:
    return secrets.randbelow(2**31)


def create_token(questionnaire: uuid.UUID) -> str:
    """Return the token of the call that creates a questionnaire's HIT. It is the HIT's RequesterAnnotation too."""
    return f"create:{questionnaire}"


def default_review_policy() -> dict[str, object]:
    rule = {"kind": "minimum_correct", "minimum": 3, "out_of": 5, "rejects_alone": True}
    return {"rules": [rule], "reject_at": 2}


class Batch(models.Model):
    """HITs published together, with the definition frozen as they were published."""

    class Status(models.TextChoices):
        DRAFT = "draft", "Draft"
        PUBLISHING = "publishing", "Publishing"
        OPEN = "open", "Open"
        STOPPED = "stopped", "Stopped"
        COMPLETE = "complete", "Complete"

    RUNNING = (Status.PUBLISHING, Status.OPEN)  # takes workers
    UNDER_REVIEW = (*RUNNING, Status.STOPPED)  # may have work to decide on

    survey = models.ForeignKey(Survey, on_delete=models.PROTECT, related_name="batches")
    name = models.CharField(max_length=200, unique=True)
    endpoint = models.CharField(max_length=16, choices=Endpoint, default=Endpoint.EMBEDDED)
    title = models.CharField(max_length=128)
    description = models.CharField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    items_per_hit = models.PositiveSmallIntegerField(
        "items per HIT", default=5, validators=[MinValueValidator(1)]
    )
    repeats_per_hit = models.PositiveSmallIntegerField(
        "items asked twice",
        default=0,
        blank=True,
        help_text="Of each HIT, at most half: again at the page's end.",
    )
    draws_per_item = models.PositiveSmallIntegerField(
        "draws per item",
        default=1,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(1000)],
        help_text="HITs that show an item, each other outputs of it, where its survey type draws them.",
    )
    assignments_per_hit = models.PositiveSmallIntegerField(
        "assignments per HIT", default=5, validators=[MinValueValidator(1)]
    )
    reward = models.DecimalField(max_digits=6, decimal_places=2, validators=[MinValueValidator(Decimal(0))])
    assignment_duration = models.DurationField(default=timedelta(hours=1))
    lifetime = models.DurationField(default=timedelta(days=7))
    auto_approval_delay = models.DurationField()
    review_policy = models.JSONField(default=default_review_policy)
    rejects_automatically = models.BooleanField(
        default=False, help_text="Off: the rule proposes a rejection, and a person decides."
    )
    replaces_auto_approved = models.BooleanField(
        default=True,
        help_text="Work the rule would have rejected, but the marketplace approved first, is left out and replaced.",
    )
    budget = models.DecimalField(
        max_digits=10,
        decimal_places=2,
        null=True,
        blank=True,
        validators=[MinValueValidator(Decimal("0.01"))],
        help_text="US dollars, fees and replacements included, that are never exceeded.",
    )
    takes_links = models.BooleanField(
        "people may come by link",
        default=False,
        help_text="Personal links and panels share one quota with the marketplace.",
    )
    only_new_people = models.BooleanField(
        "only new people",
        default=False,
        db_default=False,
        help_text="Whoever has worked in an earlier batch of this study gets nothing of this one.",
    )
    uses_quiz = models.BooleanField(
        "begins with the quiz", default=False, help_text="Two tries, part of the paid time."
    )
    page_language = models.CharField(
        "language of the pages",
        max_length=16,
        blank=True,
        help_text="Of buttons, hints and messages around the questions. Workers can choose another.",
    )
    is_simulated = models.BooleanField(
        default=False,
        editable=False,
        help_text="Simulated people answer: practice, no result. Nobody is paid, and no marketplace hears of it.",
    )
    pilot_items = models.PositiveIntegerField(
        "items of a pilot",
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text="Show only so many items, drawn by the seed; the rest follows in a batch of its own.",
    )
    follows = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        editable=False,
        on_delete=models.PROTECT,
        related_name="rest",
        help_text="The pilot before it, whose items and people it leaves out.",
    )
    seed = models.PositiveIntegerField(default=new_seed)
    assumed_minutes = models.DecimalField(
        "assumed minutes per assignment",
        max_digits=6,
        decimal_places=2,
        default=8,
        validators=[MinValueValidator(Decimal("0.01"))],
    )
    snapshot = UnreadJSONField(null=True, blank=True, editable=False)
    design = models.JSONField(
        null=True,
        blank=True,
        editable=False,
        help_text="How the HITs were drawn; empty in a batch published in the order of its file.",
    )
    status = models.CharField(max_length=16, choices=Status, default=Status.DRAFT, editable=False)
    hit_type = models.ForeignKey(HITType, null=True, blank=True, editable=False, on_delete=models.PROTECT)
    error = models.TextField(blank=True, editable=False, help_text="Why publishing or syncing stands still.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, editable=False, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True, blank=True, editable=False)

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
                condition=Q(repeats_per_hit__lte=F("items_per_hit") - F("repeats_per_hit")),
                name="batch_repeats_at_most_half",
                violation_error_message="At most half of a HIT's items can be asked twice.",
            ),
            models.CheckConstraint(condition=Q(draws_per_item__gte=1), name="batch_draws_each_item"),
            models.CheckConstraint(
                condition=Q(assignments_per_hit__gte=1), name="batch_has_assignments_per_hit"
            ),
            models.CheckConstraint(
                condition=Q(reward__gt=0) | Q(reward=0, endpoint=Endpoint.LINK), name="batch_pays"
            ),
            models.CheckConstraint(condition=Q(assumed_minutes__gt=0), name="batch_takes_time"),
            models.CheckConstraint(
                condition=Q(is_simulated=False) | Q(endpoint=Endpoint.LINK, reward=0),
                name="simulated_batch_costs_nothing",
            ),
            models.CheckConstraint(
                condition=Q(pilot_items__isnull=True) | Q(pilot_items__gte=1), name="pilot_has_items"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("batch", args=[self.pk])

    @property
    def has_market(self) -> bool:
        """Tell whether its HITs are on a marketplace, beside which people may come by link too."""
        return has_market(self.endpoint)

    @property
    def leaves_people_out(self) -> bool:
        """Tell whether it leaves out people of before: of the pilot that it follows, or of all earlier batches."""
        return bool(self.follows_id) or self.only_new_people

    @cached_property
    def definition(self) -> Definition:
        """The definition this batch was published with; before publication, today's."""
        stored = self.__dict__.get("snapshot")
        if type(stored) is Unread:
            return Definition.from_json(stored)
        return Definition.from_snapshot(self.snapshot) if self.snapshot else self.survey.definition

    @cached_property
    def consent_text(self) -> ConsentText | None:
        """The text that people are asked to agree to, as it is today; None where nobody is asked."""
        if self.is_simulated:
            return None
        last = ConsentText.objects.filter(survey=self.survey_id).order_by("-version").first()
        return last if last and last.text else None


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
    """An item in a questionnaire, and which of its outputs are shown there: all of them where none is named."""

    questionnaire = models.ForeignKey(Questionnaire, on_delete=models.CASCADE, related_name="slots")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="slots")
    position = models.PositiveSmallIntegerField(help_text="From 1.")
    outputs = models.ManyToManyField(Output, through="SlotOutput", related_name="slots")

    class Meta:
        ordering = ["questionnaire_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["questionnaire", "position"], name="slot_position_once"),
            models.UniqueConstraint(fields=["questionnaire", "item"], name="slot_item_once"),
        ]

    def __str__(self) -> str:
        return f"{self.questionnaire}/{self.position}"

    @property
    def shown_outputs(self) -> list[Output]:
        """Return the outputs that are shown, in the order of import. No query where both lists are prefetched.

        A type that draws none has no list of its own.
        """
        is_drawn = self.questionnaire.batch.definition.is_drawn
        drawn = {output.pk for output in self.outputs.all()} if is_drawn else set()
        return [output for output in self.item.outputs.all() if not drawn or output.pk in drawn]


class SlotOutput(models.Model):
    """An output that was drawn to be shown with its item. The database takes none of another item."""

    slot = models.ForeignKey(QuestionnaireItem, on_delete=models.CASCADE, related_name="drawn")
    output = models.ForeignKey(Output, on_delete=models.PROTECT, related_name="drawn")

    class Meta:
        ordering = ["slot_id", "output_id"]
        constraints = [
            models.UniqueConstraint(fields=["slot", "output"], name="slot_output_once"),
        ]

    def __str__(self) -> str:
        return f"{self.output} in {self.slot}"
