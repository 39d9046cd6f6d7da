"""What an annotator posted, or the marketplace's copy of it, becomes responses and ratings.

Nothing a worker sent is lost: drafts are kept, a complete set of answers is written once in one transaction, and
either copy, ours or the marketplace's, can rebuild the other.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotators.constraints import is_about
from annotators.failpoints import reach
from annotators.models import Assignment
from statements import Change, Hole, Moment, Statement, insert, insert_values
from surveys.answering.answer_copy import (
    Given,
    IncompleteAnswers,
    ItemAnswer,
    answer_as_data,
    answer_from_data,
    check,
    content,
    copied_answers,
    copied_fields,
    only_asked,
)
from surveys.answering.contents import OUTPUTS, contents_of, files_shown, with_contents
from surveys.answering.orders import items_again
from surveys.models import (
    AnswerRevision,
    Item,
    MarkedSpan,
    Output,
    Questionnaire,
    QuestionnaireItem,
    Rating,
    Response,
)
from surveys.protocols import spans
from surveys.protocols.criteria import Criterion, Preference
from surveys.protocols.definition import FILE_GONE, FILE_UNSEEN, UNSEEN
from surveys.protocols.preferences import NO_PREFERENCE, OTHER, PREFERRED, WAYS

VERSION_MAX = 2**31 - 1
SECONDS_MAX = 31_536_000.0  # MTurk: no assignment lasts longer


def save_draft(
    assignment: Assignment,
    *,
    position: int,
    data: dict[str, Any],
    version: int,
    active_seconds: float,
    after: Collection[int] | None = None,
) -> bool:
    """Keep an item's form data. False if a newer draft is there already or the answers are complete.

    `after` are the versions its page has seen or sent: a draft of another page is not replaced, however old.
    """
    versions = None if after is None else sorted(set(after))
    if versions == []:
        return False
    keep = _keep_draft(None if versions is None else len(versions))
    n_kept = keep(
        assignment=assignment.pk,
        position=position,
        version=min(version, VERSION_MAX),
        draft=data,
        seconds=_seconds(active_seconds),
        now=timezone.now(),
        **{f"after_{n}": one for n, one in enumerate(versions or [])},
    )
    return n_kept == 1


@lru_cache(32)
def _keep_draft(n_after: int | None) -> Change:
    """Return the statement that keeps a draft in the place of one of so many versions; None: of any older one."""
    version = _column("draft_version")

    def made() -> QuerySet[Response]:
        older = Response.objects.filter(
            assignment=Hole("assignment", Assignment._meta.pk),
            position=Hole("position", _column("position")),
            draft_version__lt=Hole("version", version),
            assignment__saved_at__isnull=True,
        )
        after: list[Any] = [Hole(f"after_{n}", version) for n in range(n_after or 0)]
        return older if n_after is None else older.filter(draft_version__in=after)

    return Change(
        made,
        draft=Hole("draft", _column("draft")),
        draft_version=Hole("version", version),
        active_seconds=Hole("seconds", _column("active_seconds")),
        saved_at=Moment("now"),
    )


def draft_there(assignment: Assignment, *, position: int) -> dict[str, Any]:
    """Return the version and answers of an item's draft; nothing once the answers are complete."""
    drafts = assignment.responses.filter(position=position, assignment__saved_at__isnull=True)
    there = drafts.values_list("draft_version", "draft").first()
    return {"version": there[0], "answers": there[1]} if there else {}


def _column(name: str) -> Any:
    return Response._meta.get_field(name)


def save_answers(
    assignment: Assignment, *, answers: list[ItemAnswer], comment: str = "", language: str = ""
) -> bool:
    """Write a complete set of answers, once. False, and no change, if one was written before.

    `language` is what the questions were read in, where there was a choice; "" leaves what is known of it.
    """
    return write_answers(assignment, answers=answers, comment=comment, language=language) is not None


SAVED_FIRST = Change(
    lambda: Assignment.objects.filter(pk=Hole("pk", Assignment._meta.pk), saved_at__isnull=True),
    saved_at=Moment("now"),
    comment=Hole("comment", Assignment._meta.get_field("comment")),
)


@transaction.atomic
def write_answers(
    assignment: Assignment,
    *,
    answers: list[ItemAnswer],
    comment: str = "",
    language: str = "",
    responses: Sequence[Response] = (),
) -> str | None:
    """Do as `save_answers`, and return what `task_answers` would; None, and no change, if there were answers before.

    `responses`: the assignment's with items and outputs, where they have been read a moment ago.
    """
    now = timezone.now()
    if not SAVED_FIRST(pk=assignment.pk, now=now, comment=comment):
        return None
    assignment.saved_at, assignment.comment = now, comment
    responses = responses or _complete(assignment)
    data = _fill(responses, answers, language=language)
    reach("submit.writing")
    return json.dumps(data, ensure_ascii=True)


