"""A report as a short table for a terminal."""

from surveys.results.files.report import Report
from surveys.results.statistics.comparison import ALPHA, Comparison, Estimate
from surveys.results.statistics.intervals import Interval
from surveys.results.statistics.numbers import Selection, Share, SystemSummary

DAGGER = "†"


def report_text(report: Report) -> str:
    """Return the counts, and per system the headline score of each selection with its number of ratings."""
    counts = report.summary.counts
    left_out = f", {counts.left_out} left out" if counts.left_out else ""
    lines = [
        f"{report.study} ({report.definition})",
        f"{counts.assignments} assignments ({counts.kept} kept, {counts.rejected} rejected{left_out}), "
        f"{counts.hits} HITs, "
        f"{counts.items} items, {counts.workers} workers",
    ]
    for selection in report.summary.shown:
        lines += ["", *_selection_lines(selection, headline=report.summary.headline)]
    return "\n".join([*lines, "", *_comparison_lines(report.comparison), "", *_agreement_lines(report)])


def _selection_lines(selection: Selection, *, headline: str) -> list[str]:
    correct = f", answer right {_percent(selection.correct)}" if selection.correct else ""
    lines = [f"{selection.name}: {selection.responses} responses{correct}"]
    lines += [_system_line(system, headline=headline) for system in selection.systems]
    if selection.preference:
        lines.append("  preferred: " + ", ".join(f"{s.label} {_percent(s)}" for s in selection.preference))
    return lines


def _system_line(system: SystemSummary, *, headline: str) -> str:
    criterion = system.criterion(headline)
    shares = ", ".join(f"{share.label} {share.count}" for share in criterion.shares)
    mean = criterion.score.rating_mean if criterion.score else None
    between = f" ({_between(system.interval)})" if system.interval else ""
    return f"  {system.system:<16} {headline} {_number(mean)}{between}   {shares}"


def _between(interval: Interval) -> str:
    few = f", only {interval.workers} workers" if interval.has_few_workers else ""
    return f"95 %: {interval.low:.4f} to {interval.high:.4f}{few}"


def _comparison_lines(comparison: Comparison) -> list[str]:
    """Return the table of means with daggers, a line per system."""
    rows = [[s, *(_marked(e) for e in of.values())] for s, of in comparison.estimates.items()]
    keys = next((list(of) for of in comparison.estimates.values()), [])
    widths = [max(len(cell) for cell in cells) for cells in zip(["", *keys], *rows, strict=True)]
    lines = [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in (["", *keys], *rows)
    ]
    note = f"{DAGGER} p < {ALPHA} against {comparison.against or '-'}. {comparison.method.name}"
    return [*lines, note]


def _marked(estimate: Estimate) -> str:
    mean = "-" if estimate.mean is None else f"{estimate.mean:.2f}"
    skipped = f", {estimate.skipped} skipped" if estimate.skipped else ""
    return f"{mean}{DAGGER if estimate.dagger else ''} (n {estimate.n}{skipped})"


def _agreement_lines(report: Report) -> list[str]:
    return [
        f"agreement on {a.system}, {a.criterion}: alpha {_number(a.alpha)}, same {_number(a.percent)} "
        f"({a.items} items, {a.ratings} ratings)"
        for a in report.agreement
    ]


def _percent(share: Share) -> str:
    return "-" if share.share is None else f"{share.share:.1%} ({share.count})"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
