"""The rules of a review policy as fields: each on or off, with the one number that matters."""

from dataclasses import dataclass
from typing import Any

from django import forms

from annotators.outbox.market import FEEDBACK_MAX
from surveys.models import Batch
from surveys.protocols.definition import Definition
from surveys.protocols.policy import parse, read_policy, rule_data
from surveys.protocols.rules import (
    Agreement,
    DifficultyAdjusted,
    MinimumCorrect,
    PlantedChecks,
    PolicyError,
    Rule,
    StraightLining,
    TooFast,
)

ALONE = "alone"
Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shown:
    """A rule on a form: its checkbox, and the parameter beside it. `factor`: shown as 2.5, stored as -2.5."""

    rule: type[Rule]
    parameter: str
    factor: float = 1

    @property
    def switch(self) -> str:
        return f"rule_{self.rule.kind}"

    @property
    def number(self) -> str:
        return f"{self.rule.kind}_{self.parameter}"


SHOWN = (
    Shown(MinimumCorrect, "minimum"),
    Shown(DifficultyAdjusted, "below", factor=-1),
    Shown(TooFast, "divisor"),
    Shown(StraightLining, "at_least"),
    Shown(Agreement, "below"),
    Shown(PlantedChecks, "failed"),
)
ROWS: tuple[tuple[str, ...], ...] = tuple(
    (one.switch, one.number, *((ALONE,) if one.rule is MinimumCorrect else ())) for one in SHOWN
)


def _switch(rule: type[Rule], help_text: str) -> forms.BooleanField:
    return forms.BooleanField(label=rule.label, required=False, help_text=help_text)


class PolicyFields(forms.Form):
    """The rules, how many of them propose a rejection, and the largest share of one worker."""

    rule_minimum_correct = _switch(MinimumCorrect, "Fewer right answers in one assignment than this.")
    minimum_correct_minimum = forms.IntegerField(
        label="Right answers needed", required=False, min_value=1, initial=3
    )
    alone = forms.BooleanField(
        label="Enough by itself", required=False, initial=True, help_text="As in OFA-X’s study."
    )
    rule_difficulty_adjusted = _switch(
        DifficultyAdjusted, "Over all of a worker’s HITs here, from 10 answers on; hard items count for less."
    )
    difficulty_adjusted_below = forms.FloatField(
        label="Standard deviations below", required=False, min_value=0.1, initial=2.5
    )
    rule_too_fast = _switch(
        TooFast, "Less active time than reading takes, or than the median divided by this."
    )
    too_fast_divisor = forms.FloatField(label="Median divided by", required=False, min_value=1.1, initial=3)
    rule_straight_lining = _switch(StraightLining, "Never enough by itself: good outputs deserve it.")
    straight_lining_at_least = forms.IntegerField(
        label="With so many ratings or more", required=False, min_value=2, initial=8
    )
    rule_agreement = _switch(
        Agreement, "Over all of a worker’s HITs here, from 10 outputs on that others rated too."
    )
    agreement_below = forms.FloatField(
        label="Correlation below", required=False, min_value=-1, max_value=0.9, initial=0.1
    )
    rule_planted_checks = _switch(PlantedChecks, "Items with a column “check” in the import.")
    planted_checks_failed = forms.IntegerField(label="Failed checks", required=False, min_value=1, initial=2)
    reject_at = forms.IntegerField(
        label="Rules that together propose a rejection",
        required=False,
        min_value=2,
        initial=2,
        help_text="Any one asks for a person. Empty: never more than that.",
    )
    cap_percent = forms.IntegerField(
        label="One worker may do at most (%)",
        required=False,
        min_value=1,
        max_value=100,
        initial=10,
        help_text="Of the batch’s assignments. Not for people with a personal link. Empty: as many as they like.",
    )

    def rules(self, data: Data, *, items_per_hit: int, before: Data) -> Data:
        """Return the policy the fields say; errors stand beside the rule. Parameters without a field stay as before."""
        rules = []
        for one in SHOWN:
            if data.get(one.switch) and one.switch not in self.errors and one.number not in self.errors:
                rules.append(self._rule(one, data, items_per_hit=items_per_hit, before=before))
        return with_cap({"rules": rules, "reject_at": data.get("reject_at")}, percent=data.get("cap_percent"))

    def _rule(self, one: Shown, data: Data, *, items_per_hit: int, before: Data) -> Data:
        rule = {**rule_data(before, one.rule.kind), "kind": one.rule.kind}
        given = data.get(one.number)
        if given is not None:
            rule[one.parameter] = given * one.factor
        if one.rule is MinimumCorrect:
            rule |= {"out_of": items_per_hit, "rejects_alone": bool(data.get(ALONE))}
        try:
            parse({"rules": [rule], "reject_at": None})
        except PolicyError as error:
            self.add_error(one.number, str(error))
        return rule


