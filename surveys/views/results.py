"""The numbers of a batch as a page shows them: one grid, its drawings, and how far raters agree."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from django.core.cache import cache
from django.db.models import Count, Max

from annotators.models import Assignment
from surveys.aggregation import BLANK, Counts, CriterionSummary, Minutes, Selection, Share, SystemSummary
from surveys.agreement import Agreement
from surveys.exports import Report, make_report
from surveys.frames.database import SUBMITTED, read_batch
from surveys.intervals import Interval
from surveys.models import Batch
from surveys.views.charts import Chart, score_chart, share_chart

CACHED_SECONDS = 3600
SELECTIONS = {
    "all": "All submitted",
    "kept": "Kept (not rejected)",
    "filtered": "Filtered (kept, answer right)",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A number and what it counts, over `span` columns."""

    text: str
    note: str = ""
    span: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that answer one question."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """What a results page shows. `columns` repeats the systems for each of `selections`."""

    counts: Counts
    minutes: Minutes
    systems: tuple[str, ...]
    selections: tuple[str, ...]
    columns: tuple[str, ...]
    blocks: tuple[Block, ...]
    scores: Chart
    shares: tuple[Chart, ...]
    agreement: tuple[Agreement, ...]


def results(batch: Batch) -> Results | None:
    """Return a batch's results, None before anything was submitted. Counted anew only when something changed."""
    state = _state(batch)
    if not state["n"]:
        return None
    key = f"results:{batch.pk}:" + ":".join(str(value).replace(" ", "_") for value in state.values())
    return cache.get_or_set(key, lambda: arrange(make_report(read_batch(batch))), CACHED_SECONDS)


def arrange(report: Report) -> Results:
    """Lay out a report's numbers as a page shows them."""
    summary = report.summary
    selections = summary.selections
    systems = tuple(report.systems)
    criteria = summary.kept.systems[0].criteria if summary.kept.systems else ()
    scales = [criterion for criterion in criteria if criterion.score is not None]
    return Results(
        counts=summary.counts,
        minutes=summary.minutes,
        systems=systems,
        selections=tuple(SELECTIONS[selection.name] for selection in selections),
        columns=systems * len(selections),
        blocks=tuple(_blocks(selections, criteria, headline=summary.headline)),
        scores=score_chart(selections, key=summary.headline, title="Mean score, with its 95 % interval."),
        shares=tuple(share_chart(summary.kept, key=c.key, title=c.label) for c in scales),
        agreement=report.agreement,
    )


def _state(batch: Batch) -> dict[str, object]:
    """Return values that change whenever the results do."""
    submitted = Assignment.objects.filter(hit__questionnaire__batch=batch, status__in=SUBMITTED)
    times = {name: Max(name) for name in ("saved_at", "submitted_at", "approved_at", "rejected_at")}
    return submitted.aggregate(n=Count("pk"), decided_at=Max("decision__decided_at"), **times)


def _blocks(
    selections: Iterable[Selection], criteria: Iterable[CriterionSummary], *, headline: str
) -> Iterable[Block]:
    selections = tuple(selections)
    if any(selection.correct for selection in selections):
        yield Block("Answers", (_accuracy(selections),))
    for place, about_item in enumerate(selections[0].criteria):
        yield Block(about_item.label, tuple(_item_rows(selections, place)))
    for criterion in criteria:
        sure = _interval_rows(selections) if criterion.key == headline else ()
        rows = [*_score_rows(selections, criterion), *sure, *_share_rows(selections, criterion)]
        yield Block(criterion.label, tuple(rows))
    if any(system.evil for selection in selections for system in selection.systems):
        yield Block("e-ViL scores, on the items that were rated", tuple(_evil_rows(selections)))
    if selections[0].preference:
        yield Block("Preference", tuple(_preference_rows(selections)))


def _accuracy(selections: tuple[Selection, ...]) -> Row:
    return Row("Answer right", tuple(_share(s.correct, span=len(s.systems)) for s in selections))


def _score_rows(selections: tuple[Selection, ...], criterion: CriterionSummary) -> Iterable[Row]:
    if criterion.score is not None:
        yield _row("Mean of ratings", selections, lambda s: _rating_mean(s.criterion(criterion.key)))
        yield _row("Mean of item means", selections, lambda s: _item_mean(s.criterion(criterion.key)))


