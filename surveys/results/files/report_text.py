"""A report as text for a terminal: counts, means, differences, positions, agreement, each with what it rests on."""

from collections.abc import Iterator

from surveys.results.files.report import Report
from surveys.results.printed import known, level_text, support_line
from surveys.results.statistics.agreement import Agreement, Within
from surveys.results.statistics.choices import FAMILIES, Choices, Preferred
from surveys.results.statistics.comparison import Comparison, Difference, Estimate
from surveys.results.statistics.inference import ALPHA, Effect, Interval
from surveys.results.statistics.numbers import Selection, Share, SystemSummary, TaskScores
from surveys.results.statistics.positions import FIRST, PositionEffect
from surveys.results.statistics.strengths import METHOD, Strengths
from surveys.results.statistics.worker_quality import ByQuality

DAGGER = "†"
EFFECT_NOTE = (
    "Each interval stands at the level its test was made at by Holm's procedure, so that it agrees with the dagger; "
    "only one at 95 % promises to hold the true difference that often. How often one was rated higher is not tested."
)
AGREEMENT_NOTE = (
    "Alpha asks whether raters tell outputs apart, and is low where nearly all get the same rating; AC2 asks whether "
    "they say the same more often than people who guess: high AC2 with low alpha is agreement on outputs alike."
)


def report_text(report: Report) -> str:
    """Return the counts, and per system the headline score of each selection with its number of ratings."""
    counts = report.summary.counts
    left_out = f", {counts.left_out} left out" if counts.left_out else ""
    lines = [
        f"{report.study} ({report.definition})",
        f"{counts.assignments} assignments ({counts.kept} kept, {counts.rejected} rejected{left_out}), "
        f"{counts.hits} HITs, "
        f"{counts.items} items, {counts.workers} workers",
        *([report.design] if report.design else []),
    ]
    for selection in report.summary.shown:
        lines += ["", *_selection_lines(selection, headline=report.summary.headline)]
    if report.by_quality:
        lines += ["", *_quality_lines(report.by_quality, headline=report.summary.headline)]
    tested = [
        *_comparison_lines(report.comparison),
        *_choice_lines(report.choices, report.comparison.against),
    ]
    if report.strengths:
        tested += ["", *_strength_lines(report.strengths)]
    positions = [_position_line(one) for one in report.positions]
    return "\n".join([*lines, "", *tested, "", *positions, *_agreement_lines(report)])


def _selection_lines(selection: Selection, *, headline: str) -> list[str]:
    correct = f", answer right {_percent(selection.correct)}" if selection.correct else ""
    lines = [f"{selection.name}: {selection.responses} responses{correct}"]
    for system in selection.systems:
        lines += [
            _system_line(system, headline=headline),
            *_evil_lines(system.evil, selection=selection.name),
        ]
    if selection.preference:
        lines.append("  preferred: " + ", ".join(f"{s.label} {_percent(s)}" for s in selection.preference))
    return lines


def _quality_lines(found: ByQuality, *, headline: str) -> list[str]:
    correct = f": likeliest answer right {_percent(found.correct)} of items" if found.correct else ""
    lines = [f"kept, by worker quality{correct}"]
    return lines + [
        f"  {system:<16} {headline} {_number(of.get(headline))}" for system, of in found.means.items()
    ]


def _system_line(system: SystemSummary, *, headline: str) -> str:
    if headline not in [criterion.key for criterion in system.criteria]:
        return f"  {system.system:<16} {system.responses} responses"
    shares = ", ".join(f"{share.label} {share.count}" for share in system.criterion(headline).shares)
    mean = system.mean_of(headline)
    between = f" ({_between(system.interval)})" if system.interval else ""
    return f"  {system.system:<16} {headline} {_number(mean)}{between}   {shares}"


def _strength_lines(found: Strengths) -> Iterator[str]:
    """Yield a line for each system, the strongest first, or why there are none; then each pair."""
    yield f"strengths by {found.criterion!r}, {found.n} comparisons. {found.why_not or METHOD}"
    for one in found.strengths:
        if one.value is not None:
            between = f" ({_between(one.interval)})" if one.interval else ""
            yield f"  {one.system:<16} {_number(one.value)}{between}   rank {one.best_rank} to {one.worst_rank}"
    for pair in found.rates:
        counts = f"{pair.wins} won, {pair.ties} tied, {pair.losses} lost"
        yield f"  {pair.system:<16} against {pair.against:<16} {counts}"


def _evil_lines(scores: TaskScores | None, *, selection: str) -> list[str]:
    if scores is None or (not scores.items and scores.whole is None):
        return []
    if scores.s_t is None:
        missing = f"right on all {scores.items} rated items, which says how they were picked: give --accuracy"
        return [f"    no S_T: {missing}"] if selection == "kept" else []
    of = "the whole test set" if scores.whole is not None else f"{scores.items} rated items"
    return [
        f"    S_T {_number(scores.s_t)} of {of}, S_E {_number(scores.explanation)}, S_O {_number(scores.s_o)}"
    ]


def _between(interval: Interval) -> str:
    low, high = (_rounded(end, places=interval.places) for end in (interval.low, interval.high))
    return f"{level_text(interval.level)}: {low} to {high}"


def _rounded(value: float, *, places: int) -> str:
    """Return a number without the sign of a zero."""
    return f"{round(value, places) + 0.0:.{places}f}"


def _known(value: float, interval: Interval) -> str:
    return known(value, interval).replace("−", "-")


