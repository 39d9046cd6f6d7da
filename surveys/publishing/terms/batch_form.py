"""What a researcher decides before a batch is published."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings

from annotators.crowds.base import has_market
from annotators.models import Endpoint
from surveys.models import Batch, Survey
from surveys.protocols.definition import Definition
from surveys.protocols.policy import NEVER as NEVER_REJECT
from surveys.protocols.policy import in_words, judges, parse, rule_data
from surveys.protocols.rules import PolicyError
from surveys.publishing.terms.languages import page_languages
from surveys.publishing.terms.policy_form import SHOWN, PolicyFields, initial_of, rows_for, with_cap

if TYPE_CHECKING:
    BatchModelForm = forms.ModelForm[Batch]
else:
    BatchModelForm = forms.ModelForm

UNITS = {
    "minutes": timedelta(minutes=1),
    "hours": timedelta(hours=1),
    "days": timedelta(days=1),
}


def duration_in_words(duration: timedelta) -> str:
    """Return `duration` in the largest unit that divides it, for example "36 hours"."""
    number, unit = split(duration)
    return f"{number.normalize():f} {unit if number != 1 else unit[:-1]}"


def split(duration: timedelta) -> tuple[Decimal, str]:
    """Return (number, unit) in the largest unit that holds a whole number, else in minutes with decimals."""
    for unit, one in reversed(UNITS.items()):
        if duration and not duration % one:
            return Decimal(duration // one), unit
    return round(Decimal(duration.total_seconds()) / 60, 2), "minutes"


class DurationWidget(forms.MultiWidget):
    """A number field and a menu of units side by side."""

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        number = forms.NumberInput(attrs={"min": 0, "step": "any", "class": "duration-number"})
        unit = forms.Select(choices=[(unit, unit) for unit in UNITS], attrs={"class": "duration-unit"})
        super().__init__({"number": number, "unit": unit}, attrs)

    def decompress(self, value: timedelta | None) -> list[Any]:
        return list(split(value)) if value is not None else [None, "hours"]

    def id_for_label(self, id_: str) -> str:
        return f"{id_}_0" if id_ else id_

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        unit = context["widget"]["subwidgets"][1]
        unit["attrs"]["aria-label"] = f"Unit of {name.replace('_', ' ')}"
        return context


class DurationField(forms.MultiValueField):
    """Cleans to a timedelta between `shortest` and `longest`, both allowed."""

    widget = DurationWidget

    def __init__(self, *, shortest: timedelta, longest: timedelta, **kwargs: Any) -> None:
        self.shortest, self.longest = shortest, longest
        number = forms.DecimalField(min_value=0, max_digits=12)
        unit = forms.ChoiceField(choices=[(unit, unit) for unit in UNITS])
        super().__init__((number, unit), **kwargs)

    def compress(self, data_list: Sequence[Any]) -> timedelta | None:
        if not data_list:
            return None
        number, unit = data_list
        try:
            return timedelta(seconds=round(float(number) * UNITS[unit].total_seconds()))
        except OverflowError:
            return timedelta.max

    def validate(self, value: timedelta | None) -> None:
        super().validate(value)
        if value is not None and value < self.shortest:
            raise forms.ValidationError(f"At least {duration_in_words(self.shortest)}.", code="too_short")
        if value is not None and value > self.longest:
            raise forms.ValidationError(f"At most {duration_in_words(self.longest)}.", code="too_long")


ENDPOINTS = {
    Endpoint.EMBEDDED: "Embedded marketplace: the worker site of this server. No real money.",
    Endpoint.SANDBOX: "MTurk sandbox: Amazon's site for trying out. No real money.",
    Endpoint.PRODUCTION: "MTurk production: real people, real money.",
    Endpoint.LINK: "No marketplace: people come by personal links, or from a panel.",
}
# Source: the notice above AWS's API reference and developer guide of MTurk.
MTURK_CLOSED = (
    "Amazon closed Mechanical Turk on 30 September 2026. Its sandbox and production are for whoever still has an "
    "endpoint that answers as MTurk did."
)
OF_TYPE, OWN, NEVER = "of_type", "own", "never"
POLICIES = {
    OF_TYPE: "As the survey type asks for; never, where no answer is right or wrong",
    NEVER: "Never reject: everybody who submits is paid",
    OWN: "By the rules below",
}

# What is decided about a batch, by sections: of a draft's form, of its page, and of the page of a published batch.
STUDY = ("survey", "name", "endpoint", "takes_links", "only_new_people")
LISTED = ("title", "description", "keywords", "page_language")
TERMS = (
    "items_per_hit", "repeats_per_hit", "draws_per_item", "assignments_per_hit", "reward", "assumed_minutes",
    "pilot_items", "budget", "uses_quiz",
)  # fmt: skip
TIMES = ("assignment_duration", "lifetime", "auto_approval_delay")
REVIEW = ("policy_kind", "cap_percent", "rejects_automatically", "replaces_auto_approved")
CHANCE = ("seed",)
FIELDS = (*STUDY, *LISTED, *TERMS, *TIMES, *REVIEW, *CHANCE)
OF_POLICY = ("policy_kind", "cap_percent")  # together they are the review policy
STILL_OPEN = ("name", "assumed_minutes")
IN_WORDS = {
    "assignment_duration": "time_allowed",
    "lifetime": "findable_for",
    "auto_approval_delay": "approved_after",
    "policy_kind": "review",
}
FROZEN = (
    *(IN_WORDS.get(name, name) for name in FIELDS if name not in (*STILL_OPEN, "cap_percent")),
    "status",
    "published_at",
)

# MTurk's limits: AssignmentDuration and Lifetime 30 s to 365 days, AutoApprovalDelay at most 30 days.
SHORTEST, LONGEST = timedelta(seconds=30), timedelta(days=365)
LONGEST_AUTO_APPROVAL = timedelta(days=30)


def shortest_auto_approval() -> timedelta:
    """Two syncs must fit in, else nobody could decide before the marketplace does."""
    return timedelta(seconds=2 * settings.SYNC_EVERY_SECONDS)


def default_terms(definition: Definition) -> dict[str, Any]:
    """Return what an untouched batch of this survey type shows to workers and how much of it at once."""
    output = definition.output_label.replace("{n}", "").strip()
    question = definition.question_label.split(" ")[0]
    words = (question, output, "picture", "rating")
    return {
        "title": definition.title,
        "description": definition.instructions.summary,
        "keywords": ", ".join(dict.fromkeys(word.lower() for word in words if word)),
        "items_per_hit": definition.items_per_hit,
    }


def approved_after(batch: Batch) -> str:
    """Return after how long work is approved by itself, which only a marketplace does."""
    if not batch.has_market:
        return "never: what waits for a person waits"
    after = duration_in_words(batch.auto_approval_delay)
    return f"{after}; what comes by link never" if batch.takes_links else after


def quiz_in_words(definition: Definition) -> str:
    """Say whether a survey type has a quiz."""
    n = len(definition.quiz)
    if not n:
        return "This survey type has none."
    return f"That of this survey type has {n} question{'' if n == 1 else 's'}."


def is_paying(batch: Batch) -> bool:
    """Tell whether publishing the batch costs real money."""
    return bool(settings.MTURK_ENDPOINTS.get(batch.endpoint, {}).get("is_paying"))


def policy_in_words(policy: dict[str, Any]) -> str:
    """Return a review policy as a researcher reads it; of what is none, what is wrong with it."""
    try:
        return in_words(parse(policy))
    except PolicyError as error:
        return str(error)


class BatchForm(PolicyFields, BatchModelForm):
    """A draft: everything may still change. What is left empty follows the survey type."""

    endpoint = forms.ChoiceField(
        label="Where the HITs go",
        choices=list(ENDPOINTS.items()),
        widget=forms.RadioSelect,
        help_text=MTURK_CLOSED,
    )
    title = forms.CharField(
        max_length=128, required=False, widget=forms.TextInput(attrs={"class": "vLargeTextField"})
    )
    description = forms.CharField(
        max_length=2000, required=False, widget=forms.Textarea(attrs={"rows": 2, "class": "vLargeTextField"})
    )
    page_language = forms.ChoiceField(label="Language of the pages", choices=page_languages, required=False)
    items_per_hit = forms.IntegerField(label="Items per HIT", required=False, min_value=1, max_value=100)
    assignment_duration = DurationField(
        label="Time for one assignment",
        initial=timedelta(hours=1),
        shortest=SHORTEST,
        longest=LONGEST,
        help_text="From accepting a HIT to submitting it. Be generous: on a marketplace late work is lost. By link it "
        "is kept and counts, but its place may have gone to somebody else.",
    )
    lifetime = DurationField(
        label="HITs can be found for", initial=timedelta(days=7), shortest=SHORTEST, longest=LONGEST
    )
    policy_kind = forms.ChoiceField(
        label="Review", choices=list(POLICIES.items()), widget=forms.RadioSelect, initial=OF_TYPE
    )

    class Meta:
        model = Batch
        fields = [name for name in FIELDS if name not in OF_POLICY]
        labels = {
            "rejects_automatically": "Reject automatically",
            "replaces_auto_approved": "Replace what the marketplace approved before we decided",
        }
        widgets = {
            name: forms.NumberInput(attrs={"step": "0.01", "min": "0"}) for name in ("reward", "budget")
        }
        help_texts = {
            "name": "For yourself; workers never see it.",
            "keywords": "Separated by commas.",
            "takes_links": "Beside the marketplace: personal links and panels fill the same quota.",
            "only_new_people": f"{Batch._meta.get_field('only_new_people').help_text} By personal link people are "
            "known by their e-mail address or worker id alone.",
            "repeats_per_hit": "Of each HIT, at most half: the first items of each person’s page come again at its "
            "end. The first answer counts; both together say how far people agree with themselves.",
            "draws_per_item": "Where the survey type draws outputs: how many HITs show an item, each other outputs of "
            "it, to other people.",
            "reward": "US dollars for one assignment. It may be 0 where there is no marketplace.",
            "assumed_minutes": "Until a pilot has measured it. Used for the hourly wage.",
            "page_language": Batch._meta.get_field("page_language").help_text,
            "seed": "Draws the order and the side everything is shown on.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["auto_approval_delay"] = DurationField(
            label="Approved automatically after",
            shortest=shortest_auto_approval(),
            longest=LONGEST_AUTO_APPROVAL,
            help_text="Counted from submission. Then the marketplace pays, and nothing can be rejected any more. "
            "What comes by link is never approved by itself.",
        )
        for name in ("title", "description", "keywords", "items_per_hit"):
            self.fields[name].help_text = "Empty: as the survey type has it."
        survey = self.instance.survey if self.instance.pk else self.initial.get("survey")
        if isinstance(survey, Survey):
            self.fields["uses_quiz"].help_text += f" {quiz_in_words(survey.definition)}"
        if self.instance.pk:
            policy = self.instance.review_policy
            self.initial.update({"policy_kind": OWN if judges(policy) else NEVER, **initial_of(policy)})

    def _check_draws(self, data: dict[str, Any], definition: Definition) -> None:
        data["draws_per_item"] = data.get("draws_per_item") or 1
        if data["draws_per_item"] > 1 and not definition.is_drawn:
            self.add_error("draws_per_item", "This survey type draws no outputs, so each item is in one HIT.")

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        survey: Survey | None = data.get("survey")
        if data.get("reward") == 0 and has_market(data.get("endpoint", Endpoint.EMBEDDED)):
            self.add_error("reward", "A marketplace pays for every assignment: at least $0.01.")
        if survey is None:
            return data
        self._fill_in(data, defaults=default_terms(survey.definition))
        data["repeats_per_hit"] = data.get("repeats_per_hit") or 0
        if "draws_per_item" in self.fields:  # the launch page asks only where outputs are drawn
            self._check_draws(data, survey.definition)
        if data["repeats_per_hit"] * 2 > (data.get("items_per_hit") or 0):
            self.add_error("repeats_per_hit", "At most half of a HIT’s items can be asked twice.")
        if data.get("uses_quiz") and not survey.definition.quiz:
            self.add_error("uses_quiz", "This survey type has no quiz.")
        if data.get("items_per_hit"):
            self._check_policy(data, survey.definition)
            self.instance.review_policy = self._policy(data, survey.definition)
        return data

    def _fill_in(self, data: dict[str, Any], *, defaults: dict[str, Any]) -> None:
        for name, default in defaults.items():
            if name not in self.errors and not data.get(name):
                data[name] = default

    def _policy(self, data: dict[str, Any], definition: Definition) -> dict[str, Any]:
        kind, percent = data.get("policy_kind"), data.get("cap_percent")
        if kind == OWN:
            before = self.instance.review_policy if self.instance.pk else {}
            return self.rules(data, items_per_hit=data["items_per_hit"], before=before)
        return with_cap(definition.review_policy if kind == OF_TYPE else NEVER_REJECT, percent=percent)

    def _check_policy(self, data: dict[str, Any], definition: Definition) -> None:
        if data.get("policy_kind") == OF_TYPE:
            self._check_of_type(data, definition)
        elif data.get("policy_kind") == OWN:
            self._check_own(data, definition)

    def _check_of_type(self, data: dict[str, Any], definition: Definition) -> None:
        rule = rule_data(definition.review_policy, "minimum_correct")
        counted = rule.get("out_of", data["items_per_hit"])
        if counted != data["items_per_hit"]:
            words = policy_in_words(definition.review_policy)
            self.add_error(
                "policy_kind",
                f"The survey type’s rule is for HITs of {counted} items; choose one yourself. It says: {words}",
            )

    def _check_own(self, data: dict[str, Any], definition: Definition) -> None:
        switched_on = [one for one in SHOWN if data.get(one.switch)]
        if not switched_on:
            self.add_error("policy_kind", "Switch on one of the rules below, or choose never to reject.")
        for one in switched_on:
            if one.rule.needs_gold and definition.answer is None:
                self.add_error(
                    one.switch, "This survey type asks for no answer that could be right or wrong."
                )
        needed, items_per_hit = data.get("minimum_correct_minimum"), data["items_per_hit"]
        if data.get("rule_minimum_correct") and needed and needed > items_per_hit:
            self.add_error("minimum_correct_minimum", f"Nobody can have {needed} of {items_per_hit} right.")


def write_draft(batch: Batch, *, form: "forms.ModelForm[Batch]") -> bool:
    """Write the form's fields into a draft that is stored. False if its status has moved on since it was read."""
    stored = {field.name for field in Batch._meta.fields}
    values = {name: getattr(batch, name) for name in stored & {*form.cleaned_data, "review_policy"}}
    return Batch.objects.filter(pk=batch.pk, status=batch.status).update(**values) == 1


