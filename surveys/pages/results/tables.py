"""The tables of a results page: what they are made of, how numbers are written, and what stands in each."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from surveys.results.statistics.agreement import Agreement, Within
from surveys.results.statistics.choices import Choices, Preferred
from surveys.results.statistics.comparison import Comparison, Difference, Estimate
from surveys.results.statistics.correlation import Coefficient, Correlation
from surveys.results.statistics.inference import ALPHA, Effect, Interval
from surveys.results.statistics.metrics import MetricMean, MetricSummary, RatingMean
from surveys.results.statistics.numbers import (
    BLANK,
    CriterionSummary,
    Selection,
    Share,
    SystemSummary,
)
from surveys.results.statistics.positions import FIRST, PositionEffect
from surveys.results.statistics.worker_quality import ByQuality

NOTHING = "–"
DAGGER = "†"
TESTED = ("kept", "filtered")
ROWS = {
    "all": "All submitted",
    "kept": "Kept (not rejected or left out)",
    "filtered": "Filtered (kept, answer right)",
}
BY_QUALITY = "Kept, by worker quality (Dawid & Skene)"
SHADES = 4
COEFFICIENTS = {"spearman": "Spearman", "kendall": "Kendall’s tau-b", "pearson": "Pearson"}
LEVELS = {"item": "outputs", "system": "systems"}
Selections = tuple[Selection, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A number and what it counts, over `span` columns. `shade` from -4 (opposite) over 0 to 4 colours it."""

    text: str
    note: str = ""
    span: int = 1
    shade: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that answer one question."""

    title: str
    rows: tuple[Row, ...]


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
        yield Block("e-ViL scores", tuple(_evil_rows(selections)))


def item_blocks_of(selections: Selections, choices: Choices, by_quality: ByQuality | None) -> Iterable[Block]:
    """Yield the blocks about items as a whole, a cell for each selection: they are no system's."""
    if any(selection.correct for selection in selections):
        right = Row("Answer right", tuple(share_cell(s.correct) for s in selections))
        likeliest = [by_quality.correct if by_quality and s.name == "kept" else None for s in selections]
        cells = tuple(share_cell(share) if share else Cell("") for share in likeliest)
        quality = (
            (Row("Likeliest answer by worker quality right, of items", cells),) if any(likeliest) else ()
        )
        yield Block("Answers", (right, *quality))
    for place, about_item in enumerate(selections[0].criteria):
        yield Block(about_item.label, tuple(_item_rows(selections, place)))
    if selections[0].preference:
        yield Block("Preference", (*_preference_rows(selections), *_preferred_rows(selections, choices)))


def _criterion_rows(selections: Selections, criterion: CriterionSummary, choices: Choices) -> Iterable[Row]:
    key = criterion.key
    if criterion.score is not None:
        yield row_of("Mean of ratings", selections, lambda s: _rating_mean(s.criterion(key)))
        yield row_of("Mean of item means", selections, lambda s: _item_mean(s.criterion(key)))
        yield row_of("Standard deviation", selections, lambda s: _deviation(s.criterion(key)))
        places = places_of(criterion)
        cells = [interval_cell(s.criterion(key).interval, places=places) for s in _systems(selections)]
        yield interval_row("95 % interval", tuple(cells))
    if criterion.good is not None:
        yield row_of(criterion.good.label, selections, lambda s: share_cell(s.criterion(key).good))
    for place, share in enumerate(criterion.shares):
        if share.key != BLANK or _is_anywhere(selections, key, place):
            yield row_of(share.label, selections, partial(_criterion_share, key=key, place=place))
        if criterion.is_checklist:
            yield from _ticked_rows(selections, choices, key=f"{key}.{share.key}", label=share.label)