@transaction.atomic
def revise_answers(
    assignment: Assignment, *, answers: list[ItemAnswer], comment: str = "", language: str = ""
) -> bool:
    """Put other complete answers in the place of those written before, which are kept as a revision.

    False, and no change, if none were written before or the new ones say the same.
    """
    locked = (
        Assignment.objects.select_for_update(no_key=True)
        .filter(pk=assignment.pk, saved_at__isnull=False)
        .first()
    )
    if locked is None or (locked.comment == comment and content(given_answers(locked)) == content(answers)):
        return False
    locked.hit = assignment.hit
    _replace(locked, answers, language=language)
    Assignment.objects.filter(pk=assignment.pk).update(saved_at=timezone.now(), comment=comment)
    assignment.refresh_from_db()
    return True


def given_answers(assignment: Assignment) -> list[ItemAnswer]:
    """Return the complete answers of an assignment as they were given, in the order of the page."""
    return [answer_from_data(entry) for entry in _answers_as_data(assignment)]


def task_answers(assignment: Assignment) -> str:
    """Return the complete answers as JSON for the marketplace: one object per item, outputs by opaque code.

    It holds all that `recover` needs and nothing that tells a browser which system said what. Three queries.
    """
    return json.dumps(_answers_as_data(assignment), ensure_ascii=True)


def recover(assignment: Assignment, *, questionnaire: Questionnaire) -> bool:
    """Take the marketplace's copy where ours is missing or says something else. False if ours says the same.

    The marketplace knows who submitted; whoever opened our page only claimed to be that worker. Raises
    IncompleteAnswers if that copy is unreadable or not complete; nothing is written then.
    """
    if assignment.saved_at is not None and _is_ours(assignment):
        return False
    definition = questionnaire.batch.definition
    answers = copied_answers(assignment.answer_xml)
    asked = _asked(assignment, questionnaire, answers)
    if sorted(answer.position for answer in answers) != sorted(asked):
        raise IncompleteAnswers("The marketplace's copy does not answer every question.")
    shown = _shown_codes(questionnaire)
    for answer in answers:
        item = asked[answer.position]
        check(answer, item, definition, codes=shown[item.pk])
    answers = [only_asked(answer, definition) for answer in answers]
    comment = copied_fields(assignment.answer_xml).get("comment", "")
    try:
        with transaction.atomic():
            _write_missing_responses(assignment, questionnaire, asked, answers)
            write = save_answers if assignment.saved_at is None else revise_answers
            return write(assignment, answers=answers, comment=comment)
    except IntegrityError as error:
        if not is_about(error, Response, "worker_sees_item_once_per_batch"):
            raise
        raise IncompleteAnswers("This worker has worked on these questions in another HIT.") from error


def _is_ours(assignment: Assignment) -> bool:
    """Tell whether the marketplace's copy, if there is a readable one, says what we have."""
    try:
        return content(copied_answers(assignment.answer_xml)) == content(given_answers(assignment))
    except IncompleteAnswers:
        return True


def _seconds(measured: float) -> float:
    """Return what a browser measured within bounds: it can say anything, NaN and infinity too."""
    return min(measured, SECONDS_MAX) if measured > 0 else 0.0


def _replace(assignment: Assignment, answers: list[ItemAnswer], *, language: str) -> None:
    """Write complete answers in the place of others, which are kept as a revision."""
    responses, given = _complete(assignment), _given(assignment)
    before = [answer_as_data(response, given.get(response.pk, [])) for response in responses]
    data = {"answers": before, "comment": assignment.comment}
    AnswerRevision.objects.create(assignment=assignment, data=data)
    Rating.objects.filter(response__assignment=assignment).delete()
    _fill(responses, answers, language=language)


