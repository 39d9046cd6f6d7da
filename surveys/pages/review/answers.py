"""What one worker answered, beside what was right and who said what. For reviewers only: it shows gold."""

from collections.abc import Iterator
from dataclasses import dataclass

from annotators.models import Assignment
from surveys.answering.presentation import ShownBlock, files_of, shown_blocks
from surveys.models import Item, Output, Picture, Rating, Response
from surveys.pages.review.marked_texts import Piece, in_words, pieces_of
from surveys.protocols.criteria import Criterion, Preference, numbered
from surveys.protocols.definition import UNSEEN, Definition
from surveys.protocols.preferences import OTHER
from surveys.protocols.spans import read


@dataclass(frozen=True, slots=True)
class RatedOutput:
    """An output as the worker saw it, on side `side` (from 1), and what they said: (question, answer) pairs."""

    side: int
    system: str
    text: str
    judgements: tuple[tuple[str, str], ...]
    is_preferred: bool
    pieces: tuple[Piece, ...] = ()
    files: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class AnsweredItem:
    """One item with the worker's answer, the gold answer, and the outputs in the order shown."""

    position: int
    is_repeat: bool
    external_id: str
    question: str
    blocks: tuple[tuple[ShownBlock, ...], ...]
    pictures: tuple[Picture, ...]
    choices: tuple[str, ...]
    answer: str
    gold: str
    is_correct: bool | None
    skip_reason: str
    active_seconds: float
    outputs: tuple[RatedOutput, ...]
    judgements: tuple[tuple[str, str], ...]
    preference: str


def answered_items(assignment: Assignment, *, definition: Definition) -> list[AnsweredItem]:
    """Return the assignment's items in order, in a constant number of queries."""
    responses = assignment.responses.select_related("item").prefetch_related(
        "item__pictures", "item__outputs", "ratings"
    )
    return [answered_item(response, definition=definition) for response in responses.order_by("position")]


def answered_item(response: Response, *, definition: Definition) -> AnsweredItem:
    """Return one answer, with no query where the item's pictures and outputs and the ratings are prefetched."""
    item, ratings = response.item, list(response.ratings.all())
    labels = {choice.value: choice.label for choice in item.choices_for(definition)}
    outputs = tuple(_rated_outputs(response, ratings, definition))
    return AnsweredItem(
        position=response.position,
        is_repeat=response.is_repeat,
        external_id=item.external_id,
        question=str(item.payload.get("question", "")),
        blocks=shown_blocks(item, definition=definition),
        pictures=tuple(picture for picture in item.pictures.all() if not picture.block),
        choices=tuple(labels.get(value, value) for value in response.shown.get("choices", [])),
        answer=labels.get(response.answer, response.answer),
        gold=labels.get(item.gold, item.gold),
        is_correct=response.is_correct,
        skip_reason=UNSEEN.get(response.skip_reason, response.skip_reason),
        active_seconds=response.active_seconds,
        outputs=outputs,
        judgements=_judgements(ratings, definition.item_criteria, output_id=None),
        preference=_preference(ratings, outputs, definition),
    )


def _rated_outputs(
    response: Response, ratings: list[Rating], definition: Definition
) -> Iterator[RatedOutput]:
    preferred = {rating.output_id for rating in ratings if rating.value == "preferred"}
    for side, output in enumerate(_in_order(response.item, response.shown.get("outputs", [])), 1):
        yield RatedOutput(
            side=side,
            system=output.system,
            text=output.text,
            judgements=_judgements(ratings, definition.output_criteria, output_id=output.pk),
            is_preferred=output.pk in preferred,
            pieces=_pieces(ratings, definition, output),
            files=tuple(files_of(output, response.item)),
        )


def _pieces(ratings: list[Rating], definition: Definition, output: Output) -> tuple[Piece, ...]:
    """Return the text of an output in pieces, as somebody marked it; it can be marked by one question."""
    marked = {criterion.key: criterion.spans for criterion in definition.output_criteria if criterion.spans}
    for rating in ratings:
        if rating.output_id == output.pk and (spans := marked.get(rating.criterion)):
            return pieces_of(output.text, read(rating.value), spans=spans)
    return (Piece(output.text),)


NOTHING_TICKED = "None ticked"


def _in_order(item: Item, order: list[int]) -> list[Output]:
    """Return the outputs that were shown, in their order; all where nothing says which."""
    places = {pk: place for place, pk in enumerate(order)}
    shown = [output for output in item.outputs.all() if output.pk in places or not places]
    return sorted(shown, key=lambda output: places.get(output.pk, 0))


def _judgements(
    ratings: list[Rating], criteria: tuple[Criterion, ...], *, output_id: int | None
) -> tuple[tuple[str, str], ...]:
    values = {r.criterion: r for r in ratings if r.output_id == output_id}
    return tuple((criterion.label, _given(criterion, values)) for criterion in criteria)


def _given(criterion: Criterion, ratings: dict[str, Rating]) -> str:
    if criterion.is_checklist:
        keys = {choice.label: f"{criterion.key}.{choice.value}" for choice in criterion.choices}
        given = {label: ratings[key].score for label, key in keys.items() if key in ratings}
        return ", ".join(label for label, score in given.items() if score) or (
            NOTHING_TICKED if given else ""
        )
    labels = {choice.value: choice.label for choice in criterion.choices}
    rating = ratings.get(criterion.key)
    if rating and criterion.spans:
        return "; ".join(in_words(read(rating.value), spans=criterion.spans))
    return labels.get(rating.value, rating.value) if rating else ""


def _preference(ratings: list[Rating], outputs: tuple[RatedOutput, ...], definition: Definition) -> str:
    if definition.preference is None or not any(r.criterion == definition.preference.key for r in ratings):
        return ""
    if definition.preference.by != "choice":
        return _places(ratings, outputs, definition.preference)
    preferred = [output for output in outputs if output.is_preferred]
    if not preferred:
        return definition.preference.none_label
    label = numbered(definition.preference.output_label, preferred[0].side)
    return f"{label} ({preferred[0].system})"


def _places(ratings: list[Rating], outputs: tuple[RatedOutput, ...], preference: Preference) -> str:
    """Return the place of each output; of best and worst, theirs."""
    given = {r.output.system: r.value for r in ratings if r.output and r.criterion == preference.key}
    return ", ".join(
        f"{numbered(preference.output_label, output.side)} ({output.system}): {given[output.system]}"
        for output in outputs
        if given.get(output.system, OTHER) != OTHER
    )