def _ticked_rows(selections: Selections, choices: Choices, *, key: str, label: str) -> Iterable[Row]:
    """Yield the row of differences from the system compared with, if any was looked at."""
    cells = [_ticked(s.name, system, choices, key=key) for s in selections for system in s.systems]
    if any(cell.text for cell in cells):
        yield Row(f"{label}: difference, tested", tuple(cells))


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
        yield Row("Mean of ratings", tuple(map(_rating_mean, found)))
        yield Row("Mean of item means", tuple(map(_item_mean, found)))
        cells = [interval_cell(criterion.interval, places=places_of(criterion)) for criterion in found]
        yield interval_row("95 % interval", tuple(cells))
    for n, share in enumerate(found[0].shares):
        if share.key != BLANK or any(criterion.shares[n].count for criterion in found):
            yield Row(share.label, tuple(share_cell(criterion.shares[n]) for criterion in found))


def _difference_rows(
    selections: Selections, comparison: Comparison, *, key: str, headline: str
) -> Iterable[Row]:
    """Rows for a protocol with a reference; what is tested, and how sure it is, says the comparison alone."""
    if not any(system.difference for system in _systems(selections)):
        return
    if key == headline:
        yield row_of("Difference from the reference", selections, _difference)
    cells = [_tested(s.name, system, comparison, key=key) for s in selections for system in s.systems]
    if any(cell.text for cell in cells):
        yield Row("Difference of item means, tested", tuple(cells))


def _tested(selection: str, system: SystemSummary, comparison: Comparison, *, key: str) -> Cell:
    if selection not in TESTED:
        return Cell("")
    found = comparison.difference(system.system, key, filtered=selection == "filtered")
    return tested_cell(found) if found else Cell("")


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
    """A row per thing that could be preferred."""
    for place, share in enumerate(selections[0].preference):
        cells = tuple(share_cell(s.preference[place]) for s in selections)
        if share.key != BLANK or any(s.preference[place].count for s in selections):
            yield Row(share.label, cells)


def _preferred_rows(selections: Selections, choices: Choices) -> Iterable[Row]:
    """What was tested of each system's preference, and how it stands with ties told apart."""
    tested = {"kept": choices.preferred, "filtered": choices.preferred_filtered}
    for place, one in enumerate(choices.preferred):
        pair = f"{one.system} against {one.against}"
        found = [tested[s.name][place] if tested.get(s.name) else None for s in selections]
        yield Row(f"{pair}: won less lost, tested", tuple(_net(each) for each in found))
        yield Row(f"{pair}: win rate, ties half", tuple(_rate(each) for each in found))
        yield Row(f"{pair}: win rate without ties", tuple(_decided(each) for each in found))


def _net(found: Preferred | None) -> Cell:
    if found is None:
        return Cell("")
    if found.interval is None or found.net is None or found.corrected is None:
        return Cell(NOTHING, "not tested")
    net = number(found.net, places=found.interval.places)
    text = f"{net}{DAGGER if found.dagger else ''} ({_ends(found.interval)})"
    return Cell(text, f"{_probability(found.corrected)}, {100 * found.interval.level:.3g} %{_few(found)}")


def _rate(found: Preferred | None) -> Cell:
    if found is None:
        return Cell("")
    counts = f"{found.wins} won, {found.ties} tied, {found.losses} lost"
    return Cell(_in_percent(found.rate), f"{counts}{_between(found.rate_interval)}")


def _decided(found: Preferred | None) -> Cell:
    if found is None:
        return Cell("")
    counts = f"{found.wins} of {found.wins + found.losses}"
    return Cell(_in_percent(found.decided), f"{counts}{_between(found.decided_interval)}")


def _in_percent(share: float | None) -> str:
    return NOTHING if share is None else f"{100 * share:.1f} %"


def _between(interval: Interval | None) -> str:
    """Return the interval of a share, in percent, as it stands behind its count."""
    if interval is None:
        return ""
    return f"; {100 * interval.level:.3g} %: {100 * interval.low:.0f} to {100 * interval.high:.0f}"


def _ends(interval: Interval) -> str:
    low, high = (number(end, places=interval.places) for end in (interval.low, interval.high))
    return f"{low} to {high}"


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
        return Cell(number(scores.s_t), "of the whole test set, as entered" if system.responses else "")
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
            yield Row(found.system, cells)


