"""The tables of a results page: what they are made of, how numbers are written, and what stands in each."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from surveys.pages.results.cells import (
    DAGGER,
    Block,
    Cell,
    Row,
    between_percent,
    ends,
    few,
    in_percent,
    interval_cell,
    interval_row,
    places_of,
    probability,
    share_cell,
    tested_cell,
)
from surveys.results.frames.base import SELECTED
from surveys.results.printed import NOTHING, known, level_text, number
from surveys.results.statistics.choices import Choices, Preferred
from surveys.results.statistics.comparison import Comparison, Difference, Estimate
from surveys.results.statistics.criteria import GOOD, UNTICKED
from surveys.results.statistics.inference import ALPHA
from surveys.results.statistics.numbers import (
    BLANK,
    CriterionSummary,
    Selection,
    Share,
    SystemSummary,
)
from surveys.results.statistics.worker_quality import ByQuality

TESTED = ("kept", "filtered")
ROWS = {
    "all": "All submitted",
    "kept": "Kept (not rejected or left out)",
    "filtered": "Filtered (kept, answer right)",
}
BY_QUALITY = "Kept, by worker quality"
PREFERENCE = "Preference"
Selections = tuple[Selection, ...]


def blocks_of(
    selections: Selections,
    criteria: Iterable[CriterionSummary],
    *,
    comparison: Comparison,
    choices: Choices,
    headline: str,
) -> Iterable[Block]:
    """Yield the blocks about systems, a cell for each of each selection; `criteria` are those about outputs."""
    for criterion in criteria:
        rows = [*_criterion_rows(selections, criterion, choices)]
        place = 4 if criterion.score is not None else 0
        tested = _difference_rows(selections, comparison, key=criterion.key, headline=headline)
        yield Block(criterion.label, (*rows[:place], *tested, *rows[place:]))
    systems = _systems(selections)
    if any(system.skipped for system in systems):
        yield Block("Skipped", tuple(_skip_rows(selections)))
    if any(system.evil for system in systems):
        yield Block("e-ViL scores", tuple(_evil_rows(selections, headline)))


def item_blocks_of(selections: Selections, choices: Choices, by_quality: ByQuality | None) -> Iterable[Block]:
    """Yield the blocks about items as a whole, a cell for each selection: they are no system's."""
    if any(selection.correct for selection in selections):
        right = Row("Answer right", tuple(share_cell(s.correct) for s in selections), {"answer": "right"})
        likeliest = [by_quality.correct if by_quality and s.name == "kept" else None for s in selections]
        cells = tuple(share_cell(share) if share else Cell("") for share in likeliest)
        quality = (
            (Row("Likeliest answer by worker quality right, of items", cells, {}),) if any(likeliest) else ()
        )
        yield Block("Answers", (right, *quality))
    for place, about_item in enumerate(selections[0].criteria):
        if rows := tuple(_item_rows(selections, place)):  # a text has none: it is read among the answers
            yield Block(about_item.label, rows)
    if selections[0].preference:
        yield Block(PREFERENCE, (*_preference_rows(selections), *_preferred_rows(selections, choices)))


def _criterion_rows(selections: Selections, criterion: CriterionSummary, choices: Choices) -> Iterable[Row]:
    key, rated = criterion.key, {"criterion": criterion.key}
    if criterion.score is not None:
        yield row_of("Mean of ratings", selections, lambda s: _rating_mean(s.criterion(key)), rated)
        yield row_of("Mean of item means", selections, lambda s: _item_mean(s.criterion(key)), rated)
        yield row_of("Standard deviation", selections, lambda s: _deviation(s.criterion(key)), rated)
        places = places_of(criterion)
        cells = [interval_cell(s.criterion(key).interval, places=places) for s in _systems(selections)]
        yield interval_row("95 % interval", tuple(cells), rated)
    if criterion.good is not None:
        yield row_of(
            criterion.good.label,
            selections,
            lambda s: share_cell(s.criterion(key).good),
            rated | {"value": GOOD},
        )
    for place, share in enumerate(criterion.shares):
        if share.key != BLANK or _is_anywhere(selections, key, place):
            share_of = partial(_criterion_share, key=key, place=place)
            yield row_of(share.label, selections, share_of, _said(criterion, share))
        if criterion.is_checklist:
            yield from _ticked_rows(selections, choices, key=f"{key}.{share.key}", label=share.label)


def _said(criterion: CriterionSummary, share: Share) -> dict[str, str] | None:
    """Return what was said by those a share counts; who said nothing has no rating to list."""
    if share.key == BLANK:
        return None
    if criterion.is_checklist and share.key != UNTICKED:
        return {"criterion": f"{criterion.key}.{share.key}", "value": SELECTED}
    return {"criterion": criterion.key, "value": share.key}


def _ticked_rows(selections: Selections, choices: Choices, *, key: str, label: str) -> Iterable[Row]:
    """Yield the row of differences from the system compared with, if any was looked at."""
    cells = [_ticked(s.name, system, choices, key=key) for s in selections for system in s.systems]
    if any(cell.text for cell in cells):
        yield Row(f"{label}: difference, tested", tuple(cells), {"criterion": key})


