"""What a study is made of: a survey, its items, their pictures, and what systems said about them."""

import secrets
from dataclasses import replace
from functools import lru_cache

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.urls import reverse
from django.utils.functional import cached_property

from surveys.protocols.criteria import Choice
from surveys.protocols.definition import Definition
from surveys.protocols.documents import read
from surveys.protocols.registry import DEFINITIONS, get_definition

COPY_WIDTHS = (
    1600,
    960,
    480,
)  # pixels: a large screen, a small one or half a large one, a phone of before 2015
WIDEST_COPY = max(COPY_WIDTHS)


def definition_choices() -> list[tuple[str, str]]:
    """Return the built-in types by key; the first migration refers to it."""
    return [(definition.key, definition.name) for definition in DEFINITIONS.values()]


def new_code() -> str:
    """Return an opaque name that tells a browser nothing about what it stands for."""
    return secrets.token_hex(8)


class Protocol(models.Model):
    """One version of a survey type that somebody here wrote: its document, as it came. Never changed, only followed.

    `teams` has who sees it. What a batch was published with is in the batch.
    """

    key = models.CharField("short name", max_length=64)
    version = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    document = models.TextField(help_text="YAML, as docs/protocol-files.md says.")
    is_shared = models.BooleanField("shared", default=False)
    team = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="protocols")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["key", "-version"]
        constraints = [
            models.UniqueConstraint(fields=["key", "version"], name="protocol_version_once"),
        ]

    def __str__(self) -> str:
        return f"{self.key} {self.version}"

    @property
    def definition(self) -> Definition:
        """Return the type it describes; files among its pictures are called as in the browser."""
        definition = _read(self.document, str(self))
        if not definition.instructions.picture_files:
            return definition
        codes = dict(self.pictures.values_list("name", "code"))
        return replace(definition, instructions=definition.instructions.with_files(codes))


@lru_cache(maxsize=64)
def _read(document: str, name: str) -> Definition:
    return read(document, name=name)


class ProtocolPicture(models.Model):
    """A picture that came with a document. `code`, its name in the browser, is made of what is shown.

    `original` are the bytes as they came, where `data`, which is shown, had to be written anew without metadata.
    """

    protocol = models.ForeignKey(Protocol, on_delete=models.CASCADE, related_name="pictures")
    name = models.CharField(max_length=200, help_text="As the document names it.")
    code = models.CharField(max_length=80, db_index=True)
    content_type = models.CharField(max_length=32)
    data = models.BinaryField()
    original = models.BinaryField(default=bytes)

    class Meta:
        ordering = ["protocol_id", "name"]
        constraints = [
            models.UniqueConstraint(fields=["protocol", "name"], name="picture_once_per_protocol"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def content(self) -> bytes:
        """Return the bytes as they came."""
        return bytes(self.original) or bytes(self.data)


class Survey(models.Model):
    """One study: items of one survey type. `teams` has who sees it.

    `protocol` is the type where it is not built in; `definition_key` is its key then. `columns` are what
    those of imported files meant, the last first: {"header": their names, "roles": {ours: theirs}}.
    """

    name = models.CharField(max_length=200)
    slug = models.SlugField("short name", unique=True)
    definition_key = models.CharField("survey type", max_length=64)
    protocol = models.ForeignKey(
        Protocol, null=True, blank=True, on_delete=models.PROTECT, related_name="surveys", editable=False
    )
    is_shared = models.BooleanField(
        "shared",
        default=False,
        help_text="Everybody with a role here sees it and works on it, as far as their role goes.",
    )
    team = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        blank=True,
        related_name="surveys",
        help_text="Who sees it and works on it if it is not shared. Superusers see everything.",
    )
    columns = models.JSONField(default=list, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    @property
    def definition(self) -> Definition:
        """Its survey type as it is today, or was when last published with, where it is not installed any more.

        MissingTypeError where nothing of it is known, which `has_type` tells.
        """
        return self._type or get_definition(self.definition_key)

    @property
    def has_type(self) -> bool:
        return self._type is not None

    @property
    def type_name(self) -> str:
        return self._type.name if self._type else f"{self.definition_key} (not installed)"

    @property
    def _type(self) -> Definition | None:
        if self.protocol:
            return self.protocol.definition
        return DEFINITIONS.get(self.definition_key) or self._last_published

    @cached_property
    def _last_published(self) -> Definition | None:
        if not self.pk:
            return None
        published = self.batches.filter(snapshot__isnull=False).order_by("-published_at", "-pk")
        snapshot = published.values_list("snapshot", flat=True).first()
        return Definition.from_json(snapshot) if snapshot else None


class TaskAccuracy(models.Model):
    """How often a system's own answers are right on the whole test set, as somebody read it elsewhere: e-ViL's S_T.

    Rows are only added; the newest of a survey and system counts. A share, from 0 to 1.
    """

    survey = models.ForeignKey(Survey, on_delete=models.CASCADE, related_name="accuracies")
    system = models.SlugField(max_length=64, help_text="As in the import: the model, not the reference.")
    accuracy = models.DecimalField(
        "share of right answers",
        max_digits=7,
        decimal_places=6,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text="Of the whole test set, from 0 to 1.",
    )
    source = models.CharField(
        max_length=500, help_text="Where the number is from: a table, a file, a commit."
    )
    entered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    entered_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name = "accuracy on the whole test set"
        verbose_name_plural = "accuracies on the whole test set"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(accuracy__gte=0, accuracy__lte=1), name="task_accuracy_is_a_share"
            ),
            models.CheckConstraint(condition=~models.Q(source=""), name="task_accuracy_has_a_source"),
        ]

    def __str__(self) -> str:
        return f"{self.accuracy} of {self.system}"

    def clean(self) -> None:
        """Refuse a system that the survey has no outputs of, and the reference, which answers nothing."""
        if not self.survey_id:
            return
        reference = self.survey.definition.reference_system
        outputs = Output.objects.filter(item__survey=self.survey_id).exclude(system=reference)
        systems = sorted(outputs.order_by().values_list("system", flat=True).distinct())
        if self.system not in systems:
            raise ValidationError({"system": f"There are outputs of {', '.join(systems) or 'no model'}."})