def _share_rows(selections: tuple[Selection, ...], criterion: CriterionSummary) -> Iterable[Row]:
    for place, share in enumerate(criterion.shares):
        if share.key != BLANK or _is_anywhere(selections, criterion.key, place):
            yield _row(share.label, selections, partial(_criterion_share, key=criterion.key, place=place))


def _item_rows(selections: tuple[Selection, ...], place: int) -> Iterable[Row]:
    """Rows of a criterion about the item; its cells span a selection's systems."""
    found = [(selection.criteria[place], len(selection.systems)) for selection in selections]
    if found[0][0].score:
        for label, cell in (("Mean of ratings", _rating_mean), ("Mean of item means", _item_mean)):
            yield Row(label, tuple(replace(cell(criterion), span=span) for criterion, span in found))
    for n, share in enumerate(found[0][0].shares):
        if share.key != BLANK or any(criterion.shares[n].count for criterion, _ in found):
            yield Row(share.label, tuple(_share(criterion.shares[n], span=span) for criterion, span in found))


def _interval_rows(selections: tuple[Selection, ...]) -> Iterable[Row]:
    yield _row("95 % interval", selections, lambda system: _between(system.interval))
    if any(system.difference for selection in selections for system in selection.systems):
        yield _row("Difference from the reference", selections, _difference)
        yield _row(
            "95 % interval of the difference",
            selections,
            lambda system: _between(system.difference.interval) if system.difference else Cell(""),
        )


def _evil_rows(selections: tuple[Selection, ...]) -> Iterable[Row]:
    yield _row("S_T, answers of the model", selections, _task)
    yield _row("S_E, explanations", selections, _explanation)
    yield _row("S_O = S_T · S_E", selections, _overall)


def _preference_rows(selections: tuple[Selection, ...]) -> Iterable[Row]:
    """A row per thing that could be preferred; its cells span a selection's systems."""
    for place, share in enumerate(selections[0].preference):
        cells = tuple(_share(s.preference[place], span=len(s.systems)) for s in selections)
        if share.key != BLANK or any(s.preference[place].count for s in selections):
            yield Row(share.label, cells)


def _row(label: str, selections: tuple[Selection, ...], cell: Callable[[SystemSummary], Cell]) -> Row:
    return Row(label, tuple(cell(system) for selection in selections for system in selection.systems))


def _is_anywhere(selections: tuple[Selection, ...], key: str, place: int) -> bool:
    return any(sys.criterion(key).shares[place].count for s in selections for sys in s.systems)


def _criterion_share(system: SystemSummary, *, key: str, place: int) -> Cell:
    return _share(system.criterion(key).shares[place])


def _rating_mean(criterion: CriterionSummary) -> Cell:
    score = criterion.score
    return Cell(_number(score.rating_mean), f"{score.ratings} ratings") if score else Cell("–")


def _item_mean(criterion: CriterionSummary) -> Cell:
    score = criterion.score
    return Cell(_number(score.item_mean), f"{score.items} items") if score else Cell("–")


def _between(interval: Interval | None) -> Cell:
    if interval is None:
        return Cell("–", "too few items or workers")
    warning = (
        f"few workers: {interval.workers}" if interval.has_few_workers else f"{interval.workers} workers"
    )
    return Cell(f"{_number(interval.low)} to {_number(interval.high)}", warning)


def _difference(system: SystemSummary) -> Cell:
    found = system.difference
    return Cell(_number(found.mean), f"{found.pairs} pairs") if found else Cell("")


def _task(system: SystemSummary) -> Cell:
    scores = system.evil
    return Cell(_number(scores.task), f"{scores.items_right} of {scores.items} items") if scores else Cell("")


def _explanation(system: SystemSummary) -> Cell:
    return Cell(_number(system.evil.explanation)) if system.evil else Cell("")


def _overall(system: SystemSummary) -> Cell:
    return Cell(_number(system.evil.overall)) if system.evil else Cell("")


def _share(share: Share | None, *, span: int = 1) -> Cell:
    if share is None:
        return Cell("–", span=span)
    text = "–" if share.share is None else f"{100 * share.share:.1f} %"
    return Cell(text, f"{share.count} of {share.total}", span)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}".replace("-", "−")