def with_cap(policy: Data, *, percent: int | None) -> Data:
    """Return the policy with this largest share of one worker, or with none."""
    rules = [rule for rule in policy["rules"] if rule["kind"] != "worker_cap"]
    if percent:
        rules.append({"kind": "worker_cap", "share": percent / 100})
    return {**policy, "rules": rules}


def initial_of(policy: Data) -> Data:
    """Return what the fields say for a stored policy."""
    initial: Data = {"reject_at": policy.get("reject_at"), "cap_percent": None}
    for one in SHOWN:
        rule = rule_data(policy, one.rule.kind)
        initial[one.switch] = bool(rule)
        if one.parameter in rule:
            initial[one.number] = rule[one.parameter] * one.factor
    if rule := rule_data(policy, MinimumCorrect.kind):
        initial[ALONE] = bool(rule.get("rejects_alone"))
    if rule := rule_data(policy, "worker_cap"):
        initial["cap_percent"] = round(100 * rule.get("share", 0.1))
    return initial


def rows_for(definition: Definition | None) -> tuple[tuple[str, ...], ...]:
    """Return the rows of fields that make sense for a survey type; all while it is not known."""
    if definition is None or definition.answer is not None:
        return ROWS
    return tuple(row for row, one in zip(ROWS, SHOWN, strict=True) if not one.rule.needs_gold)


class PolicyForm(PolicyFields):
    """The policy of a batch that runs, to try out. `policy` is what its fields say."""

    rejects_automatically = forms.BooleanField(
        label="Reject automatically",
        required=False,
        help_text="Off: a rejection is only proposed, and a person decides.",
    )

    def __init__(self, data: Any = None, *, batch: Batch) -> None:
        initial = {**initial_of(batch.review_policy), "rejects_automatically": batch.rejects_automatically}
        super().__init__(data, initial=initial)
        self.batch, self.policy = batch, batch.review_policy
        self.shown = rows_for(batch.definition)
        for name in {name for row in ROWS for name in row} - {name for row in self.shown for name in row}:
            del self.fields[name]

    @property
    def rows(self) -> list[list[forms.BoundField]]:
        """The fields of each rule: its checkbox, its number."""
        return [[self[name] for name in row] for row in self.shown]

    def clean(self) -> Data:
        data = super().clean() or self.cleaned_data
        before, items_per_hit = self.batch.review_policy, self.batch.items_per_hit
        self.policy = self.rules(data, items_per_hit=items_per_hit, before=before)
        try:
            read_policy(self.policy, items_per_hit=items_per_hit)
        except PolicyError as error:
            if not self.errors:
                raise forms.ValidationError(str(error)) from error
        return data


class ApplyForm(forms.Form):
    """A policy that was tried out, to be applied: as it was tried, instead of the one that stood then."""

    policy = forms.JSONField(widget=forms.HiddenInput)
    rejects_automatically = forms.BooleanField(required=False, widget=forms.HiddenInput)
    instead_of = forms.CharField(max_length=32, widget=forms.HiddenInput)
    reason = forms.CharField(
        label="Why",
        max_length=FEEDBACK_MAX,
        widget=forms.TextInput(attrs={"autocomplete": "off", "class": "wide"}),
        help_text="For the audit trail.",
        error_messages={"required": "Say why; it goes into the audit trail."},
    )