def _standardised(found: Difference) -> Cell:
    if found.standardised is None:
        return Cell(NOTHING)
    interval = found.standardised_interval
    between = f"{number(interval.low, places=2)} to {number(interval.high, places=2)}" if interval else ""
    return Cell(number(found.standardised, places=2), between)


def _superiority(found: Difference) -> Cell:
    interval = found.superiority_interval
    between = f"{100 * interval.low:.0f} to {100 * interval.high:.0f} %" if interval else ""
    return Cell(_in_percent(found.superiority), between)


def _estimate(found: Estimate, difference: Difference | None) -> Cell:
    if found.mean is None:
        return Cell(NOTHING, _counts(found))
    spread = "" if found.sd is None else f" ± {number(found.sd, places=2)}"
    mark = DAGGER if found.dagger else ""
    p = "" if found.p is None else f", {_probability(found.p)}"
    return Cell(f"{number(found.mean, places=2)}{mark}{spread}", f"{_counts(found)}{p}{_few(difference)}")


def _few(found: Difference | Preferred | None) -> str:
    """Return the warning that belongs beside what was tested on few workers, dagger or none."""
    warning = found.support.warning if found and found.support else ""
    return f", {warning}" if warning else ""


def _counts(found: Estimate) -> str:
    skipped = f", {found.skipped} skipped" if found.skipped else ""
    return f"n = {found.n}{skipped}"


def _probability(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


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
            Row(ROWS[selection.name], tuple(_item_mean(s.criterion(scale.key)) for s in selection.systems))
            for selection in selections
        ]
        means = [found.means[name].get(scale.key) for name in names]
        yield Block(
            scale.label, (*rows, Row(BY_QUALITY, tuple(Cell(number(m, places=places)) for m in means)))
        )


def position_row(found: PositionEffect) -> Row:
    """Return what stood first less what stood later, and how many ratings tell so."""
    kind = Cell(FIRST[found.kind])
    if found.difference is None:
        return Row(found.system, (Cell(found.criterion), kind, Cell(NOTHING, f"not known: {found.reason}")))
    interval = found.interval
    between = f" ({_ends(interval)})" if interval else ""
    few = f", {interval.support.warning}" if interval and interval.support.warning else ""
    counts = f"{found.first} ratings first, {found.later} later, {found.items} items{few}"
    difference = number(found.difference, places=interval.places if interval else 4)
    return Row(found.system, (Cell(found.criterion), kind, Cell(f"{difference}{between}", counts)))


def within_row(entry: Agreement, found: Within) -> Row:
    """Return how far people agree with themselves on what they rated again."""
    same = Cell(_in_percent(found.percent), _between(found.percent_interval).removeprefix("; "))
    repeats = Cell(str(found.repeats), f"by {found.workers} workers")
    return Row(entry.system, (Cell(entry.criterion), same, Cell(number(found.ac2, places=3)), repeats))


def means_of_metrics(summary: MetricSummary, *, systems: Sequence[str]) -> Iterator[Row]:
    """Yield a row a metric, a cell a system."""
    means = {(mean.metric, mean.system): mean for mean in summary.means}
    for metric in dict.fromkeys(mean.metric for mean in summary.means):
        yield Row(metric, tuple(_mean(means.get((metric, system))) for system in systems))


def means_of_ratings(
    summary: MetricSummary, *, systems: Sequence[str], criteria: Mapping[str, str]
) -> Iterator[Row]:
    """Yield a row for each of the `criteria` ({key: label}) that was rated, a cell a system."""
    means = {(rating.criterion, rating.system): rating for rating in summary.ratings}
    for key, label in criteria.items():
        of_systems = [means.get((key, system)) for system in systems]
        if any(of_systems):
            yield Row(label, tuple(map(_mean, of_systems)))


def _mean(mean: MetricMean | RatingMean | None) -> Cell:
    return Cell(number(mean.mean), f"n = {mean.n}") if mean else Cell(NOTHING)