def _ticked(selection: str, system: SystemSummary, choices: Choices, *, key: str) -> Cell:
    if selection not in TESTED:
        return Cell("")
    found = choices.difference(system.system, key, filtered=selection == "filtered")
    return tested_cell(found) if found else Cell("")


def _systems(selections: Selections) -> list[SystemSummary]:
    return [system for selection in selections for system in selection.systems]


def _item_rows(selections: Selections, place: int) -> Iterable[Row]:
    """Rows of a criterion about the item."""
    found = [selection.criteria[place] for selection in selections]
    if found[0].score:
        rated = {"criterion": found[0].key}
        yield Row("Mean of ratings", tuple(map(_rating_mean, found)), rated)
        yield Row("Mean of item means", tuple(map(_item_mean, found)), rated)
        cells = [interval_cell(criterion.interval, places=places_of(criterion)) for criterion in found]
        yield interval_row("95 % interval", tuple(cells), rated)
    for n, share in enumerate(found[0].shares):
        if share.key != BLANK or any(criterion.shares[n].count for criterion in found):
            shares = tuple(share_cell(criterion.shares[n]) for criterion in found)
            yield Row(share.label, shares, _said(found[0], share))


def _difference_rows(
    selections: Selections, comparison: Comparison, *, key: str, headline: str
) -> Iterable[Row]:
    """Rows for a protocol with a reference; what is tested, and how sure it is, says the comparison alone."""
    if not any(system.difference for system in _systems(selections)):
        return
    if key == headline:
        yield row_of("Difference from the reference", selections, _difference, {"criterion": key})
    cells = [_tested(s.name, system, comparison, key=key) for s in selections for system in s.systems]
    if any(cell.text for cell in cells):
        yield Row("Difference of item means, tested", tuple(cells), {"criterion": key})


def _tested(selection: str, system: SystemSummary, comparison: Comparison, *, key: str) -> Cell:
    if selection not in TESTED:
        return Cell("")
    found = comparison.difference(system.system, key, filtered=selection == "filtered")
    return tested_cell(found) if found else Cell("")


def _skip_rows(selections: Selections) -> Iterable[Row]:
    yield row_of("Skipped", selections, _skipped, {"skipped": "any"})
    for place, reason in enumerate(selections[0].systems[0].reasons):
        if any(len(s.reasons) > place and s.reasons[place].count for s in _systems(selections)):
            yield row_of(reason.label, selections, partial(_reason, key=reason.key), {"skipped": reason.key})


def _skipped(system: SystemSummary) -> Cell:
    return Cell(str(system.skipped), f"of {system.skipped + system.responses}")


def _reason(system: SystemSummary, *, key: str) -> Cell:
    return Cell(str(sum(reason.count for reason in system.reasons if reason.key == key)))


def _evil_rows(selections: Selections, headline: str) -> Iterable[Row]:
    """Yield what a model answered, what was said of its explanations where that was right, and both."""
    rated = {"criterion": headline}
    yield row_of("S_T, answers of the model", selections, _task, rated)
    yield row_of("S_E, explanations", selections, _explanation, {**rated, "decided": "right"})
    yield row_of("S_O = S_T · S_E", selections, _overall, rated)


def _preference_rows(selections: Selections) -> Iterable[Row]:
    """A row per thing that could be preferred."""
    for place, share in enumerate(selections[0].preference):
        cells = tuple(share_cell(s.preference[place]) for s in selections)
        if share.key != BLANK or any(s.preference[place].count for s in selections):
            yield Row(share.label, cells, None if share.key == BLANK else {"preferred": share.key})


def _preferred_rows(selections: Selections, choices: Choices) -> Iterable[Row]:
    """What was tested of each system's preference, and how it stands with ties told apart."""
    tested = {"kept": choices.preferred, "filtered": choices.preferred_filtered}
    for place, one in enumerate(choices.preferred):
        pair = f"{one.system} against {one.against}"
        found = [tested[s.name][place] if tested.get(s.name) else None for s in selections]
        shown, won = {"of": one.system}, {"preferred": one.system}
        yield Row(f"{pair}: won less lost, tested", tuple(_net(each) for each in found), shown)
        yield Row(f"{pair}: win rate, ties half", tuple(_rate(each) for each in found), shown)
        yield Row(f"{pair}: win rate without ties", tuple(_decided(each) for each in found), won)


def _net(found: Preferred | None) -> Cell:
    if found is None:
        return Cell("")
    if found.interval is None or found.net is None or found.corrected is None:
        return Cell(number(found.net), found.untested)
    net = known(found.net, found.interval)
    text = f"{net}{DAGGER if found.dagger else ''} ({ends(found.interval)})"
    return Cell(text, f"{probability(found.corrected)}, {level_text(found.interval.level)}{few(found)}")


def _rate(found: Preferred | None) -> Cell:
    if found is None:
        return Cell("")
    counts = f"{found.wins} won, {found.ties} tied, {found.losses} lost"
    return Cell(in_percent(found.rate), f"{counts}{between_percent(found.rate_interval)}")