class PublishedBatchForm(BatchModelForm):
    """What may still change once workers have seen a batch."""

    class Meta:
        model = Batch
        fields = list(STILL_OPEN)


class PublishForm(forms.Form):
    """Confirms publishing; where money is real, the batch's name must be typed."""

    confirmation = forms.CharField(
        label="Type the batch's name to publish it",
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, batch: Batch, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.batch = batch
        self.is_paying = is_paying(batch)
        if self.is_paying:
            self.fields["confirmation"].required = True
        else:
            del self.fields["confirmation"]

    def clean_confirmation(self) -> str:
        typed: str = self.cleaned_data["confirmation"]
        if typed != self.batch.name:
            raise forms.ValidationError("That is not the batch's name.", code="other_name")
        return typed


PUBLISHED_FIELDSETS = (
    (None, {"fields": list(STILL_OPEN)}),
    ("As published", {"fields": list(FROZEN)}),
)
REVIEW_NOTE = (
    "Rules notice; a person decides. Workers read the rules before they begin. On an open batch they can be tried "
    "out on what came in, and changed, on the page “Review policy”."
)
RULES_NOTE = (
    "For “By the rules below”. Any one asks for a person to look; several together propose a rejection."
)


def draft_fieldsets(definition: Definition | None) -> tuple[tuple[str | None, dict[str, Any]], ...]:
    """Return the fieldsets of a draft, with the rules that make sense for the survey type, if it is known."""
    return (
        (None, {"fields": STUDY}),
        ("What workers get", {"fields": TERMS}),
        ("Time", {"fields": TIMES, "classes": ["collapse"]}),
        ("Review", {"fields": REVIEW, "description": REVIEW_NOTE, "classes": ["collapse"]}),
        (
            "Rules",
            {
                "fields": [*rows_for(definition), "reject_at"],
                "description": RULES_NOTE,
                "classes": ["collapse"],
            },
        ),
        ("What workers read in the list of HITs", {"fields": LISTED, "classes": ["collapse"]}),
        ("Chance", {"fields": CHANCE, "classes": ["collapse"]}),
    )
