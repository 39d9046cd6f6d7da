"""3: what an annotator posted, or the marketplace's copy of it, becomes responses and ratings.

Nothing a worker sent is lost: drafts are kept, a complete set of answers is written once in one transaction, and
either copy, ours or the marketplace's, can rebuild the other.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotators.models import Assignment
from annotators.questions import AnswerError, parse_answers
from surveys.definitions import Criterion, Definition
from surveys.models import (
    AnswerRevision,
    Item,
    Output,
    Questionnaire,
    QuestionnaireItem,
    Rating,
    Response,
)

FIELD = "taskAnswers"
VERSION_MAX = 2**31 - 1
SECONDS_MAX = 31_536_000.0  # MTurk: no assignment lasts longer


class IncompleteAnswers(ValueError):
    """The marketplace's copy does not hold a complete, valid set of answers; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """What one worker answered about one item.

    `ratings`: {output code: {criterion key: value, or list of values for a checklist}}. `item_ratings`: the same
    for criteria about the item. `preference`: an output code, "" for no preference. Where `skip_reason` is given, all
    the rest is empty.
    """

    position: int
    answer: str = ""
    ratings: dict[str, dict[str, str | list[str]]] = field(default_factory=dict)
    item_ratings: dict[str, str | list[str]] = field(default_factory=dict)
    preference: str = ""
    active_seconds: float = 0.0
    skip_reason: str = ""


def save_draft(
    assignment: Assignment, *, position: int, data: dict[str, Any], version: int, active_seconds: float
) -> bool:
    """Keep an item's form data. False if a newer draft is there already or the answers are complete."""
    newer = assignment.responses.filter(
        position=position,
        draft_version__lt=min(version, VERSION_MAX),
        assignment__saved_at__isnull=True,
    )
    return (
        newer.update(
            draft=data,
            draft_version=min(version, VERSION_MAX),
            active_seconds=_seconds(active_seconds),
            saved_at=timezone.now(),
        )
        == 1
    )


@transaction.atomic
def save_answers(assignment: Assignment, *, answers: list[ItemAnswer], comment: str = "") -> bool:
    """Write a complete set of answers, once. False, and no change, if one was written before."""
    first = Assignment.objects.filter(pk=assignment.pk, saved_at__isnull=True)
    if not first.update(saved_at=timezone.now(), comment=comment):
        return False
    assignment.refresh_from_db()
    _write(assignment, answers)
    return True


@transaction.atomic
def revise_answers(assignment: Assignment, *, answers: list[ItemAnswer], comment: str = "") -> bool:
    """Put other complete answers in the place of those written before, which are kept as a revision.

    False, and no change, if none were written before or the new ones are the same.
    """
    locked = Assignment.objects.select_for_update().filter(pk=assignment.pk, saved_at__isnull=False).first()
    if locked is None or (locked.comment == comment and given_answers(locked) == answers):
        return False
    AnswerRevision.objects.create(
        assignment=locked, data={"answers": json.loads(task_answers(locked)), "comment": locked.comment}
    )
    Rating.objects.filter(response__assignment=locked).delete()
    _write(locked, answers)
    Assignment.objects.filter(pk=assignment.pk).update(saved_at=timezone.now(), comment=comment)
    assignment.refresh_from_db()
    return True


def given_answers(assignment: Assignment) -> list[ItemAnswer]:
    """Return the complete answers of an assignment as they were given, in the order of the page."""
    return [_answer_from_data(entry) for entry in json.loads(task_answers(assignment))]


def task_answers(assignment: Assignment) -> str:
    """Return the complete answers as JSON for the marketplace: one object per item, outputs by opaque code.

    It holds all that `recover` needs and nothing that tells a browser which system said what.
    """
    responses = assignment.responses.select_related("item", "batch__survey")
    complete = responses.prefetch_related("item__outputs", "ratings")
    return json.dumps([_answer_as_data(response) for response in complete], ensure_ascii=True)