def _comparison_lines(comparison: Comparison) -> list[str]:
    """Return the table of means with daggers, a line per system."""
    rows = [
        [s, *(_marked(e, comparison.difference(s, key)) for key, e in of.items())]
        for s, of in comparison.estimates.items()
    ]
    keys = next((list(of) for of in comparison.estimates.values()), [])
    widths = [max(len(cell) for cell in cells) for cells in zip(["", *keys], *rows, strict=True)]
    lines = [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in (["", *keys], *rows)
    ]
    note = f"{DAGGER} p < {ALPHA} against {comparison.against or '-'}. {comparison.method.name}"
    caution = [comparison.caution] if comparison.caution else []
    return [*lines, note, *caution, *_difference_lines(comparison)]


def _difference_lines(comparison: Comparison) -> list[str]:
    lines = [f"!! {found.reason}" for found in comparison.strangers]
    for name, found in (("kept", comparison.differences), ("filtered", comparison.filtered)):
        if found:
            lines += ["", f"{name}, difference from {comparison.against}, on the items both were rated on:"]
            lines += [difference_line(difference) for difference in found]
    supports = [d.support for d in (*comparison.differences, *comparison.filtered) if d.support]
    return lines + ([EFFECT_NOTE, support_line(supports)] if supports else [])


def _choice_lines(found: Choices, against: str) -> list[str]:
    parts = {
        "kept": (found.preferred, found.ticked),
        "filtered": (found.preferred_filtered, found.ticked_filtered),
    }
    lines = []
    for name, (preferred, ticked) in parts.items():
        if preferred or ticked:
            lines += ["", f"{name}, preferred to {against}, and ticked more often (+) or less than about it:"]
            lines += [_preferred_line(one) for one in preferred]
            lines += [difference_line(difference) for difference in ticked]
    return lines + ([FAMILIES] if lines else [])


def _preferred_line(found: Preferred) -> str:
    counts = f"{found.wins} won, {found.ties} tied, {found.losses} lost"
    if found.interval is None or found.net is None or found.corrected is None:
        return f"  {found.system:<16} preference {found.untested} ({counts})"
    net = _known(found.net, found.interval)
    line = f"  {found.system:<16} preference net {net}{DAGGER if found.dagger else ''}"
    line += f" ({_between(found.interval)}), {_probability(found.corrected)}, {counts}"
    if found.rate is not None and found.decided is not None:
        line += f"; win rate {found.rate:.1%} with ties half, {found.decided:.1%} without{_of(found.decided_interval)}"
    return line + (f"; {found.support.warning}" if found.support and found.support.warning else "")


def difference_line(found: Difference) -> str:
    name = f"  {found.system:<16} {found.criterion}"
    if found.interval is None or found.mean is None or found.corrected is None:
        return f"{name} {found.untested}{_unpaired_text(found.unpaired)}"
    mean = _known(found.mean, found.interval)
    line = f"{name} {mean}{DAGGER if found.dagger else ''} ({_between(found.interval)})"
    line += f", {_probability(found.corrected)}, {found.items} items"
    if found.standardised is not None:
        line += f"; d {found.standardised:.2f}"
    if found.superiority is not None:
        line += f"; rated higher {found.superiority:.0%}, ties half"
    return line + _few(found)


def _few(found: Difference | None) -> str:
    warning = found.support.warning if found and found.support else ""
    return f"; {warning}" if warning else ""


def _unpaired_text(effect: Effect | None) -> str:
    interval = effect.interval() if effect else None
    if effect is None or effect.p is None or interval is None:
        return ""
    difference = f"{_known(effect.value, interval)} ({_between(interval)}), {_probability(effect.p)}"
    return f"; as two samples, not corrected: {difference}"


def _probability(p: float) -> str:
    """Return a p value with the digits worth reading, never rounded across the limit."""
    if p < 0.001:
        return "p < 0.001"
    return f"p = {p:.4f}" if abs(p - ALPHA) < 0.005 else f"p = {p:.2g}"


def _marked(estimate: Estimate, difference: Difference | None) -> str:
    mean = "-" if estimate.mean is None else f"{estimate.mean:.2f}"
    skipped = f", {estimate.skipped} skipped" if estimate.skipped else ""
    return f"{mean}{DAGGER if estimate.dagger else ''} (n {estimate.n}{skipped}{_few(difference)})"


def _position_line(found: PositionEffect) -> str:
    name = f"position of {found.system}, {found.criterion}, {FIRST[found.kind]} less later"
    if found.difference is None:
        return f"{name}: not known, {found.reason}"
    few = f"; {found.interval.support.warning}" if found.interval and found.interval.support.warning else ""
    interval, difference = found.interval, found.difference
    number = _known(difference, interval) if interval else _rounded(difference, places=4)
    return f"{name}: {number}{_of(found.interval)}, {found.first} and {found.later} ratings, {found.items} items{few}"


def _agreement_lines(report: Report) -> list[str]:
    lines = [
        f"agreement on {a.system}, {a.criterion}: alpha {_number(a.alpha)}{_of(a.alpha_interval)}, "
        f"AC2 {_number(a.ac2)}{_of(a.ac2_interval)}, same {_number(a.percent)} "
        f"({a.items} items, {a.ratings} ratings)"
        for a in report.agreement
    ]
    lines += [_within_line(a, a.within) for a in report.agreement if a.within]
    return [*lines, AGREEMENT_NOTE]


def _within_line(entry: Agreement, found: Within) -> str:
    return (
        f"with themselves on {entry.system}, {entry.criterion}: same {_number(found.percent)}"
        f"{_of(found.percent_interval)}, AC2 {_number(found.ac2)} ({found.repeats} repeats by {found.workers} workers)"
    )


def _of(interval: Interval | None) -> str:
    return f" ({_between(interval)})" if interval else ""


def _percent(share: Share) -> str:
    return "-" if share.share is None else f"{share.share:.1%} ({share.count})"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