def _decided(found: Preferred | None) -> Cell:
    if found is None:
        return Cell("")
    counts = f"{found.wins} of {found.wins + found.losses}"
    return Cell(in_percent(found.decided), f"{counts}{between_percent(found.decided_interval)}")


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
    if scores.whole is not None:
        note = "of the whole test set, as entered" if system.responses else ""
        return Cell(number(scores.s_t), note, behind=None)
    if not scores.items:
        unknown = "the model’s answers are not known: output_answer was not in the import"
        return Cell(NOTHING, unknown if system.responses else "")
    if scores.is_by_construction:
        return Cell(NOTHING, f"right on all {scores.items} items that were rated: enter the whole test set’s")
    return Cell(number(scores.s_t), f"{scores.items_right} of {scores.items} items")


def _explanation(system: SystemSummary) -> Cell:
    return Cell(number(system.evil.explanation)) if system.evil else Cell("")


def _overall(system: SystemSummary) -> Cell:
    if system.evil is None:
        return Cell("")
    return Cell(number(system.evil.s_o))


@dataclass(frozen=True, slots=True)
class SystemRow:
    """One system's row. `is_against`: the others are compared with it."""

    system: str
    is_against: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class SystemsTable:
    """The table a paper prints: systems down, criteria across, a mean with its spread, and daggers."""

    criteria: tuple[str, ...]
    rows: tuple[SystemRow, ...]
    note: str


def systems_table(comparison: Comparison, *, criteria: tuple[CriterionSummary, ...]) -> SystemsTable:
    """Lay out a comparison; `criteria` are its scales, in order. The note says what the daggers mean."""
    rows = tuple(
        SystemRow(
            system,
            system == comparison.against,
            tuple(_estimate(of[c.key], comparison.difference(system, c.key)) for c in criteria),
        )
        for system, of in comparison.estimates.items()
    )
    is_alone = len(rows) < 2
    meaning = f"{DAGGER} differs from {comparison.against}, p < {ALPHA:g}. {comparison.method.name}"
    reasons = (found.reason for found in comparison.strangers)
    note = " ".join(text for text in (meaning, comparison.caution, *reasons) if text)
    return SystemsTable(tuple(c.label for c in criteria), rows, "" if is_alone else note)


def difference_rows(comparison: Comparison, *, labels: Mapping[str, str]) -> Iterator[Row]:
    """Yield a row for each system, criterion (`labels`: {key: label}) and choice of rows, with the effect's sizes."""
    for name, differences in (("kept", comparison.differences), ("filtered", comparison.filtered)):
        for found in differences:
            sizes = (_standardised(found), _superiority(found))
            cells = (Cell(labels[found.criterion]), Cell(name), tested_cell(found), *sizes)
            yield Row(found.system, cells, {"criterion": found.criterion, "of": found.system, "rows": name})


def _standardised(found: Difference) -> Cell:
    if found.standardised is None:
        return Cell(NOTHING)
    interval = found.standardised_interval
    between = f"{number(interval.low, places=2)} to {number(interval.high, places=2)}" if interval else ""
    return Cell(number(found.standardised, places=2), between)


def _superiority(found: Difference) -> Cell:
    interval = found.superiority_interval
    between = f"{100 * interval.low:.0f} to {100 * interval.high:.0f} %" if interval else ""
    return Cell(in_percent(found.superiority), between)


def _estimate(found: Estimate, difference: Difference | None) -> Cell:
    if found.mean is None:
        return Cell(NOTHING, _counts(found))
    spread = "" if found.sd is None else f" ± {number(found.sd, places=2)}"
    mark = DAGGER if found.dagger else ""
    p = "" if found.p is None else f", {probability(found.p)}"
    return Cell(f"{number(found.mean, places=2)}{mark}{spread}", f"{_counts(found)}{p}{few(difference)}")


def _counts(found: Estimate) -> str:
    skipped = f", {found.skipped} skipped" if found.skipped else ""
    return f"n = {found.n}{skipped}"


def by_rows(
    selections: Selections, scales: Iterable[CriterionSummary], found: ByQuality | None
) -> Iterator[Block]:
    """Yield each scale's means of item means: a cell a system, a row a choice of rows, and one by worker quality."""
    if found is None:
        return
    names = [system.system for system in selections[0].systems]
    for scale in scales:
        places = places_of(scale)
        rows = [
            Row(
                ROWS[selection.name],
                tuple(_item_mean(s.criterion(scale.key)) for s in selection.systems),
                {"criterion": scale.key},
            )
            for selection in selections
        ]
        means = [found.means[name].get(scale.key) for name in names]
        by_quality = tuple(Cell(number(m, places=places)) for m in means)
        yield Block(scale.label, (*rows, Row(BY_QUALITY, by_quality, {"criterion": scale.key})))


def row_of(
    label: str,
    selections: tuple[Selection, ...],
    cell: Callable[[SystemSummary], Cell],
    behind: Mapping[str, str] | None = None,
) -> Row:
    """Return a row with a cell for each system of each selection."""
    return Row(label, tuple(cell(system) for selection in selections for system in selection.systems), behind)