def heat_maps(
    correlations: Sequence[Correlation], *, metrics: Sequence[str], criteria: Mapping[str, str]
) -> Iterator[tuple[str, tuple[Row, ...]]]:
    """Yield a title and a table for each coefficient on each level: criteria down, metrics across."""
    by_place: dict[tuple[str, str, str], Correlation] = {
        (one.level, one.metric, one.criterion): one for one in correlations
    }
    for level, of in LEVELS.items():
        if not any(one.level == level and not one.why_not for one in correlations):
            continue
        for name, label in COEFFICIENTS.items():
            rows = [
                Row(
                    title, tuple(_coefficient(by_place.get((level, metric, key)), name) for metric in metrics)
                )
                for key, title in criteria.items()
            ]
            yield f"{label}, over {of}", tuple(rows)


def _coefficient(correlation: Correlation | None, name: str) -> Cell:
    coefficient: Coefficient | None = getattr(correlation, name) if correlation else None
    if coefficient is None or correlation is None:
        return Cell(NOTHING)
    low, high = coefficient.low, coefficient.high
    has_ends = low is not None and high is not None
    between = f"{number(low, places=2)} to {number(high, places=2)}, " if has_ends else ""
    shade = round(SHADES * coefficient.value)
    return Cell(number(coefficient.value, places=2), f"{between}n = {correlation.n}", shade=str(shade))


def row_of(label: str, selections: tuple[Selection, ...], cell: Callable[[SystemSummary], Cell]) -> Row:
    """Return a row with a cell for each system of each selection."""
    return Row(label, tuple(cell(system) for selection in selections for system in selection.systems))


def share_cell(share: Share | None) -> Cell:
    if share is None:
        return Cell(NOTHING)
    return Cell(_in_percent(share.share), f"{share.count} of {share.total}{_between(share.interval)}")


def interval_cell(interval: Interval | None, *, places: int) -> Cell:
    if interval is None:
        return Cell(NOTHING)
    text = f"{number(interval.low, places=places)} to {number(interval.high, places=places)}"
    support = interval.support
    if support.effective is None or support.busiest is None:
        return Cell(text, f"{support.items} items")
    if not support.has_few_workers:
        return Cell(text, f"{support.workers} workers")
    return Cell(text, f"{support.warning}; three gave {support.busiest:.0%}")


def tested_cell(found: Difference) -> Cell:
    """Return a tested difference with its interval at the level it was tested at, and a dagger to match."""
    interval = found.interval
    if interval is None or found.mean is None or found.corrected is None:
        return Cell(NOTHING, f"not tested, {found.items} shared items{_as_two_samples(found.unpaired)}")
    mean = number(found.mean, places=interval.places)
    text = f"{mean}{DAGGER if found.dagger else ''} ({_ends(interval)})"
    tested = f"{_probability(found.corrected)}, {100 * interval.level:.3g} %, {found.items} items"
    return Cell(text, f"{tested}{_few(found)}")


def _as_two_samples(effect: Effect | None) -> str:
    interval = effect.interval() if effect else None
    if effect is None or effect.p is None or interval is None:
        return ""
    difference = f"{number(effect.value, places=interval.places)} ({_ends(interval)})"
    return f"; as two samples, not corrected: {difference}, {_probability(effect.p)}"


def interval_row(label: str, cells: tuple[Cell, ...]) -> Row:
    """Return a row of intervals; where there is none at all, the reason is given once."""
    if all(cell.text == NOTHING for cell in cells):
        return Row(label, (Cell(NOTHING, "too few items or workers", len(cells)),))
    return Row(label, cells)


def places_of(criterion: CriterionSummary) -> int:
    """Return how many decimal places a mean deserves: four on a scale from 0 to 1, two on longer ones."""
    return 4 if max(criterion.scale, default=1) - min(criterion.scale, default=0) <= 1 else 2


def number(value: float | None, *, places: int = 4) -> str:
    return NOTHING if value is None else f"{round(value, places) + 0.0:.{places}f}".replace("-", "−")
