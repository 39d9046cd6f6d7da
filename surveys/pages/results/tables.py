"""The rows of the grid of results, block by block: a question, and every number that answers it."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from surveys.pages.results.result_cells import (
    NOTHING,
    Block,
    Cell,
    Row,
    interval_cell,
    interval_row,
    number,
    places_of,
    row_of,
    share_cell,
)
from surveys.results.statistics.numbers import BLANK, CriterionSummary, Selection, SystemSummary

Selections = tuple[Selection, ...]


def blocks_of(
    selections: Selections, criteria: Iterable[CriterionSummary], *, headline: str
) -> Iterable[Block]:
    """Yield the blocks there is something to say in; `criteria` are those about outputs."""
    if any(selection.correct for selection in selections):
        yield Block("Answers", (_accuracy(selections),))
    for place, about_item in enumerate(selections[0].criteria):
        yield Block(about_item.label, tuple(_item_rows(selections, place)))
    for criterion in criteria:
        yield Block(criterion.label, tuple(_criterion_rows(selections, criterion, headline=headline)))
    if any(system.skipped for selection in selections for system in selection.systems):
        yield Block("Skipped", tuple(_skip_rows(selections)))
    if any(system.evil for selection in selections for system in selection.systems):
        yield Block("e-ViL scores, on the items that were rated", tuple(_evil_rows(selections)))
    if selections[0].preference:
        yield Block("Preference", tuple(_preference_rows(selections)))


def _accuracy(selections: Selections) -> Row:
    return Row("Answer right", tuple(share_cell(s.correct, span=len(s.systems)) for s in selections))


def _criterion_rows(selections: Selections, criterion: CriterionSummary, *, headline: str) -> Iterable[Row]:
    key = criterion.key
    if criterion.score is not None:
        yield row_of("Mean of ratings", selections, lambda s: _rating_mean(s.criterion(key)))
        yield row_of("Mean of item means", selections, lambda s: _item_mean(s.criterion(key)))
        yield row_of("Standard deviation", selections, lambda s: _deviation(s.criterion(key)))
        places = places_of(criterion)
        cells = [interval_cell(s.criterion(key).interval, places=places) for s in _systems(selections)]
        yield interval_row("95 % interval", tuple(cells))
    if key == headline:
        yield from _difference_rows(selections)
    if criterion.good is not None:
        yield row_of(criterion.good.label, selections, lambda s: share_cell(s.criterion(key).good))
    for place, share in enumerate(criterion.shares):
        if share.key != BLANK or _is_anywhere(selections, key, place):
            yield row_of(share.label, selections, partial(_criterion_share, key=key, place=place))


def _systems(selections: Selections) -> list[SystemSummary]:
    return [system for selection in selections for system in selection.systems]


def _item_rows(selections: Selections, place: int) -> Iterable[Row]:
    """Rows of a criterion about the item; its cells span a selection's systems."""
    found = [(s.criteria[place], len(s.systems)) for s in selections if s.criteria]
    if found[0][0].score:
        for label, cell in (("Mean of ratings", _rating_mean), ("Mean of item means", _item_mean)):
            yield Row(label, tuple(replace(cell(criterion), span=span) for criterion, span in found))
    for n, share in enumerate(found[0][0].shares):
        if share.key != BLANK or any(criterion.shares[n].count for criterion, _ in found):
            yield Row(
                share.label, tuple(share_cell(criterion.shares[n], span=span) for criterion, span in found)
            )


def _difference_rows(selections: Selections) -> Iterable[Row]:
    if not any(system.difference for system in _systems(selections)):
        return
    yield row_of("Difference from the reference", selections, _difference)
    intervals = [system.difference and system.difference.interval for system in _systems(selections)]
    if any(intervals):
        cells = tuple(interval_cell(i, places=4) if i else Cell("") for i in intervals)
        yield Row("95 % interval of the difference", cells)


def _skip_rows(selections: Selections) -> Iterable[Row]:
    yield row_of("Skipped", selections, _skipped)
    for place, reason in enumerate(selections[0].systems[0].reasons):
        if any(len(s.reasons) > place and s.reasons[place].count for s in _systems(selections)):
            yield row_of(reason.label, selections, partial(_reason, key=reason.key))


def _skipped(system: SystemSummary) -> Cell:
    return Cell(str(system.skipped), f"of {system.skipped + system.responses}")


def _reason(system: SystemSummary, *, key: str) -> Cell:
    return Cell(str(sum(reason.count for reason in system.reasons if reason.key == key)))


def _evil_rows(selections: Selections) -> Iterable[Row]:
    yield row_of("S_T, answers of the model", selections, _task)
    yield row_of("S_E, explanations", selections, _explanation)
    yield row_of("S_O = S_T · S_E", selections, _overall)


def _preference_rows(selections: Selections) -> Iterable[Row]:
    """A row per thing that could be preferred; its cells span a selection's systems."""
    for place, share in enumerate(selections[0].preference):
        cells = tuple(share_cell(s.preference[place], span=len(s.systems)) for s in selections)
        if share.key != BLANK or any(s.preference[place].count for s in selections):
            yield Row(share.label, cells)


def _is_anywhere(selections: Selections, key: str, place: int) -> bool:
    return any(system.criterion(key).shares[place].count for system in _systems(selections))


def _criterion_share(system: SystemSummary, *, key: str, place: int) -> Cell:
    return share_cell(system.criterion(key).shares[place])


def _rating_mean(criterion: CriterionSummary) -> Cell:
    score = criterion.score
    if score is None:
        return Cell(NOTHING)
    return Cell(number(score.rating_mean, places=places_of(criterion)), f"{score.ratings} ratings")


def _item_mean(criterion: CriterionSummary) -> Cell:
    score = criterion.score
    if score is None:
        return Cell(NOTHING)
    return Cell(number(score.item_mean, places=places_of(criterion)), f"{score.items} items")


def _deviation(criterion: CriterionSummary) -> Cell:
    sd = criterion.score.sd if criterion.score else None
    return Cell(number(sd, places=places_of(criterion)))


def _difference(system: SystemSummary) -> Cell:
    found = system.difference
    return Cell(number(found.mean), f"{found.pairs} pairs") if found else Cell("")


def _task(system: SystemSummary) -> Cell:
    scores = system.evil
    if scores is None:
        return Cell("")
    if not scores.items:
        unknown = "the model’s answers are not known: output_answer was not in the import"
        return Cell(NOTHING, unknown if system.responses else "")
    return Cell(number(scores.task), f"{scores.items_right} of {scores.items} items")


def _explanation(system: SystemSummary) -> Cell:
    return Cell(number(system.evil.explanation)) if system.evil else Cell("")


def _overall(system: SystemSummary) -> Cell:
    return Cell(number(system.evil.overall)) if system.evil else Cell("")