def recover(assignment: Assignment, *, questionnaire: Questionnaire) -> bool:
    """Rebuild missing answers from the marketplace's copy. False if ours are there.

    Raises IncompleteAnswers if that copy is unreadable or not complete; nothing is written then.
    """
    if assignment.saved_at is not None:
        return False
    slots = {slot.position: slot for slot in _slots(questionnaire)}
    definition = questionnaire.batch.definition
    answers = [_answer_from_data(entry) for entry in _entries(assignment.answer_xml)]
    if sorted(answer.position for answer in answers) != sorted(slots):
        raise IncompleteAnswers("The marketplace's copy does not answer every question.")
    for answer in answers:
        _check(answer, slots[answer.position].item, definition)
    comment = _fields(assignment.answer_xml).get("comment", "")
    try:
        with transaction.atomic():
            _write_missing_responses(assignment, questionnaire, slots, answers)
            return save_answers(assignment, answers=answers, comment=comment)
    except IntegrityError as error:  # worker_sees_item_once_per_batch
        raise IncompleteAnswers("This worker has worked on these questions in another HIT.") from error


def _seconds(measured: float) -> float:
    """Return what a browser measured within bounds: it can say anything, NaN and infinity too."""
    return min(measured, SECONDS_MAX) if measured > 0 else 0.0


def _write(assignment: Assignment, answers: list[ItemAnswer]) -> None:
    by_position = {answer.position: answer for answer in answers}
    shown = assignment.responses.select_related("item", "batch__survey").prefetch_related("item__outputs")
    responses, ratings = list(shown), list[Rating]()
    for response in responses:
        answer = by_position[response.position]
        _fill_in(response, answer)
        ratings.extend(_ratings(response, answer))
    Response.objects.bulk_update(responses, ["answer", "is_correct", "skip_reason", "active_seconds"])
    Rating.objects.bulk_create(ratings)


def _fill_in(response: Response, answer: ItemAnswer) -> None:
    gold = response.item.gold
    response.answer = answer.answer
    response.skip_reason = answer.skip_reason
    response.is_correct = answer.answer == gold if gold and not answer.skip_reason else None
    response.active_seconds = max(response.active_seconds, _seconds(answer.active_seconds))


def _ratings(response: Response, answer: ItemAnswer) -> Iterator[Rating]:
    if answer.skip_reason:
        return
    definition = response.batch.definition
    outputs = {output.code: output for output in response.item.outputs.all()}
    for code, values in answer.ratings.items():
        for criterion in definition.output_criteria:
            yield from _criterion_ratings(response, outputs[code], criterion, values[criterion.key])
    for criterion in definition.item_criteria:
        yield from _criterion_ratings(response, None, criterion, answer.item_ratings[criterion.key])
    if definition.preference:
        for code, output in outputs.items():
            yield _preference_rating(response, output, definition.preference.key, answer.preference, code)


def _criterion_ratings(
    response: Response, output: Output | None, criterion: Criterion, given: str | list[str]
) -> Iterator[Rating]:
    if isinstance(given, str):
        yield Rating(
            response=response,
            output=output,
            criterion=criterion.key,
            value=given,
            score=None if criterion.is_text else criterion.score(given),
        )
        return
    for value in criterion.values:
        is_ticked = value in given
        yield Rating(
            response=response,
            output=output,
            criterion=f"{criterion.key}.{value}",
            value="selected" if is_ticked else "not_selected",
            score=float(is_ticked),
        )


def _preference_rating(response: Response, output: Output, key: str, preferred: str, code: str) -> Rating:
    value = "no_preference" if not preferred else "preferred" if preferred == code else "other"
    return Rating(
        response=response, output=output, criterion=key, value=value, score=float(value == "preferred")
    )


def _answer_as_data(response: Response) -> dict[str, Any]:
    preference = response.batch.definition.preference
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
    for rating in response.ratings.all():
        target = data["item"] if rating.output_id is None else ratings[codes[rating.output_id]]
        key, _, option = rating.criterion.partition(".")
        if option:
            target.setdefault(key, []).extend([option] if rating.score else [])
        elif preference is None or key != preference.key:
            target[key] = rating.value
        elif rating.value == "preferred":
            data["preference"] = codes[rating.output_id or 0]
    return data