def _fill(responses: Sequence[Response], answers: list[ItemAnswer], *, language: str) -> list[dict[str, Any]]:
    """Write answers where there are none, and return them as data in the order of the page."""
    by_position = {answer.position: answer for answer in answers}
    ratings = dict[int, list[Given]]()
    for response in responses:
        answer = by_position[response.position]
        _fill_in(response, answer)
        response.shown |= {"language": language} if language else {}
        ratings[response.pk] = list(_ratings(response, answer))
    _write(responses, ["answer", "is_correct", "skip_reason", *(["shown"] if language else [])])
    written = list(chain.from_iterable(ratings.values()))
    keys = insert_values(written, model=Rating)
    if any(criterion.spans for criterion in responses[0].batch.definition.criteria):
        by_key = {response.pk: response for response in responses}
        MarkedSpan.objects.bulk_create(
            mark
            for rating, key in zip(written, keys, strict=True)
            for mark in _marks(rating, by_key[rating.response_id], key=key)
        )
    by_place = sorted(responses, key=attrgetter("place"))
    return [answer_as_data(one, sorted(ratings[one.pk], key=_as_ordered)) for one in by_place]


def _write(responses: Sequence[Response], columns: list[str]) -> None:
    """Write these columns of rows that are there: their assignment is locked, and goes before they do.

    In one statement, as rows that conflict with themselves: `bulk_update` compiles its own for a third of a submission.
    A draft may have come since they were read; of what it changed the seconds are kept where they are more.
    """
    given = ", ".join(f"{name} = EXCLUDED.{name}" for name in columns)
    written = insert(
        responses,
        on_conflict=f"ON CONFLICT (id) DO UPDATE SET {given}, {MORE_SECONDS}",
        returning=("id", SECONDS),
    )
    seconds = dict[int, float](written)
    for response in responses:
        response.active_seconds = seconds[response.pk]


SECONDS = "active_seconds"
STORED = f"{Response._meta.db_table}.{SECONDS}"
MORE_SECONDS = (
    f"{SECONDS} = CASE WHEN {STORED} > EXCLUDED.{SECONDS} THEN {STORED} ELSE EXCLUDED.{SECONDS} END"
)


def _as_ordered(rating: Given) -> tuple[int, str]:
    """Sort as the model does."""
    return rating.output_id or 0, rating.criterion


def _answers_as_data(assignment: Assignment) -> list[dict[str, Any]]:
    responses, given = _of_batch(ANSWERED.all(assignment=assignment.pk), assignment), _given(assignment)
    codes: dict[int, str] = dict(CODES.rows(assignment=assignment.pk))
    by_place = sorted(responses, key=attrgetter("place"))
    return [answer_as_data(response, given.get(response.pk, []), codes=codes) for response in by_place]


def _complete(assignment: Assignment) -> list[Response]:
    """Return the responses with their items and outputs."""
    return _of_batch(contents_of(WITHOUT_PICTURES, OUTPUTS, assignment=assignment.pk), assignment)


def _of_batch(responses: list[Response], assignment: Assignment) -> list[Response]:
    """They are all of one batch, which is read once."""
    batch = assignment.hit.questionnaire.batch
    for response in responses:
        response.batch = batch
    return responses


def _given(assignment: Assignment) -> dict[int, list[Given]]:
    """Return the ratings of an assignment as {response: [rating]}."""
    given = dict[int, list[Given]]()
    for rating in map(Given._make, RATINGS.rows(assignment=assignment.pk)):
        given.setdefault(rating.response_id, []).append(rating)
    return given


ASSIGNMENT = Hole("assignment", Assignment._meta.pk)
WITHOUT_PICTURES = Statement(lambda: with_contents(Response.objects.filter(assignment=ASSIGNMENT), OUTPUTS))
ANSWERED = Statement(lambda: Response.objects.filter(assignment=ASSIGNMENT))
CODES = Statement(
    lambda: Output.objects.filter(item__responses__assignment=ASSIGNMENT).order_by().values_list("pk", "code")
)
RATINGS = Statement(
    lambda: Rating.objects.filter(response__assignment=ASSIGNMENT).values_list(*Given._fields)
)


def _fill_in(response: Response, answer: ItemAnswer) -> None:
    gold = response.item.gold
    response.answer = answer.answer
    response.skip_reason = _borne_out(answer.skip_reason, response)
    response.is_correct = answer.answer == gold if gold and not answer.skip_reason else None
    response.active_seconds = max(response.active_seconds, _seconds(answer.active_seconds))


def _borne_out(skip_reason: str, response: Response) -> str:
    """Return why an item was not judged: that a file is gone is ours to say, not a browser's or a copy's.

    We look when it is first said: what is sent again is about what was, or was not, to be seen then.
    """
    if skip_reason not in UNSEEN:
        return skip_reason
    if response.skip_reason in UNSEEN:
        return response.skip_reason
    files = files_shown(response.item, response.shown_outputs, response.batch.definition)
    return FILE_UNSEEN if all(file.is_there for file in files) else FILE_GONE


