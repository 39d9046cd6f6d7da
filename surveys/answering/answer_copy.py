"""Complete answers as data: what goes to the marketplace with a submission, and what comes back.

Opaque codes stand for outputs, so that a browser may carry it and learns nothing.
"""

import dataclasses
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

from annotators.crowds.mturk.questions import AnswerError, parse_answers
from surveys.models import Item, Response
from surveys.protocols import spans
from surveys.protocols.conditions import asked_keys
from surveys.protocols.criteria import Criterion, Number
from surveys.protocols.definition import FILE_UNSEEN, UNSEEN, Definition
from surveys.protocols.preferences import IN_PARTS

FIELD = "taskAnswers"
# XML 1.0 (the marketplace's copy is written in it), production 2: no other character is allowed.
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

Values = dict[str, str | list[str]]  # {criterion key: value, or list of values for a checklist}


class IncompleteAnswers(ValueError):
    """The marketplace's copy does not hold a complete, valid set of answers; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """What one worker answered about one item.

    `ratings`: {output code: {criterion key: value, or list of values for a checklist}}, without a written answer that
    was left empty and without what was not asked. `item_ratings`: the same for criteria about the item. `preference`:
    an output code, "" for no preference, or {output code: place}. Where `skip_reason` is given, all the rest is empty.
    """

    position: int
    answer: str = ""
    ratings: dict[str, Values] = field(default_factory=dict)
    item_ratings: Values = field(default_factory=dict)
    preference: str | dict[str, str] = ""
    active_seconds: float = 0.0
    skip_reason: str = ""


class Given(NamedTuple):
    """A rating by the columns of its model, of which a HIT has fifty: a model takes ten times as long to make."""

    response_id: int
    output_id: int | None
    criterion: str
    value: str
    score: float | None


def answer_as_data(
    response: Response, given: Iterable[Given], *, codes: Mapping[int, str] | None = None
) -> dict[str, Any]:
    """Return one complete answer, with the ratings `given`, as plain data.

    `codes`: of outputs, the item's at least; without them the item's outputs are asked for, which should be prefetched.
    """
    preference = response.batch.definition.preference
    if codes is None:
        codes = {output.pk: output.code for output in response.item.outputs.all()}
    ratings: dict[str, dict[str, Any]] = {codes[pk]: {} for pk in response.shown["outputs"]}
    data: dict[str, Any] = {
        "position": response.position,
        "answer": response.answer,
        "outputs": ratings,
        "item": {},
        "seconds": response.active_seconds,
        "preference": "",
    }
    if response.skip_reason:
        data["skip"] = response.skip_reason
    for rating in given:
        target = data["item"] if rating.output_id is None else ratings[codes[rating.output_id]]
        key, _, option = rating.criterion.partition(".")
        if option:
            target.setdefault(key, []).extend([option] if rating.score else [])
        elif preference is None or key != preference.key:
            target[key] = rating.value
        elif preference.by != "choice":
            data["preference"] = {**(data["preference"] or {}), codes[rating.output_id or 0]: rating.value}
        elif rating.value == "preferred":
            data["preference"] = codes[rating.output_id or 0]
    return data


def copied_fields(document: str) -> dict[str, str]:
    """Read all fields of the marketplace's copy. Raises IncompleteAnswers."""
    try:
        return parse_answers(document)
    except AnswerError as error:
        raise IncompleteAnswers(str(error)) from error


def copied_answers(document: str) -> list[ItemAnswer]:
    """Read the answers out of the marketplace's copy. Raises IncompleteAnswers."""
    return [answer_from_data(entry) for entry in _entries(document)]


def _entries(document: str) -> list[Mapping[str, Any]]:
    text = copied_fields(document).get(FIELD, "")
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise IncompleteAnswers(f"The marketplace's copy has no readable {FIELD}.") from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise IncompleteAnswers(f"{FIELD} is not a list of answers.")
    return entries