def _fields(document: str) -> dict[str, str]:
    try:
        return parse_answers(document)
    except AnswerError as error:
        raise IncompleteAnswers(str(error)) from error


def _entries(document: str) -> list[Mapping[str, Any]]:
    text = _fields(document).get(FIELD, "")
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise IncompleteAnswers(f"The marketplace's copy has no readable {FIELD}.") from error
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise IncompleteAnswers(f"{FIELD} is not a list of answers.")
    return entries


def _answer_from_data(entry: Mapping[str, Any]) -> ItemAnswer:
    try:
        return ItemAnswer(
            position=int(entry["position"]),
            answer=str(entry["answer"]),
            ratings=dict(entry["outputs"]),
            item_ratings=dict(entry["item"]),
            preference=str(entry["preference"]),
            active_seconds=float(entry["seconds"]),
            skip_reason=str(entry.get("skip", "")),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise IncompleteAnswers("The marketplace's copy lacks a field.") from error


def _check(answer: ItemAnswer, item: Item, definition: Definition) -> None:
    where = f"Question {answer.position}"
    if answer.skip_reason:
        _check_skip(where, answer, definition)
        return
    codes = {output.code for output in item.outputs.all()}
    if answer.answer not in ([c.value for c in item.choices_for(definition)] if definition.answer else [""]):
        raise IncompleteAnswers(f"{where}: {answer.answer!r} is not one of the answers.")
    if set(answer.ratings) != codes:
        raise IncompleteAnswers(f"{where}: its outputs are not this item's.")
    for values in answer.ratings.values():
        _check_values(where, values, definition.output_criteria)
    _check_values(where, answer.item_ratings, definition.item_criteria)
    if answer.preference and answer.preference not in codes:
        raise IncompleteAnswers(f"{where}: the preferred output is not this item's.")


def _check_skip(where: str, answer: ItemAnswer, definition: Definition) -> None:
    if answer.skip_reason not in [reason.value for reason in definition.skip_reasons]:
        raise IncompleteAnswers(f"{where}: {answer.skip_reason!r} is no reason to skip.")


def _check_values(where: str, values: Any, criteria: tuple[Criterion, ...]) -> None:
    for criterion in criteria:
        given = values.get(criterion.key) if isinstance(values, dict) else None
        if not _is_answer(given, criterion):
            raise IncompleteAnswers(f"{where}: {criterion.label!r} is not answered.")


def _is_answer(given: Any, criterion: Criterion) -> bool:
    if criterion.is_checklist:
        return _is_checklist_answer(given, criterion)
    return isinstance(given, str) and (bool(given) if criterion.is_text else given in criterion.values)


def _is_checklist_answer(given: Any, criterion: Criterion) -> bool:
    """Something is ticked, and nothing beside the choice that rules out all others."""
    if not isinstance(given, list) or not given or any(value not in criterion.values for value in given):
        return False
    return criterion.exclusive not in given or set(given) == {criterion.exclusive}


def _write_missing_responses(
    assignment: Assignment,
    questionnaire: Questionnaire,
    slots: Mapping[int, QuestionnaireItem],
    answers: list[ItemAnswer],
) -> None:
    """Where our rows are lost too, the copy says in which order the outputs were shown."""
    there = set(assignment.responses.values_list("position", flat=True))
    for answer in answers:
        if answer.position in there:
            continue
        item = slots[answer.position].item
        ids = {output.code: output.pk for output in item.outputs.all()}
        Response.objects.create(
            assignment=assignment,
            batch=questionnaire.batch,
            worker=assignment.worker,
            item=item,
            position=answer.position,
            shown={"outputs": [ids[code] for code in answer.ratings], "choices": []},
        )


def _slots(questionnaire: Questionnaire) -> list[QuestionnaireItem]:
    return list(
        questionnaire.slots.select_related("item").prefetch_related("item__outputs").order_by("position")
    )
