"""What a simulated person sees of an assignment, made of the same items that a page is made of; no page is rendered."""

from collections.abc import Iterator, Mapping

from surveys.answering.answer_copy import ItemAnswer, only_asked
from surveys.answering.presentation import ShownItem
from surveys.protocols.conditions import ANSWER
from surveys.protocols.criteria import Choice, Criterion, Preference, Spans
from surveys.protocols.definition import Definition
from surveys.protocols.preferences import IN_PARTS
from surveys.protocols.spans import checked
from surveys.simulating.people import Answers, Given
from surveys.simulating.views import Group, ItemView, Option, Output, words_once

UNDECIDED = "undecided"


def view_of(item: ShownItem, definition: Definition) -> ItemView:
    """Return an item as somebody sees it who opens its page."""
    prefix = f"i{item.position}-"
    outputs = tuple(
        Output(
            output.text,
            tuple(
                _groups(
                    definition.output_criteria, f"{prefix}{output.code}-", prefix, _texts(item, output.text)
                )
            ),
            output.code,
        )
        for output in item.outputs
    )
    return ItemView(
        position=item.position,
        version=0,
        question=item.question,
        outputs=outputs,
        groups=tuple(_about_item(item, definition, prefix)),
        skip=_choice(f"{prefix}skip", definition.skip_reasons) if definition.skip_reasons else None,
    )


def answer_of(item: ShownItem, answers: Answers, *, definition: Definition, seconds: float) -> ItemAnswer:
    """Return what was chosen in a view as a complete answer."""
    prefix = f"i{item.position}-"
    answer = ItemAnswer(
        position=item.position,
        answer=_text(answers.get(f"{prefix}answer", "")),
        ratings={
            output.code: _given(
                definition.output_criteria, answers, f"{prefix}{output.code}-", _texts(item, output.text)
            )
            for output in item.outputs
        },
        item_ratings=_given(definition.item_criteria, answers, prefix, _texts(item)),
        preference=_preferred(item, answers, definition.preference) if definition.preference else "",
        active_seconds=seconds,
    )
    return only_asked(answer, definition)


def _about_item(item: ShownItem, definition: Definition, prefix: str) -> Iterator[Group]:
    if definition.answer:
        yield _choice(f"{prefix}answer", item.choices)
    yield from _groups(definition.item_criteria, prefix, prefix, _texts(item))
    if definition.preference:
        yield from _compared(item, definition.preference, prefix)


def _compared(item: ShownItem, preference: Preference, prefix: str) -> Iterator[Group]:
    """Yield the question which output is better, or its parts."""
    outputs = [Choice(output.code, output.label) for output in item.outputs]
    if (way := IN_PARTS.get(preference.by)) is None:
        none = [Choice(UNDECIDED, preference.none_label)] if preference.none_label else []
        yield _choice(prefix + preference.key, [*outputs, *none])
        return
    places = [Choice(str(n), str(n)) for n in range(1, len(outputs) + 1)]
    for part in way.parts([output.code for output in item.outputs]):
        yield _choice(f"{prefix}{preference.key}-{part}", places if preference.by == "ranking" else outputs)


def _preferred(item: ShownItem, answers: Answers, preference: Preference) -> str | dict[str, str]:
    name = f"i{item.position}-{preference.key}"
    codes = [output.code for output in item.outputs]
    if way := IN_PARTS.get(preference.by):
        return way.places({part: _text(answers[f"{name}-{part}"]) for part in way.parts(codes)}, codes)
    chosen = _text(answers.get(name, ""))
    return "" if chosen == UNDECIDED else chosen


def _choice(name: str, choices: list[Choice] | tuple[Choice, ...]) -> Group:
    return Group(name, is_checklist=False, options=tuple(Option(c.value, c.label) for c in choices))


def _texts(item: ShownItem, judged: str = "") -> dict[str, str]:
    """Return what can be marked, by column."""
    return {**item.markable, "": judged}


def _groups(
    criteria: tuple[Criterion, ...], prefix: str, of_item: str, texts: Mapping[str, str]
) -> Iterator[Group]:
    for criterion in criteria:
        condition = criterion.asked_if
        above = ""
        if condition:
            above = (of_item if condition.question == ANSWER else prefix) + condition.question
        yield Group(
            prefix + criterion.key,
            is_checklist=criterion.is_checklist,
            options=tuple(
                Option(c.value, c.label, c.value == criterion.exclusive) for c in criterion.choices
            ),
            is_optional=criterion.is_optional,
            sample="[]" if criterion.spans else criterion.number.sample if criterion.number else "",
            **(_marking(criterion.spans, texts) if criterion.spans else {}),
            only_if=above,
            wanted=condition.values if condition else (),
        )


def _marking(spans: Spans, texts: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    return {
        "words": words_once(texts.get(spans.of, "")),
        "severities": tuple(one.value for one in spans.severities),
        "categories": tuple(one.value for one in spans.categories),
    }


def _given(
    criteria: tuple[Criterion, ...], answers: Mapping[str, Given], prefix: str, texts: Mapping[str, str]
) -> dict[str, Given]:
    given = {c.key: answers[prefix + c.key] for c in criteria if prefix + c.key in answers}
    marked = {c.key: c.spans for c in criteria if c.spans and c.key in given}
    return given | {
        key: checked(_text(given[key]), spans=spans, texts=texts) for key, spans in marked.items()
    }


def _text(given: Given) -> str:
    return given if isinstance(given, str) else "".join(given[:1])