def answer_from_data(entry: Mapping[str, Any]) -> ItemAnswer:
    """Rebuild what `answer_as_data` gave. Raises IncompleteAnswers where a field is missing."""
    try:
        return ItemAnswer(
            position=int(entry["position"]),
            answer=str(entry["answer"]),
            ratings=dict(entry["outputs"]),
            item_ratings=dict(entry["item"]),
            preference=_preference_from(entry["preference"]),
            active_seconds=float(entry["seconds"]),
            skip_reason=str(entry.get("skip", "")),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise IncompleteAnswers("The marketplace's copy lacks a field.") from error


def _preference_from(given: Any) -> str | dict[str, str]:
    if isinstance(given, dict):
        return {str(code): str(place) for code, place in given.items()}
    return str(given)


def check(
    answer: ItemAnswer, item: Item, definition: Definition, *, codes: Collection[str] | None = None
) -> None:
    """Raise IncompleteAnswers unless every question about the item is answered by one of its choices.

    `codes` are those of the outputs that were shown, all of the item's by default.
    """
    texts = {output.code: output.text for output in item.outputs.all()}
    codes = texts if codes is None else codes
    where = f"Question {answer.position}"
    if answer.skip_reason:
        _check_skip(where, answer, item, definition)
        return
    if answer.answer not in ([c.value for c in item.choices_for(definition)] if definition.answer else [""]):
        raise IncompleteAnswers(f"{where}: {answer.answer!r} is not one of the answers.")
    if set(answer.ratings) != set(codes):
        raise IncompleteAnswers(f"{where}: its outputs are not this item's.")
    said, blocks = answer.answer, item.payload.get("blocks", {})
    for code, values in answer.ratings.items():
        own = {**blocks, "": texts[code]}
        _check_values(where, values, definition.output_criteria, answer=said, texts=own)
    _check_values(where, answer.item_ratings, definition.item_criteria, answer=said, texts=blocks)
    _check_preference(where, answer.preference, definition, codes=codes)


def _check_preference(
    where: str, given: str | dict[str, str], definition: Definition, *, codes: Collection[str]
) -> None:
    preference = definition.preference
    if preference and (way := IN_PARTS.get(preference.by)):
        places = given if isinstance(given, dict) else {}
        if not way.are_sound(places, list(codes), has_ties=preference.has_ties):
            raise IncompleteAnswers(f"{where}: {preference.label!r} is not answered.")
        return
    if given and (isinstance(given, dict) or given not in codes):
        raise IncompleteAnswers(f"{where}: the preferred output is not this item's.")
    if preference and not (given or preference.none_label):
        raise IncompleteAnswers(f"{where}: {preference.label!r} is not answered.")


def _check_skip(where: str, answer: ItemAnswer, item: Item, definition: Definition) -> None:
    can_be_unseen = not definition.skip_reasons and item.pictures.exists()
    reasons = [*(reason.value for reason in definition.skip_reasons), *(UNSEEN if can_be_unseen else ())]
    if answer.skip_reason not in reasons:
        raise IncompleteAnswers(f"{where}: {answer.skip_reason!r} is no reason to skip.")


def _check_values(
    where: str, values: Any, criteria: tuple[Criterion, ...], *, answer: str, texts: Mapping[str, str]
) -> None:
    """`texts`: what can be marked, by column."""
    given = values if isinstance(values, dict) else {}
    asked = asked_keys(criteria, given=given, answer=answer)
    for criterion in criteria:
        if criterion.key not in asked or (criterion.key not in given and _may_lack(criterion)):
            continue
        if not _is_answer(given.get(criterion.key), criterion, texts):
            raise IncompleteAnswers(f"{where}: {criterion.label!r} is not answered.")


def _may_lack(criterion: Criterion) -> bool:
    return criterion.is_written and criterion.is_optional


def _is_answer(given: Any, criterion: Criterion, texts: Mapping[str, str]) -> bool:
    if criterion.is_checklist:
        return _is_checklist_answer(given, criterion)
    if not isinstance(given, str):
        return False
    if criterion.number:
        return _is_number(given, criterion.number)
    if criterion.spans:
        return spans.is_stored_form(given, spans=criterion.spans, texts=texts)
    return _is_text(given) if criterion.is_text else given in criterion.values


def _is_number(given: str, number: Number) -> bool:
    try:
        return number.read(given) == given
    except ValueError:
        return False


def _is_text(given: str) -> bool:
    """A page sends no other characters; the JSON within the copy can say them, and no database takes them."""
    return given != "" and NOT_XML.search(given) is None


def _is_checklist_answer(given: Any, criterion: Criterion) -> bool:
    """Something is ticked (unless it is optional), and nothing beside the choice that rules out all others."""
    if not isinstance(given, list) or any(value not in criterion.values for value in given):
        return False
    if not given:
        return criterion.is_optional
    return criterion.exclusive not in given or set(given) == {criterion.exclusive}


def only_asked(answer: ItemAnswer, definition: Definition) -> ItemAnswer:
    """Return the answer without what was not asked, given the answers before it."""
    if not any(criterion.asked_if for criterion in definition.criteria):
        return answer

    def kept(values: Values, criteria: tuple[Criterion, ...]) -> Values:
        asked = asked_keys(criteria, given=values, answer=answer.answer)
        left_out = {criterion.key for criterion in criteria} - asked
        return {key: value for key, value in values.items() if key not in left_out}

    return dataclasses.replace(
        answer,
        ratings={code: kept(values, definition.output_criteria) for code, values in answer.ratings.items()},
        item_ratings=kept(answer.item_ratings, definition.item_criteria),
    )


def content(answers: list[ItemAnswer]) -> list[Any]:
    """Return what answers say, without how long they took and in which order things were ticked.

    Whether a file was gone where it was not seen says the server, whichever of both words a copy has.
    """
    return [_content(answer) for answer in sorted(answers, key=attrgetter("position"))]


def _content(answer: ItemAnswer) -> tuple[Any, ...]:
    given = (answer.ratings, answer.item_ratings, answer.preference)
    return (answer.position, answer.answer, _said(answer.skip_reason), *map(_unordered, given))


def _said(skip_reason: str) -> str:
    return FILE_UNSEEN if skip_reason in UNSEEN else skip_reason


def _unordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unordered(inner) for key, inner in value.items()}
    return sorted(map(str, value)) if isinstance(value, list) else value
