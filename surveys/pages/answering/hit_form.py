"""The form of one HIT: every question the definition asks about each item shown."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, cast

from crispy_forms.helper import FormHelper
from django import forms
from django.utils.text import Truncator
from django.utils.translation import get_language, gettext, gettext_lazy

from surveys.answering.answer_copy import ItemAnswer, only_asked
from surveys.answering.collection import SECONDS_MAX, VERSION_MAX
from surveys.answering.presentation import ShownItem, word_of
from surveys.pages.answering.hit_fields import (
    AnyOf,
    CommentField,
    GroupField,
    MarkedText,
    Numeral,
    OneOf,
    OnlyIf,
    SecondsField,
    SkipReason,
    Unseen,
    Written,
)
from surveys.pages.answering.hit_layout import (
    ItemBlock,
    LayoutObject,
    OutputBlock,
    Question,
    Ranked,
    Same,
    SkipBlock,
    Together,
    UnseenBlock,
    helper_of,
)
from surveys.pages.answering.problems import Told
from surveys.protocols.conditions import ANSWER, asked_keys
from surveys.protocols.criteria import Choice, Criterion, Preference, Spans, numbered
from surveys.protocols.definition import FILE_UNSEEN, Definition
from surveys.protocols.definition import UNSEEN as UNSEEN_FILES
from surveys.protocols.preferences import BEST, IN_PARTS, WORST, By

NO_PREFERENCE = "no_preference"
REPEATED_MAX = 240  # characters of a text that is shown once more; whole above
# That a draft may replace: hit.js tells the one it began from and the last hundred it sent.
MOST_VERSIONS = 101
SKIP = "skip"
UNSEEN = "skip-unseen"  # no name of a question, as none about the item is called "skip"
# What is wrong where one part of a preference rules out another.
CLASHES: dict[By, Any] = {
    "ranking": gettext_lazy("Another one has this place already. Choose another place."),
    "best_worst": gettext_lazy("The best one can’t be the worst as well. Choose another one."),
}
REFUSED = "refused"
SECONDS = SecondsField(required=False)  # of every item: a form changes none of its fields
JUDGED = gettext_lazy(
    "What you answered here has been accepted, so it can’t become something that you could not see. "
    "Nothing was changed."
)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a response has come: its draft's version, the active seconds measured so far, when both were saved."""

    version: int = 0
    active_seconds: float = 0.0
    saved_at: datetime | None = None


class DraftForm(forms.Form):
    """One item's draft as the page posts it."""

    token = forms.CharField()
    position = forms.IntegerField()
    version = forms.IntegerField(min_value=1, max_value=VERSION_MAX)
    seconds = forms.FloatField(min_value=0, max_value=SECONDS_MAX)
    after = forms.JSONField(required=False)
    answers = forms.JSONField(required=False)

    def clean_after(self) -> list[int] | None:
        """Return the versions that may be replaced; None, as of pages made before there were any, is any older one."""
        after = self.data.get("after")
        if after is not None and not _are_versions(after):
            raise forms.ValidationError("Versions are whole numbers.")
        return after

    def clean_answers(self) -> dict[str, Any]:
        """Return the posted object; an empty one is a draft too, a missing one is not."""
        if not isinstance(answers := self.data.get("answers"), dict):
            raise forms.ValidationError("A draft's answers are an object.")
        return answers


def _are_versions(given: object) -> bool:
    if not isinstance(given, list) or len(given) > MOST_VERSIONS:
        return False
    return all(type(v) is int and 0 <= v <= VERSION_MAX for v in given)


class Problem(NamedTuple):
    """One error of the summary: the control it is about, where that is, its question, what to do about it."""

    control: str
    where: str
    label: str
    message: str
    code: str | None


