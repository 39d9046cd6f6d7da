"""Automatic metrics on a results page: a table of means, a heat map of correlations, a scatter plot per pair."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Max

from surveys.models import Batch, MetricScore
from surveys.pages.results.result_cells import number
from surveys.pages.results.results import cached, state_of
from surveys.protocols.definition import Definition
from surveys.results.frames.database import read_batch, read_scores
from surveys.results.statistics.correlation import Coefficient, Correlation
from surveys.results.statistics.metrics import MetricMean, MetricSummary, RatingMean, summarise_metrics

VERSION = 2  # of what is cached: raise it when MetricResults changes
WIDTH, HEIGHT, MARGIN = 240, 180, 24
MOST_DOTS = 800
SHADES = 4


@dataclass(frozen=True, slots=True)
class Cell:
    """A correlation in a table: `shade` from -4 (opposite) over 0 to 4 colours it, "" where there is none."""

    text: str
    between: str
    shade: str


@dataclass(frozen=True, slots=True)
class Row:
    label: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Plot:
    """One metric against one criterion: `dots` are (x, y, number of the system, title)."""

    title: str
    x_label: str
    note: str
    dots: tuple[tuple[float, float, int, str], ...]
    x_ends: tuple[str, str]
    y_ends: tuple[str, str]
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def middle(self) -> int:
        return self.width // 2

    @property
    def outer_width(self) -> int:
        """With room on the left for the ends of the scale."""
        return self.width + MARGIN


@dataclass(frozen=True, slots=True)
class MetricResults:
    """`means`: a row a metric, a cell a system; `ratings`: the same of each scale. `maps`: a table each coefficient."""

    systems: tuple[str, ...]
    means: tuple[Row, ...]
    ratings: tuple[Row, ...]
    metrics: tuple[str, ...]
    maps: tuple[tuple[str, tuple[Row, ...]], ...]
    notes: tuple[str, ...]
    plots: tuple[Plot, ...]
    versions: tuple[str, ...]


def metric_results(batch: Batch) -> MetricResults | None:
    """Return what metrics say, None where nothing was scored. Counted anew only when something changed."""
    scores = MetricScore.objects.filter(output__item__survey=batch.survey_id)
    state = {**scores.aggregate(scored=Count("pk"), scored_at=Max("scored_at")), **state_of(batch)}
    if not state["scored"]:
        return None
    return cached(f"metrics:{VERSION}:{batch.pk}", state, lambda: _computed(batch))


def _computed(batch: Batch) -> MetricResults:
    return arrange(summarise_metrics(read_batch(batch), read_scores(batch)), definition=batch.definition)


def arrange(summary: MetricSummary, *, definition: Definition) -> MetricResults:
    """Lay out the numbers as a page shows them."""
    found = summary.correlations
    labels = {criterion.key: criterion.label for criterion in definition.criteria}
    keys = [key for key in labels if any(c.criterion == key for c in found)]
    systems = tuple(dict.fromkeys(mean.system for mean in summary.means))
    metrics = tuple(dict.fromkeys(mean.metric for mean in summary.means))
    means = {(mean.metric, mean.system): mean for mean in summary.means}
    ratings = {(rating.criterion, rating.system): rating for rating in summary.ratings}
    return MetricResults(
        systems=systems,
        means=tuple(
            Row(metric, tuple(_mean_cell(means.get((metric, system))) for system in systems))
            for metric in metrics
        ),
        ratings=tuple(
            Row(label, tuple(_mean_cell(ratings.get((key, system))) for system in systems))
            for key, label in labels.items()
            if any((key, system) in ratings for system in systems)
        ),
        metrics=metrics,
        maps=tuple(_maps(found, metrics=metrics, criteria={key: labels[key] for key in keys})),
        notes=tuple(dict.fromkeys(f"{_level(c)}: {c.why_not}" for c in found if c.why_not)),
        plots=tuple(
            _plot(c, labels[key], systems)
            for key in keys
            for c in found
            if c.criterion == key and c.level == "item"
        ),
        versions=tuple(dict.fromkeys(f"{mean.metric} {mean.version}" for mean in summary.means)),
    )


def _mean_cell(mean: MetricMean | RatingMean | None) -> Cell:
    return Cell(number(mean.mean), f"n = {mean.n}", "") if mean else Cell(number(None), "", "")


def _maps(
    found: Sequence[Correlation], *, metrics: Sequence[str], criteria: Mapping[str, str]
) -> Iterator[tuple[str, tuple[Row, ...]]]:
    names = {"spearman": "Spearman", "kendall": "Kendall’s tau-b", "pearson": "Pearson"}
    by_place: dict[tuple[str, str, str], Correlation] = {(c.level, c.metric, c.criterion): c for c in found}
    for level, of in (("item", "outputs"), ("system", "systems")):
        if not any(c.level == level and not c.why_not for c in found):
            continue
        for name, label in names.items():
            rows = tuple(
                Row(title, tuple(_cell(by_place.get((level, metric, key)), name) for metric in metrics))
                for key, title in criteria.items()
            )
            yield f"{label}, over {of}", rows


def _cell(found: Correlation | None, name: str) -> Cell:
    coefficient: Coefficient | None = getattr(found, name) if found else None
    if coefficient is None or found is None:
        return Cell(number(None), "", "")
    low, high = coefficient.low, coefficient.high
    between = (
        f"{number(low, places=2)} to {number(high, places=2)}" if low is not None and high is not None else ""
    )
    shade = round(SHADES * coefficient.value)
    return Cell(number(coefficient.value, places=2), f"{between}, n = {found.n}".lstrip(", "), str(shade))


def _level(found: Correlation) -> str:
    return "Over outputs" if found.level == "item" else "Over systems"


def _plot(found: Correlation, label: str, systems: Sequence[str]) -> Plot:
    points = found.points[:: -(-len(found.points) // MOST_DOTS)]
    xs, ys = [x for _, x, _ in found.points], [y for _, _, y in found.points]
    x_ends, y_ends = (min(xs), max(xs)), (min(ys), max(ys))
    numbers = {system: n % 6 for n, system in enumerate(systems)}
    dots = tuple(
        (
            _placed(x, *x_ends, WIDTH),
            HEIGHT - _placed(y, *y_ends, HEIGHT),
            numbers.get(system, 0),
            f"{system}: {number(x, places=3)}, {number(y, places=2)}",
        )
        for system, x, y in points
    )
    note = f"{len(points)} of {len(found.points)} outputs drawn" if len(points) < len(found.points) else ""
    return Plot(
        title=f"{label} by {found.metric}",
        x_label=found.metric,
        note=note,
        dots=dots,
        x_ends=(number(x_ends[0], places=2), number(x_ends[1], places=2)),
        y_ends=(number(y_ends[0], places=2), number(y_ends[1], places=2)),
    )


def _placed(value: float, low: float, high: float, length: int) -> float:
    share = (value - low) / (high - low) if high > low else 0.5
    return round(MARGIN + share * (length - 2 * MARGIN), 1)
