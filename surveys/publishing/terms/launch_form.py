"""A batch on one screen: every field has a sound beginning, and what few people change is folded."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import chain, count
from typing import Any, cast

from django import forms
from django.forms import BoundField

from annotators.models import Endpoint
from surveys.models import Batch, Survey
from surveys.publishing.pricing import quote, reward_for
from surveys.publishing.terms.batch_form import (
    LISTED,
    NEVER,
    TIMES,
    BatchForm,
    DurationWidget,
    default_terms,
    split,
)
from surveys.publishing.terms.policy_form import rows_for

FAIR_WAGE = Decimal(12)  # dollars an hour: what Prolific recommends to pay at least
MINUTES_PER_ITEM = Decimal("1.6")  # until it is measured: eight minutes for five items
AS_LAST_TIME = (
    "endpoint", "takes_links", "items_per_hit", "draws_per_item", "assignments_per_hit", "reward", "assumed_minutes",
    "page_language",
)  # fmt: skip
NAME_MAX = 180  # so that a number fits behind it


@dataclass(frozen=True, slots=True)
class Layout:
    """A part of the screen: the fields one sees, and those folded under `more`."""

    key: str
    title: str
    fields: tuple[str, ...]
    more: str = ""
    folded: tuple[str, ...] = ()
    is_open: bool = True


LAYOUT = (
    Layout("who", "Who", ("endpoint", "takes_links", "only_new_people")),
    Layout(
        "pay",
        "How much",
        (
            "reward",
            "target_wage",
            "assumed_minutes",
            "draws_per_item",
            "assignments_per_hit",
            "items_per_hit",
            "cap_percent",
        ),
        more="Pilot, budget, quiz, items asked twice",
        folded=("pilot_items", "budget", "repeats_per_hit", "uses_quiz"),
    ),
    Layout("rules", "Rules", ("policy_kind",), more="The rules", is_open=False),
    Layout(
        "words",
        "Name, texts and times",
        ("name",),
        more="What workers read, how long they have",
        folded=(*LISTED, *TIMES, "seed"),
        is_open=False,
    ),
)
JUDGING = ("reject_at", "rejects_automatically", "replaces_auto_approved")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the screen with its fields; one with an error is open, so that the error is seen."""

    key: str
    title: str
    fields: list[BoundField]
    more: str
    folded: list[BoundField]
    rows: list[list[BoundField]]
    is_open: bool
    is_unfolded: bool


class LaunchForm(BatchForm):
    """A batch of one study, which is given and not chosen. What is posted with it, as buttons, is none of its own."""

    target_wage = forms.DecimalField(
        label="Wage to aim at",
        required=False,
        min_value=Decimal("0.01"),
        max_digits=6,
        decimal_places=2,
        initial=FAIR_WAGE,
        help_text="US dollars an hour.",
    )

    def __init__(self, data: Any = None, *, survey: Survey, instance: Batch | None = None) -> None:
        initial = {} if instance else first_terms(survey)
        self.survey, self.stored = survey, instance
        super().__init__(data, initial={**initial, "survey": survey}, instance=instance)
        asked = cast("forms.ModelChoiceField[Survey]", self.fields["survey"])
        asked.queryset, asked.disabled = Survey.objects.filter(pk=survey.pk), True
        if not survey.definition.is_drawn:
            del self.fields["draws_per_item"]
        self.shown_rules = rows_for(survey.definition)
        self.fields["cap_percent"].help_text = "Of all assignments. Not for people with a personal link."
        self.fields["policy_kind"].label = "What happens to bad work"

    @property
    def parts(self) -> Iterator[Part]:
        for one in LAYOUT:
            rules = one.key == "rules"
            fields = [self[name] for name in one.fields if name in self.fields]
            folded = [self[name] for name in (JUDGING if rules else one.folded)]
            rows = [[self[name] for name in row] for row in self.shown_rules] if rules else []
            is_unfolded = _has_errors([*folded, *chain.from_iterable(rows)])
            is_open = one.is_open or is_unfolded or _has_errors(fields)
            yield Part(one.key, one.title, fields, one.more, folded, rows, is_open, is_unfolded)

    def with_reward(self) -> "LaunchForm":
        """Return the form with the reward that pays the wage aimed at, by measured minutes where there are any."""
        sent = {name: self.data[name] for name in self.data}
        asked = LaunchForm({**sent, "reward": "0.01"}, survey=self.survey, instance=self.stored)
        if asked.is_valid() and (wage := asked.cleaned_data["target_wage"]):
            sent["reward"] = reward_for(wage, minutes=quote(asked.instance).minutes)
        return LaunchForm(sent, survey=self.survey, instance=self.stored)

    @property
    def sentences(self) -> list[str]:
        """What is wrong, with the name of its field, for where the fields are not in sight."""
        return [
            f"{self.fields[name].label}: {text}" if name in self.fields else str(text)
            for name, texts in self.errors.items()
            for text in texts
        ]


def first_terms(survey: Survey) -> dict[str, Any]:
    """Return what a new batch begins with: the terms of the study's last one of people, else a fair reward.

    Nothing is rejected by a rule until somebody chooses so.
    """
    size = survey.definition.items_per_hit
    minutes = MINUTES_PER_ITEM * size
    last = last_of(survey)
    reward = reward_for(FAIR_WAGE, minutes=minutes)
    known = {name: getattr(last, name) for name in AS_LAST_TIME} if last else {}
    return {
        **default_terms(survey.definition),
        "name": free_name(survey),
        "endpoint": Endpoint.EMBEDDED,
        "reward": reward,
        "assumed_minutes": f"{minutes.normalize():f}",
        "policy_kind": NEVER,
        "auto_approval_delay": timedelta(days=3),
        **known,
        "uses_quiz": begins_with_quiz(survey, last=last),
    }


def begins_with_quiz(survey: Survey, *, last: Batch | None) -> bool:
    """Tell whether a new batch begins with the quiz: as the last one did, if its type had one to choose.

    Whoever wrote a quiz means it to be asked; that of a type which comes with us is theirs to choose.
    """
    if not survey.definition.quiz:
        return False
    return last.uses_quiz if last and last.definition.quiz else survey.protocol_id is not None


def last_of(survey: Survey) -> Batch | None:
    """Return the study's newest batch of people."""
    return survey.batches.filter(is_simulated=False).order_by("-pk").first()


def free_name(survey: Survey) -> str:
    """Return a name no batch has: the study's with the number of its next batch."""
    start = survey.name[:NAME_MAX]
    taken = {*Batch.objects.filter(name__startswith=start).values_list("name", flat=True)}
    numbers = count(survey.batches.count() + 1)
    return next(name for n in numbers if (name := f"{start} {n}") not in taken)


def as_shown(form: LaunchForm) -> LaunchForm:
    """Return the form as if it had been sent untouched."""
    sent: dict[str, Any] = {}
    for field in form:
        name, value, widget = field.html_name, field.value(), field.field.widget
        if isinstance(widget, DurationWidget):
            sent |= dict(zip((f"{name}_number", f"{name}_unit"), split(value), strict=True))
        elif value is not None and value is not False:  # 0 is neither, and equal to one of them
            sent[name] = value
    return LaunchForm(sent, survey=form.survey, instance=form.stored)


def _has_errors(fields: Iterable[BoundField]) -> bool:
    return any(field.errors for field in fields)
