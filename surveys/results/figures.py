"""Figures for a paper, drawn from a report: SVG, PDF and PNG from one drawing, letters embedded.

The same report gives the same bytes: no file tells when it was made. Colours are those of the page by day.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from django.conf import settings

from surveys.results.files.report import Report
from surveys.results.statistics.inference import Interval
from surveys.results.statistics.numbers import BLANK, CriterionSummary, Share

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMS = {"svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png"}
UNDATED: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
}
WIDTH, ROW, AROUND = 6.3, 0.36, 1.1  # inches: the text width of A4, a line, and title and scale
DOTS_PER_INCH = 300
INK, QUIET = "#20242a", "#8a9098"
LEVELS = ("#14586a", "#6aa7b5", "#e3b877", "#ad5a30", "#6d5b8f", "#bab6ad")
FIVE = (0, 1, 5, 2, 3)  # the middle of five is grey; others take the colours as they come
DARK = (0, 3, 4)
LABEL = 62  # letters under a figure before a new line begins


@dataclass(frozen=True, slots=True)
class Kind:
    """One way to draw a criterion, and whether a report has what it takes."""

    label: str
    has: Callable[[Report, str], bool]
    draw: Callable[["Axes", Report, str], None]


def criteria_of(report: Report) -> dict[str, CriterionSummary]:
    """Return {key: summary} of the scales, as the first system has them; the headline comes first."""
    systems = report.summary.kept.systems
    scales = {one.key: one for one in (systems[0].criteria if systems else ()) if one.score and one.scale}
    return dict(sorted(scales.items(), key=lambda scale: scale[0] != report.summary.headline))


def kinds_for(report: Report, criterion: str) -> list[str]:
    """Return the figures a report can be drawn as on one criterion."""
    return [name for name, kind in KINDS.items() if kind.has(report, criterion)]


def draw(report: Report, *, kind: str, criterion: str, form: str) -> bytes:
    """Return a figure of one criterion as a file of a form of FORMS. Raises KeyError for what a report has not."""
    if not KINDS[kind].has(report, criterion):
        raise KeyError(criterion)
    figure = _figure(len(report.systems))
    axes = figure.add_subplot()
    KINDS[kind].draw(axes, report, criterion)
    file = BytesIO()
    figure.savefig(file, format=form, dpi=DOTS_PER_INCH, metadata=UNDATED[form])
    return file.getvalue()


def _figure(n_rows: int) -> "Figure":
    os.environ.setdefault("MPLCONFIGDIR", str(settings.DATA_DIR / "matplotlib"))  # its list of fonts
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update(
        {"font.size": 9, "svg.hashsalt": "assent", "svg.fonttype": "path", "pdf.fonttype": 42}
    )
    return Figure(figsize=(WIDTH, AROUND + ROW * max(n_rows, 2)), layout="constrained")


def _rated(report: Report, criterion: str) -> list[CriterionSummary]:
    """Return what was said of each system on a scale; nothing of what is none."""
    is_scale = criterion in criteria_of(report)
    return [one.criterion(criterion) for one in report.summary.kept.systems] if is_scale else []


def _has_means(report: Report, criterion: str) -> bool:
    return any(_mean_of(one) is not None for one in _rated(report, criterion))


def _means(axes: "Axes", report: Report, criterion: str) -> None:
    scale = criteria_of(report)[criterion].scale
    rated = {one.system: one.criterion(criterion) for one in report.summary.kept.systems}
    _points(
        axes, list(rated), [_mean_of(one) for one in rated.values()], [one.interval for one in rated.values()]
    )
    reach = max(scale) - min(scale)
    axes.set_xlim(min(scale) - 0.02 * reach, max(scale) + 0.02 * reach)
    axes.set_xticks(sorted(scale))
    axes.set_xlabel(_wrapped(f"{criteria_of(report)[criterion].label} (mean, 95 % interval)"))


def _mean_of(summary: CriterionSummary) -> float | None:
    return summary.score.rating_mean if summary.score else None


def _has_differences(report: Report, criterion: str) -> bool:
    found = [one for one in report.comparison.differences if one.criterion == criterion]
    return criterion in criteria_of(report) and any(one.interval for one in found)


def _differences(axes: "Axes", report: Report, criterion: str) -> None:
    found = [one for one in report.comparison.differences if one.criterion == criterion and one.interval]
    labels = [f"{one.system}{'†' if one.dagger else ''}" for one in found]
    _points(axes, labels, [one.mean for one in found], [one.interval for one in found])
    axes.axvline(0, color=QUIET, linewidth=0.8, linestyle="--")
    label = criteria_of(report)[criterion].label
    axes.set_xlabel(
        _wrapped(f"{label}: difference from {report.comparison.against} (item means, Holm’s intervals)")
    )


def _has_strengths(report: Report, criterion: str) -> bool:
    found = report.strengths
    return found is not None and criterion == found.criterion and not found.why_not


def _strengths(axes: "Axes", report: Report, criterion: str) -> None:
    found = report.strengths.strengths if report.strengths else ()
    _points(
        axes, [one.system for one in found], [one.value for one in found], [one.interval for one in found]
    )
    axes.axvline(0, color=QUIET, linewidth=0.8, linestyle="--")
    axes.set_xlabel("Bradley-Terry strength (log odds, 95 % interval)")


def _points(
    axes: "Axes", labels: Sequence[str], means: Sequence[float | None], intervals: Sequence[Interval | None]
) -> None:
    """Draw a mean and its interval a line, the first on top."""
    for row, (mean, interval) in enumerate(zip(means, intervals, strict=True)):
        if interval:
            axes.plot([interval.low, interval.high], [row, row], color=LEVELS[0], linewidth=1.6)
        if mean is not None:
            axes.plot([mean], [row], "o", color=LEVELS[0], markersize=5)
    _lines(axes, labels)
    axes.grid(axis="x", color="#e2e2e2", linewidth=0.6)
    axes.set_axisbelow(True)


def _lines(axes: "Axes", labels: Sequence[str]) -> None:
    axes.set_yticks(range(len(labels)), [_plain(label) for label in labels], color=INK)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _has_shares(report: Report, criterion: str) -> bool:
    return any(map(_answered, _rated(report, criterion)))


def _shares(axes: "Axes", report: Report, criterion: str) -> None:
    rated = [(one.system, _best_first(one.criterion(criterion))) for one in report.summary.kept.systems]
    for row, (_, shares) in enumerate(rated):
        _bar(axes, row, shares)
    _lines(axes, [f"{system} (n = {sum(share.count for share in shares)})" for system, shares in rated])
    axes.set_xlim(0, 100)
    axes.set_xlabel(_wrapped(f"{criteria_of(report)[criterion].label} (% of what was answered)"))
    handles, labels = _legend(axes)
    columns = len(labels) if sum(map(len, labels)) < LABEL / 2 else 2
    axes.legend(handles, labels, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, frameon=False)


def _legend(axes: "Axes") -> tuple[list[Any], list[str]]:
    """Return each value once, as the first bar has them."""
    handles, labels = axes.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    return list(once.values()), list(once)


def _bar(axes: "Axes", row: int, shares: Sequence[Share]) -> None:
    total, left = sum(share.count for share in shares), 0.0
    levels = FIVE if len(shares) == len(FIVE) else range(len(shares))
    for level, share in zip(levels, shares, strict=True):
        width = 100 * share.count / total if total else 0.0
        colour = LEVELS[level % len(LEVELS)]
        axes.barh(row, width, left=left, height=0.62, color=colour, label=_plain(share.label))
        if width >= 9:
            text = "white" if level % len(LEVELS) in DARK else INK
            axes.text(left + width / 2, row, f"{width:.0f}", ha="center", va="center", color=text, fontsize=8)
        left += width


def _answered(summary: CriterionSummary) -> int:
    return sum(share.count for share in summary.shares if share.key != BLANK)


def _best_first(summary: CriterionSummary) -> list[Share]:
    answered = [share for share in summary.shares if share.key != BLANK]
    return [
        share for _, share in sorted(zip(summary.scale, answered, strict=True), key=lambda pair: -pair[0])
    ]


def _wrapped(text: str) -> str:
    return "\n".join(wrap(_plain(text), LABEL))


def _plain(text: str) -> str:
    """Return a text that is drawn as it stands: a dollar sign would begin a formula."""
    return text.replace("$", r"\$")


KINDS = {
    "differences": Kind("Differences", _has_differences, _differences),
    "means": Kind("Means", _has_means, _means),
    "shares": Kind("Shares", _has_shares, _shares),
    "strengths": Kind("Strengths", _has_strengths, _strengths),
}