def _ratings(response: Response, answer: ItemAnswer) -> Iterator[Given]:
    if answer.skip_reason:
        return
    definition = response.batch.definition
    outputs = {output.code: output for output in response.shown_outputs}
    for code, values in answer.ratings.items():
        for criterion in definition.output_criteria:
            yield from _criterion_ratings(response, outputs[code], criterion, values.get(criterion.key))
    for criterion in definition.item_criteria:
        yield from _criterion_ratings(response, None, criterion, answer.item_ratings.get(criterion.key))
    if definition.preference:
        for code, output in outputs.items():
            yield _preference_rating(response, output, definition.preference, answer.preference, code)


def _criterion_ratings(
    response: Response, output: Output | None, criterion: Criterion, given: str | list[str] | None
) -> Iterator[Given]:
    if given is None:
        return
    about = output.pk if output else None
    if isinstance(given, str):
        score = None if criterion.is_text else criterion.score(given)
        yield Given(response.pk, about, criterion.key, given, score)
        return
    for value in criterion.values:
        is_ticked = value in given
        said = "selected" if is_ticked else "not_selected"
        yield Given(response.pk, about, f"{criterion.key}.{value}", said, float(is_ticked))


def _marks(rating: Given, response: Response, *, key: int) -> Iterator[MarkedSpan]:
    """Yield the marks of a rating by spans; any other has none."""
    marked = {c.key: c.spans for c in response.batch.definition.criteria}.get(rating.criterion)
    if marked is None:
        return
    costs = {severity.value: severity.score or 0.0 for severity in marked.severities}
    judged = next((one.text for one in response.shown_outputs if one.pk == rating.output_id), "")
    texts = {**response.item.payload.get("blocks", {}), "": judged}
    for number, mark in enumerate(spans.read(rating.value), 1):
        length, cost = len(texts[mark.column]), costs[mark.severity]
        yield MarkedSpan(rating_id=key, number=number, length=length, cost=cost, **asdict(mark))


def _preference_rating(
    response: Response, output: Output, preference: Preference, given: str | dict[str, str], code: str
) -> Given:
    if isinstance(given, dict):
        place = given[code]
    else:
        place = NO_PREFERENCE if not given else PREFERRED if given == code else OTHER
    score = WAYS[preference.by].score(place)
    return Given(response.pk, output.pk, preference.key, place, score)


def _write_missing_responses(
    assignment: Assignment,
    questionnaire: Questionnaire,
    asked: Mapping[int, Item],
    answers: list[ItemAnswer],
) -> None:
    """Where our rows are lost too, the copy says in which order the items and the outputs were shown."""
    has_places = questionnaire.batch.design is not None and len(answers) > 1
    n_items = len({item.pk for item in asked.values()})
    there = set(assignment.responses.values_list("position", flat=True))
    for place, answer in enumerate(answers, 1):
        if answer.position in there:
            continue
        item = asked[answer.position]
        ids = {output.code: output.pk for output in item.outputs.all()}
        Response.objects.create(
            assignment=assignment,
            batch=questionnaire.batch,
            worker=assignment.worker,
            item=item,
            position=answer.position,
            shown={"outputs": [ids[code] for code in answer.ratings], "choices": []}
            | ({"place": place} if has_places else {}),
            is_repeat=answer.position > n_items,
        )


def _asked(
    assignment: Assignment, questionnaire: Questionnaire, answers: list[ItemAnswer]
) -> dict[int, Item]:
    """Return what was asked at each position: what we drew, else what a copy in the order of its page tells of it."""
    items = {slot.position: slot.item for slot in _slots(questionnaire)}
    rows = (
        assignment.responses.filter(is_repeat=True).select_related("item").prefetch_related("item__outputs")
    )
    if assignment.responses.exists():
        return items | {row.position: row.item for row in rows}
    page = [items[answer.position] for answer in answers if answer.position in items]
    return items | dict(enumerate(items_again(page, batch=questionnaire.batch), len(items) + 1))


def _shown_codes(questionnaire: Questionnaire) -> dict[int, set[str]]:
    """Return the codes of the outputs that are shown, by item."""
    return {slot.item_id: {output.code for output in slot.shown_outputs} for slot in _slots(questionnaire)}


def _slots(questionnaire: Questionnaire) -> list[QuestionnaireItem]:
    return list(
        questionnaire.slots.select_related("item")
        .prefetch_related("item__outputs", "outputs")
        .order_by("position")
    )