class HitForm(forms.Form):
    """All items of one assignment in one form, filled from their drafts.

    Names: `i{position}-answer`, `i{position}-{output code}-{criterion}`, `i{position}-{criterion}`,
    `i{position}-{preference key}`, `i{position}-seconds`, and `comment`. A draft's names lack `i{position}-`.
    A posted `skip` names the position of an item that can't be judged, and `i{position}-skip` says why. Where a survey
    type has no reasons to skip, `i{position}-skip-unseen` says that an item can't be judged for want of a file.
    """

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        definition: Definition,
        items: Sequence[ShownItem],
        progress: dict[int, Progress] | None = None,
        takes_reports: bool = False,
    ) -> None:
        super().__init__(data)
        self.takes_reports = takes_reports
        self.told: Told | None = None  # of a report that came without a script
        self.definition = definition
        self.items = items
        self.progress = progress or {}
        for item in items:
            self._add_item(item)
        self.fields["comment"] = CommentField(required=False)
        self.initial["comment"] = next((i.draft["comment"] for i in items if i.draft.get("comment")), "")

    @property
    def helper(self) -> FormHelper:
        return helper_of(self._item_block(item) for item in self.items)

    @property
    def protocol(self) -> Same:
        """What is asked, for what is rendered once for each: texts alone can be equal in two languages."""
        return Same(self.definition)

    @property
    def item_word(self) -> str:
        """Return what an item is called where it is counted, in the survey type's own word if it has one."""
        return word_of(self.definition)

    @property
    def is_refused(self) -> bool:
        """True where nothing is missing, and what was posted is not taken all the same."""
        return any(problem.code == REFUSED for _, entries in self.problems for problem in entries)

    @property
    def problems(self) -> list[tuple[int, list[Problem]]]:
        """The error summary: what is wrong in each item, by its place, in the order of the page."""
        found = [
            (
                group.place,
                Problem(f"{name}-1", group.where, cast(str, group.label), error.messages[0], error.code),
            )
            for name, group in self._groups()
            if name in self.errors
            for error in self.errors[name].as_data()[:1]
        ]
        return [(place, [p for _, p in entries]) for place, entries in groupby(found, key=itemgetter(0))]

    def clean(self) -> None:
        """Leave out what is wrong in an item that is skipped, where only the reason counts, and in what isn't asked."""
        for item in self.items:
            self._check_places(item)
            self._check_judged(item)
            prefix = f"i{item.position}-"
            wrong = [name.removeprefix(prefix) for name in self.errors if name.startswith(prefix)]
            for name in self._not_counting(item, wrong):
                del self.errors[prefix + name]

    def _not_counting(self, item: ShownItem, names: Collection[str]) -> set[str]:
        """Return those of the item's questions, by draft name, that nobody has to answer as the others are answered."""
        if not names:
            return set()
        if self._is_skipping(item) or self._is_unseen(item):
            return set(names) - {SKIP}
        prefix = f"i{item.position}-"
        given = {n.removeprefix(prefix): v for n, v in self.cleaned_data.items() if n.startswith(prefix)}
        return set(names) & unasked(self.definition, item, given=given)

    def _check_places(self, item: ShownItem) -> None:
        """Say which part of a preference the others rule out."""
        preference = self.definition.preference
        if preference is None or (way := IN_PARTS.get(preference.by)) is None:
            return
        for part in way.clashes(self._parts_given(item, preference), has_ties=preference.has_ties):
            self.add_error(f"i{item.position}-{preference.key}-{part}", CLASHES[preference.by])

    def _check_judged(self, item: ShownItem) -> None:
        """Refuse, at its first question, that what was accepted was not seen: a page made before may say so."""
        if item.stays_judged and self._says_unseen(item):
            first = next(name for name in self.fields if name.startswith(f"i{item.position}-"))
            self.errors.pop(first, None)
            self.add_error(first, forms.ValidationError(JUDGED, code=REFUSED))

    def _parts_given(self, item: ShownItem, preference: Preference) -> dict[str, str]:
        """Return {part: what was chosen} of a preference in parts, as far as it was answered."""
        names = {
            part: f"i{item.position}-{preference.key}-{part}" for part in preference_parts(preference, item)
        }
        return {part: self.cleaned_data[name] for part, name in names.items() if self.cleaned_data.get(name)}

    def answers(self) -> list[ItemAnswer]:
        """Return the cleaned answers, one per item."""
        return [self._answer(item) for item in self.items]

    def item_at(self, position: int) -> ShownItem:
        """Return the item shown at `position`; KeyError if there is none."""
        return {item.position: item for item in self.items}[position]

    def draft_of(self, item: ShownItem, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return what of `data` is a possible answer to a question about `item`, under its draft name.

        What is not asked any more stays in a draft, as minds change; it is no answer (`only_asked`).
        """
        prefix = f"i{item.position}-"
        groups = {
            name.removeprefix(prefix): group for name, group in self._groups() if name.startswith(prefix)
        }
        draft: dict[str, Any] = {
            name: value for name, group in groups.items() if (value := group.draft(data.get(name)))
        }
        if data.get(UNSEEN) == [FILE_UNSEEN] and not self.definition.skip_reasons:
            draft[UNSEEN] = [FILE_UNSEEN]  # a form without files, as one for a draft is, can't tell more
        if comment := CommentField(required=False).clean(data.get("comment")):
            draft["comment"] = comment
        return draft

    def posted_draft(self, item: ShownItem) -> dict[str, Any]:
        """Return the draft of an item as it was posted with the whole form, valid or not."""
        prefix = f"i{item.position}-"
        posted = {n.removeprefix(prefix): self[n].data for n, _ in self._groups() if n.startswith(prefix)}
        last = {"comment": self["comment"].data} if item is self.items[-1] else {}
        return self.draft_of(item, posted | last)

    def drafted(self, *, skipping: str) -> dict[str, Any]:
        """Return the drafts as a browser would post them; `skipping`: the position of what can't be judged, or ""."""
        return {**self.initial, SKIP: skipping}

    def _groups(self) -> Iterator[tuple[str, GroupField]]:
        for name, group in self.fields.items():
            if isinstance(group, GroupField):
                yield name, group

    def _add_item(self, item: ShownItem) -> None:
        prefix = f"i{item.position}-"
        is_skipping = self._is_skipping(item)
        is_judged = not (is_skipping or self._is_unseen(item))
        for name, group in _questions(self.definition, item, is_judged=is_judged, is_skipping=is_skipping):
            self.fields[prefix + name] = group
            if value := group.draft(item.draft.get(name)):
                self.initial[prefix + name] = value
        self.fields[f"{prefix}seconds"] = SECONDS

    def _is_skipping(self, item: ShownItem) -> bool:
        return bool(self.definition.skip_reasons) and self.data.get(SKIP) == str(item.position)

    def _lacks_files(self, item: ShownItem) -> bool:
        """Tell whether a file is gone, as we see or as was said before."""
        return not all(file.url for file in item.files) or bool(self[f"i{item.position}-{UNSEEN}"].value())

    def _is_unseen(self, item: ShownItem) -> bool:
        return self._says_unseen(item) and can_be_unseen(self.definition, item)

    def _says_unseen(self, item: ShownItem) -> bool:
        given = self.data.get(f"i{item.position}-{UNSEEN}")
        return not self.definition.skip_reasons and given in (FILE_UNSEEN, [FILE_UNSEEN])

    def _item_block(self, item: ShownItem) -> ItemBlock:
        progress = self.progress.get(item.position, Progress())
        return ItemBlock(
            item=item,
            definition=self.definition,
            of=len(self.items),
            parts=list(self._parts(item)),
            version=progress.version,
            active_seconds=progress.active_seconds,
            saved_at=progress.saved_at,
            takes_reports=self.takes_reports,
            told=self.told if self.told and self.told.position == item.position else None,
        )

    def _parts(self, item: ShownItem) -> Iterator[LayoutObject]:
        prefix, definition = f"i{item.position}-", self.definition
        if can_be_unseen(definition, item) and self._lacks_files(item):
            yield UnseenBlock(f"{prefix}{UNSEEN}")
        if definition.answer:
            yield Question(f"{prefix}answer")
        for output in item.outputs:
            criteria = [Question(f"{prefix}{output.code}-{c.key}") for c in definition.output_criteria]
            yield OutputBlock(
                output,
                item.position,
                criteria,
                has_text=not definition.is_sequence,
                can_skip=bool(definition.skip_reasons),
            )
        for criterion in definition.item_criteria:
            yield Question(f"{prefix}{criterion.key}")
        if definition.preference:
            yield _preference_question(definition.preference, item)
        if definition.skip_reasons:
            yield SkipBlock(f"{prefix}{SKIP}", item.position)

    def _answer(self, item: ShownItem) -> ItemAnswer:
        definition, prefix, given = self.definition, f"i{item.position}-", self.cleaned_data
        if self._is_unseen(item):
            seconds = given[f"{prefix}seconds"]
            return ItemAnswer(item.position, skip_reason=FILE_UNSEEN, active_seconds=seconds)
        if self._is_skipping(item):
            return ItemAnswer(
                item.position,
                skip_reason=given[prefix + SKIP],
                active_seconds=given[f"{prefix}seconds"],
            )
        answer = ItemAnswer(
            position=item.position,
            answer=given[f"{prefix}answer"] if definition.answer else "",
            ratings={
                output.code: self._given(definition.output_criteria, f"{prefix}{output.code}-")
                for output in item.outputs
            },
            item_ratings=self._given(definition.item_criteria, prefix),
            preference=self._preferred(item, definition.preference) if definition.preference else "",
            active_seconds=given[f"{prefix}seconds"],
        )
        return only_asked(answer, definition)

    def _preferred(self, item: ShownItem, preference: Preference) -> str | dict[str, str]:
        if way := IN_PARTS.get(preference.by):
            return way.places(self._parts_given(item, preference), [output.code for output in item.outputs])
        chosen = str(self.cleaned_data[f"i{item.position}-{preference.key}"])
        return "" if chosen == NO_PREFERENCE else chosen

    def _given(self, criteria: Sequence[Criterion], prefix: str) -> dict[str, str | list[str]]:
        """Return the cleaned values by criterion. What was to be written and is empty was not answered."""
        values = {c.key: self.cleaned_data.get(prefix + c.key, "") for c in criteria}
        return {key: value for key, value in values.items() if value != ""}


def can_be_unseen(definition: Definition, item: ShownItem) -> bool:
    """Tell whether an item may lack a file, and the survey type has no words of its own for that."""
    return bool(item.files) and not definition.skip_reasons and not item.stays_judged


def unasked(definition: Definition, item: ShownItem, *, given: Mapping[str, Any]) -> set[str]:
    """Return the questions about an item that are not asked, given answers to the others; all by draft name."""
    names = set()
    for prefix, criteria in _criteria(definition, item):
        values = {c.key: given.get(prefix + c.key) for c in criteria}
        asked = asked_keys(criteria, given=values, answer=given.get("answer"))
        names |= {prefix + c.key for c in criteria if c.key not in asked}
    return names


def _criteria(definition: Definition, item: ShownItem) -> Iterator[tuple[str, Sequence[Criterion]]]:
    """Yield the questions about each output and then about the item, with what their draft names begin with."""
    for output in item.outputs:
        yield f"{output.code}-", definition.output_criteria
    yield "", definition.item_criteria


def draft_from(answer: ItemAnswer, definition: Definition) -> dict[str, Any]:
    """Return complete answers as the draft that shows them again in the form."""
    draft: dict[str, Any] = {"answer": answer.answer, **answer.item_ratings}
    for code, values in answer.ratings.items():
        draft |= {f"{code}-{key}": value for key, value in values.items()}
    if (preference := definition.preference) and isinstance(answer.preference, dict):
        given = IN_PARTS[preference.by].given(answer.preference)
        draft |= {f"{preference.key}-{part}": chosen for part, chosen in given.items()}
    elif preference:
        draft[preference.key] = answer.preference or NO_PREFERENCE
    if answer.skip_reason in UNSEEN_FILES:
        return {UNSEEN: [FILE_UNSEEN]}
    return {SKIP: answer.skip_reason} if answer.skip_reason else draft


def _questions(
    definition: Definition, item: ShownItem, *, is_judged: bool, is_skipping: bool
) -> Iterator[tuple[str, GroupField]]:
    """Yield (draft name, question) in the order they are asked."""
    at: dict[str, Any] = {"place": item.place, "is_required": is_judged}
    if can_be_unseen(definition, item):
        yield UNSEEN, _unseen(item.place, get_language())
    if definition.answer:
        yield "answer", OneOf(label=definition.answer.label, **at, choices=item.choices)
    labels = {f"{output.code}-": output.label for output in item.outputs}
    same = Same(definition)
    for prefix, criteria in _criteria(definition, item):
        where = labels.get(prefix, "")
        for criterion in criteria:
            if criterion.asked_if or criterion.spans:
                group = _rating_of_item(criterion, definition, item=item, prefix=prefix, where=where, **at)
            else:
                group = _rating(same, criterion.key, where, **at)
            yield prefix + criterion.key, group
    if definition.preference:
        yield from _preference_fields(definition.preference, item, **at)
    if definition.skip_reasons:
        why = gettext("Why can’t it be judged?")
        at["is_required"] = is_skipping
        yield SKIP, SkipReason(label=why, **at, choices=definition.skip_reasons)


@lru_cache(256)
def _unseen(place: int, page_language: str | None) -> Unseen:
    return Unseen(place=place)


def _only_if(criterion: Criterion, definition: Definition, *, item: ShownItem, prefix: str) -> OnlyIf | None:
    """Return the condition of a question, as the form and its readers know it."""
    if (condition := criterion.asked_if) is None:
        return None
    others = {one.key: (one.label, one.choices) for one in definition.criteria}
    if (is_answer := condition.question not in others) and definition.answer:
        others[ANSWER] = (definition.answer.label, definition.answer.choices)
    label, choices = others[condition.question]
    named = gettext(" or ").join(
        f"“{choice.label}”" for choice in choices if choice.value in condition.values
    )
    said = {"answers": named, "question": label}
    if condition.ticked:
        sentence = gettext("Only if you ticked %(answers)s in “%(question)s” above.") % said
    else:
        sentence = gettext("Only if you answered %(answers)s to “%(question)s” above.") % said
    name = f"i{item.position}-{'' if is_answer else prefix}{condition.question}"
    return OnlyIf(name, condition.values, sentence)


@lru_cache(4096)
def _rating(same: Same, key: str, where: str, **at: Any) -> GroupField:
    """Return a question that says nothing of one item: made once for all at this place, as a page has dozens."""
    criterion = same.definition.criterion(key)
    return _group(criterion, {**_asked(criterion), "where": where, **at})


def _rating_of_item(
    criterion: Criterion, definition: Definition, *, item: ShownItem, prefix: str, **at: Any
) -> GroupField:
    """Return a question that is asked after another one about the same item, or about marks in its texts."""
    only_if = _only_if(criterion, definition, item=item, prefix=prefix)
    asked = {**_asked(criterion), "only_if": only_if, **at}
    if criterion.spans:
        return _marked(criterion.spans, asked, item=item, prefix=prefix)
    return _group(criterion, asked)


def _asked(criterion: Criterion) -> dict[str, Any]:
    """Return what any kind of question is asked with."""
    return {"label": criterion.label, "help_text": criterion.help, "is_optional": criterion.is_optional}


def _group(criterion: Criterion, asked: dict[str, Any]) -> GroupField:
    if criterion.is_text:
        return Written(**asked)
    if criterion.number:
        return Numeral(**asked, number=criterion.number)
    if criterion.is_checklist:
        return AnyOf(**asked, choices=criterion.choices, exclusive=criterion.exclusive)
    return OneOf(**asked, choices=criterion.choices)


def _marked(spans: Spans, asked: dict[str, Any], *, item: ShownItem, prefix: str) -> MarkedText:
    judged = next((output.text for output in item.outputs if prefix == f"{output.code}-"), "")
    texts = {**item.markable, "": judged}
    surface = f"i{item.position}-block-{spans.of}" if spans.of else f"i{item.position}-{prefix}text"
    return MarkedText(**asked, spans=spans, texts=texts, surface=surface)


def preference_parts(preference: Preference, item: ShownItem) -> tuple[str, ...]:
    """Return the names of the parts of a preference; none of a choice, which is one question."""
    way = IN_PARTS.get(preference.by)
    return way.parts([output.code for output in item.outputs]) if way else ()


def _preference_fields(preference: Preference, item: ShownItem, **at: Any) -> Iterator[tuple[str, OneOf]]:
    """Yield (draft name, question) of a preference: one, or its parts."""
    choices = _preference_choices(preference, item)
    if preference.by == "ranking":
        places = [Choice(str(n), str(n)) for n in range(1, len(choices) + 1)]
        for one in choices:
            texts: dict[str, Any] = {"label": one.label, "help_text": one.description}
            name = f"{preference.key}-{one.value}"
            yield name, OneOf(**texts, **at, where=preference.label, choices=places)
    elif preference.by == "best_worst":
        yield f"{preference.key}-{BEST}", OneOf(label=preference.label, **at, choices=choices)
        yield f"{preference.key}-{WORST}", OneOf(label=preference.worst_label, **at, choices=choices)
    else:
        shown = [choice for choice in choices if choice.label]
        yield preference.key, OneOf(label=preference.label, **at, choices=shown)


def _preference_question(preference: Preference, item: ShownItem) -> LayoutObject:
    prefix = f"i{item.position}-{preference.key}"
    parts = [Question(f"{prefix}-{part}") for part in preference_parts(preference, item)]
    if preference.by == "ranking":
        hint = (
            gettext("1 is the best.")
            if preference.has_ties
            else gettext("1 is the best. No two share a place.")
        )
        return Ranked(prefix, preference.label, hint, parts, has_ties=preference.has_ties)
    return Together(parts) if parts else Question(prefix)


def _preference_choices(preference: Preference, item: ShownItem) -> list[Choice]:
    """Return the outputs to choose from with what each says, as they may have scrolled away by now."""
    outputs = [
        Choice(
            output.code,
            numbered(preference.output_label, n),
            description=_repeated(output.text),
        )
        for n, output in enumerate(item.outputs, start=1)
    ]
    none = [Choice(NO_PREFERENCE, preference.none_label)] if preference.none_label else []
    at = 1 if preference.is_none_between else len(outputs)
    return [*outputs[:at], *none, *outputs[at:]]


@lru_cache(512)
def _repeated(text: str) -> str:
    """Return as much of an output as stands in a choice."""
    return Truncator(text).chars(REPEATED_MAX, truncate="…")