class Item(models.Model):
    """The thing looked at: pictures, a question, choices, and the gold answer no browser ever sees.

    `subject` is what the item is about, as the researcher calls it: where each system's output is an item of its own
    (XAI, VTT), they share it, and results are paired by it. `references` are texts to measure outputs against.
    `payload`: `question` (str) and `columns`, the row as it was imported, for the raw export; in a planted check also
    `check` (str), what passes it.
    `choices`: [{"value", "label"}] sorted by value, so that their order says nothing about the gold answer; empty
    where the definition fixes them.
    """

    survey = models.ForeignKey(Survey, on_delete=models.CASCADE, related_name="items")
    external_id = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)
    position = models.PositiveIntegerField(help_text="Order of import.")
    source_row = models.PositiveIntegerField(null=True, blank=True, help_text="Row of the batch CSV, from 1.")
    payload = models.JSONField(default=dict)
    choices = models.JSONField(default=list)
    gold = models.CharField(max_length=2000, blank=True)
    references = models.JSONField(default=list, blank=True)
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


@lru_cache(4096)
def _picture_address(code: str) -> str:
    """Return where a picture is: each of its HIT's pages asks again."""
    return reverse("picture", args=[code])


class Picture(models.Model):
    """One picture of an item, or the audio or video that a block of its protocol shows.

    `code` is its name in the browser: published file names can hold the gold answer. `file` is empty while it has not
    arrived. `block` is the column of the block that shows it, empty for the item's own; of an output that is a
    file, a colon and its system. `widths` are those of its
    smaller copies, beside `file`; NULL while nobody has looked whether it needs any.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="pictures")
    position = models.PositiveIntegerField(default=1)
    name = models.CharField(max_length=500, help_text="File name as the researcher's file gives it.")
    code = models.CharField(max_length=32, unique=True, default=new_code, editable=False)
    file = models.FileField(upload_to="pictures/", blank=True, max_length=255)
    content_type = models.CharField(max_length=32, blank=True)
    width = models.PositiveIntegerField(default=0)
    height = models.PositiveIntegerField(default=0)
    block = models.CharField(max_length=72, blank=True, default="", editable=False)
    widths = models.JSONField(null=True, editable=False)

    class Meta:
        ordering = ["item_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["item", "position"], name="picture_position_once_per_item")
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return _picture_address(self.code)

    @property
    def is_there(self) -> bool:
        """Tell whether it has arrived and its file is still where it was put."""
        return bool(self.file.name) and self.file.storage.exists(str(self.file.name))

    def copy_name(self, width: int) -> str:
        """Return where a smaller copy of this width lies; pictures of the same bytes share it."""
        return f"{self.file.name}.{width}.webp"

    @property
    def srcset(self) -> str:
        """Return what a browser chooses from, in the form of the attribute of this name; empty where there is one size.

        A picture of which there is the widest copy is not among them itself: it is for whoever enlarges it.
        """
        widths: list[int] = self.widths or []
        if not self.file or not widths:
            return ""
        sizes = [(reverse("picture_copy", args=[self.code, width]), width) for width in sorted(widths)]
        if WIDEST_COPY not in widths:
            sizes.append((self.get_absolute_url(), self.width))
        return ", ".join(f"{address} {width}w" for address, width in sizes)

    @property
    def kind(self) -> str:
        """Return what has arrived: picture, audio or video."""
        family = self.content_type.partition("/")[0]
        return family if family in ("audio", "video") else "picture"


class Output(models.Model):
    """What a system said about an item. `code` is its name in the browser, where systems stay anonymous.

    In a sequence, `text` has one line per transformation. `model_correct` says whether what the system decided
    (its label, its answer) is right; annotators never see it, results are told apart by it.
    """

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="outputs")
    system = models.SlugField(max_length=64)
    text = models.TextField()
    answer = models.CharField(max_length=2000, blank=True, help_text="The answer this system gave.")
    model_correct = models.BooleanField(null=True, blank=True)
    code = models.CharField(max_length=32, unique=True, default=new_code, editable=False)

    class Meta:
        ordering = ["item_id", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["item", "system"], name="output_once_per_item_and_system")
        ]

    def __str__(self) -> str:
        return f"{self.system} on {self.item}"


class MetricScore(models.Model):
    """One metric of one output. `value` is empty where the metric has no score for this text.

    `version` names the metric's version, profile and thesaurus; `fingerprint` is of the texts that were compared.
    While both are what they would be today, nothing is scored again.
    """

    output = models.ForeignKey(Output, on_delete=models.CASCADE, related_name="metric_scores")
    metric = models.CharField(max_length=64)
    value = models.FloatField(null=True)
    version = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    scored_at = models.DateTimeField()

    class Meta:
        ordering = ["output_id", "metric"]
        constraints = [models.UniqueConstraint(fields=["output", "metric"], name="metric_once_per_output")]

    def __str__(self) -> str:
        return f"{self.metric} of {self.output}"
