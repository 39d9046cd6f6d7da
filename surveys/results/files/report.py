"""Everything a paper's table needs from one frame, and its form as JSON.

`summary.json`, by key (a share is always {"count", "total", "share"}, with "interval" where it has one; null stands for
what is undefined):

* `format`: 3, raised when a key changes its meaning; `study`, `definition`, `headline` (the main criterion),
  `design` (how the HITs of a batch were drawn, a sentence for its methods; not of a file)
* `systems`: {name: {`role` ("model" | "reference"), `criteria`}}; a scale's criterion has exactly `mean`, `sd` (n - 1),
  `n`, `skipped` (kept responses about the system without a rating there), `p` and `dagger` (p < 0.05), see `comparison`
* `comparison`: `method`, `name`, `correction`, `source`, `alpha` of those p values; `against` (the system the others
  are compared with), `chosen` (true where that was found as the best after looking, which is no planned comparison);
  `differences`: {system: {criterion: {`mean`, `items`, `p_uncorrected`, `p`, `dagger`, `interval`,
  `standardised`, `superiority`, `unpaired`}}}, over the items both were rated on; empty where no items are known.
  `standardised` and `superiority` are {`value`, `interval`}; `unpaired` is null, or where no item is shared
  {`mean`, `p`, `interval`}, not corrected; `filtered`: the same of the rows whose answer was right, null where
  nothing is graded; `not_comparable`: the systems that share no item with `against`, a list of {`system`, `against`,
  `items`, `items_against`, `equal_texts`, `reason`}
* `choices`: what was ticked and preferred beside `comparison.against`: `family` (what is corrected for what), `kept`
  and `filtered` (null where nothing is graded), each with `ticked`: {system: {stored option: as in `differences`}} and
  `preferred`: {system: {`wins`, `ties`, `losses`, `net` ((wins - losses) / all), `p_uncorrected`, `p`, `dagger`,
  `interval` (of `net`), `rate` (ties half), `rate_interval`, `decided` (wins of wins and losses), `decided_interval`}}
* `positions`: {system: {criterion: {"side" | "page": {`difference`, `interval`, `first`, `later`, `items`}}}}: what was
  shown first, or early on a page, less the same shown later; kept rows, only what some saw first and others later
* `by_quality`: the kept rows weighed by worker quality (Dawid & Skene), null where workers are unknown:
  `answer_correct` (of how many items the likeliest answer is right, a share or null), `systems`: {system: {criterion:
  mean over items of the expected score}}
* an `interval` is {`low`, `high`, `level`, `items`, `workers`, `effective_workers`, `busiest_three`, `few_workers`},
  `workers` 0 and the next two null where workers are unknown; null with fewer than two items or workers
* `good_from`: the score from which ratings count as `good`, null where the survey type names none
* `counts`: `assignments`, of them `kept`, `rejected` and, though not rejected, `left_out` of the analysis; `hits`,
  `items`, `workers`, `responses`, `skipped`
* `minutes_per_assignment`: accept to submit, kept assignments: `mean`, `median`, `assignments`
* `selections`: `all` (submitted), `kept` (neither rejected nor left out), `filtered` (kept, answer right), each with
    * `responses`, `answer_correct` (a share, null where nothing is graded)
    * `criteria`: those about the item as a whole, empty in most surveys
    * `systems`: {name: {`role`, `responses`, `skipped`, `skip_reasons`, `criteria`, `evil`, `interval`,
      `difference`}}; a criterion has `score` ({`rating_mean`, `item_mean`, `sd`, `ratings`, `items`, `blanks`}, null
      for a checklist and a text), `shares` ({value: share}, `blank` and, in a checklist, `nothing` among them),
      `interval` and `good` (the share of ratings at `good_from` or above); `evil` is {`task` of the rated items,
      `explanation`, `overall` (their product), `items_right`, `items`, `whole` (right on the whole test set, where
      entered), `s_t`, `s_e`, `s_o` (to print: of the whole test set where entered, else null where S_T is 1 by
      construction)}, null for the reference; `interval` is that of the headline's `rating_mean`; `difference` is
      {`mean`, `pairs`} of the model's score less the reference's, by one worker on one item
    * `preference`: {system | "no_preference" | "blank": share}
* `strata`: the same for the kept outputs of which the model's decision was right (`true`), wrong (`false`) or
  `unknown`, and for `all` of them, which are the kept rows; empty where it is known of none
* `agreement`: {system: {criterion: {`alpha_ordinal` (Krippendorff), `alpha_interval`, `ac2_quadratic`
  (Gwet), `ac2_interval`, `percent`, `items`, `ratings`, `within`}}}, kept rows, scales; `within` raters, null where
  nobody rated anything twice: {`percent`, `percent_interval`, `ac2_quadratic`, `repeats`, `workers`}
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import IO, Any

from surveys.results.frames.base import Frame
from surveys.results.statistics.agreement import Agreement, Within, agreements
from surveys.results.statistics.choices import FAMILIES, Choices, Preferred, choices
from surveys.results.statistics.comparison import (
    CLUSTERED,
    Comparison,
    Difference,
    Estimate,
    Method,
    compare,
)
from surveys.results.statistics.inference import ALPHA, FEW_WORKERS, Effect, Interval, Support
from surveys.results.statistics.numbers import (
    CriterionSummary,
    Selection,
    Share,
    Summary,
    SystemSummary,
    TaskScores,
)
from surveys.results.statistics.positions import FIRST, PositionEffect, position_effects
from surveys.results.statistics.summary import summarise
from surveys.results.statistics.worker_quality import ByQuality, by_quality

FORMAT = 3


@dataclass(frozen=True, slots=True)
class Report:
    study: str
    definition: str
    systems: dict[str, str]
    summary: Summary
    agreement: tuple[Agreement, ...]
    comparison: Comparison
    good_from: float | None
    design: str = ""
    choices: Choices = field(default_factory=Choices)
    positions: tuple[PositionEffect, ...] = ()
    by_quality: ByQuality | None = None

    def as_data(self) -> dict[str, Any]:
        """Return plain JSON data; the module says what its keys mean."""
        summary = self.summary
        return {
            "format": FORMAT,
            "study": self.study,
            "definition": self.definition,
            **({"design": self.design} if self.design else {}),
            "headline": summary.headline,
            "systems": {
                name: {"role": role, "criteria": _estimates(self.comparison.estimates[name])}
                for name, role in self.systems.items()
            },
            "comparison": _comparison(self.comparison),
            "choices": _choices(self.choices),
            "positions": {system: _positions(self.positions, system=system) for system in self.systems},
            "by_quality": self.by_quality and _by_quality(self.by_quality),
            "good_from": self.good_from,
            "counts": asdict(summary.counts),
            "minutes_per_assignment": asdict(summary.minutes),
            "selections": {selection.name: _selection(selection) for selection in summary.selections},
            "strata": _strata(summary),
            "agreement": {system: _agreements(self.agreement, system=system) for system in self.systems},
        }


def make_report(frame: Frame, *, against: str = "", method: Method = CLUSTERED) -> Report:
    """Return the numbers of a frame. They hold for an empty frame too.

    Raises UnknownSystemError if `against` is none of the systems.
    """
    studies = frame.responses["study"]
    comparison = compare(frame, against=against, method=method)
    return Report(
        study="" if studies.empty else str(studies.iloc[0]),
        definition=frame.definition.key,
        systems={system: frame.role(system) for system in frame.systems},
        summary=summarise(frame),
        agreement=agreements(frame),
        comparison=comparison,
        good_from=frame.definition.good_from,
        design=frame.design,
        choices=choices(frame, against=comparison.against),
        positions=position_effects(frame),
        by_quality=by_quality(frame),
    )


def write_summary(frame: Frame, stream: IO[str], *, against: str = "", method: Method = CLUSTERED) -> None:
    report = make_report(frame, against=against, method=method)
    json.dump(report.as_data(), stream, indent=2, ensure_ascii=False, allow_nan=False)
    stream.write("\n")


def _strata(summary: Summary) -> dict[str, Any]:
    if not summary.strata:
        return {}
    return {"all": _selection(summary.kept)} | {s.name: _selection(s) for s in summary.strata}


def _share(share: Share) -> dict[str, Any]:
    interval = {"interval": interval_data(share.interval)} if share.interval else {}
    return {"count": share.count, "total": share.total, "share": share.share, **interval}


def _shares(shares: Iterable[Share]) -> dict[str, Any]:
    return {share.key: _share(share) for share in shares}


def _selection(selection: Selection) -> dict[str, Any]:
    return {
        "responses": selection.responses,
        "answer_correct": selection.correct and _share(selection.correct),
        "criteria": _criteria(selection.criteria),
        "systems": {system.system: _system(system) for system in selection.systems},
        "preference": _shares(selection.preference),
    }


def _system(system: SystemSummary) -> dict[str, Any]:
    return {
        "role": system.role,
        "responses": system.responses,
        "skipped": system.skipped,
        "skip_reasons": {reason.key: reason.count for reason in system.reasons},
        "criteria": _criteria(system.criteria),
        "evil": system.evil and _evil(system.evil),
        "interval": system.interval and interval_data(system.interval),
        "difference": system.difference and asdict(system.difference),
    }


def _criteria(criteria: Iterable[CriterionSummary]) -> dict[str, Any]:
    return {criterion.key: _criterion(criterion) for criterion in criteria}


def _criterion(criterion: CriterionSummary) -> dict[str, Any]:
    return {
        "score": criterion.score and asdict(criterion.score),
        "shares": _shares(criterion.shares),
        "interval": criterion.interval and interval_data(criterion.interval),
        "good": criterion.good and _share(criterion.good),
    }


def _estimates(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    return {key: asdict(estimate) for key, estimate in estimates.items()}


def _comparison(comparison: Comparison) -> dict[str, Any]:
    method = comparison.method
    return {
        "method": method.key,
        "name": method.name,
        "correction": method.correction,
        "source": method.source,
        "alpha": ALPHA,
        "against": comparison.against,
        "chosen": comparison.is_chosen,
        "differences": _differences(comparison.differences),
        "filtered": _differences(comparison.filtered) or None,
        "not_comparable": [{**asdict(found), "reason": found.reason} for found in comparison.strangers],
    }


def _choices(found: Choices) -> dict[str, Any] | None:
    if not found.ticked and not found.preferred:
        return None
    has_filtered = bool(found.ticked_filtered or found.preferred_filtered)
    return {
        "family": FAMILIES,
        "kept": _chosen(found.ticked, found.preferred),
        "filtered": _chosen(found.ticked_filtered, found.preferred_filtered) if has_filtered else None,
    }


def _by_quality(found: ByQuality) -> dict[str, Any]:
    means = {system: dict(of_system) for system, of_system in found.means.items()}
    return {"answer_correct": found.correct and _share(found.correct), "systems": means}


def _positions(found: Iterable[PositionEffect], *, system: str) -> dict[str, Any]:
    effects: dict[str, Any] = {}
    for one in found:
        if one.system == system and not one.reason:
            effects.setdefault(one.criterion, {})[one.kind] = {
                "difference": one.difference,
                "interval": one.interval and interval_data(one.interval),
                "first": one.first,
                "later": one.later,
                "items": one.items,
            }
    return effects


def _chosen(ticked: Iterable[Difference], preferred: Iterable[Preferred]) -> dict[str, Any]:
    return {"ticked": _differences(ticked), "preferred": {one.system: _preferred(one) for one in preferred}}


def _preferred(found: Preferred) -> dict[str, Any]:
    return {
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.losses,
        "net": found.net,
        "p_uncorrected": found.p,
        "p": found.corrected,
        "dagger": found.dagger,
        "interval": found.interval and interval_data(found.interval),
        "rate": found.rate,
        "rate_interval": found.rate_interval and interval_data(found.rate_interval),
        "decided": found.decided,
        "decided_interval": found.decided_interval and interval_data(found.decided_interval),
    }


def _differences(found: Iterable[Difference]) -> dict[str, dict[str, Any]]:
    differences: dict[str, dict[str, Any]] = {}
    for difference in found:
        differences.setdefault(difference.system, {})[difference.criterion] = difference_data(difference)
    return differences


def difference_data(found: Difference) -> dict[str, Any]:
    return {
        "mean": found.mean,
        "items": found.items,
        "p_uncorrected": found.p,
        "p": found.corrected,
        "dagger": found.dagger,
        "interval": found.interval and interval_data(found.interval),
        "standardised": _effect_size(found.standardised, found.standardised_interval),
        "superiority": _effect_size(found.superiority, found.superiority_interval),
        "unpaired": found.unpaired and _unpaired(found.unpaired),
    }


def _effect_size(value: float | None, interval: Interval | None) -> dict[str, Any] | None:
    return None if value is None else {"value": value, "interval": interval and interval_data(interval)}


def _unpaired(effect: Effect) -> dict[str, Any]:
    interval = effect.interval()
    return {"mean": effect.value, "p": effect.p, "interval": interval and interval_data(interval)}


def interval_data(interval: Interval) -> dict[str, Any]:
    support = interval.support
    return {
        "low": interval.low,
        "high": interval.high,
        "level": interval.level,
        "items": support.items,
        "workers": support.workers,
        "effective_workers": support.effective,
        "busiest_three": support.busiest,
        "few_workers": support.has_few_workers,
    }


def _evil(scores: TaskScores) -> dict[str, Any]:
    to_print = {"s_t": scores.s_t, "s_e": scores.explanation, "s_o": scores.s_o}
    return {**asdict(scores), "overall": scores.overall, **to_print}


def _agreements(entries: Iterable[Agreement], *, system: str) -> dict[str, Any]:
    return {entry.criterion: _agreement(entry) for entry in entries if entry.system == system}


def _agreement(entry: Agreement) -> dict[str, Any]:
    return {
        "alpha_ordinal": entry.alpha,
        "alpha_interval": entry.alpha_interval and interval_data(entry.alpha_interval),
        "ac2_quadratic": entry.ac2,
        "ac2_interval": entry.ac2_interval and interval_data(entry.ac2_interval),
        "percent": entry.percent,
        "items": entry.items,
        "ratings": entry.ratings,
        "within": entry.within and _within(entry.within),
    }


def _within(found: Within) -> dict[str, Any]:
    return {
        "percent": found.percent,
        "percent_interval": found.percent_interval and interval_data(found.percent_interval),
        "ac2_quadratic": found.ac2,
        "repeats": found.repeats,
        "workers": found.workers,
    }


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
    lines = [f"kept, by worker quality (Dawid & Skene){correct}"]
    return lines + [
        f"  {system:<16} {headline} {_number(of.get(headline))}" for system, of in found.means.items()
    ]


def _system_line(system: SystemSummary, *, headline: str) -> str:
    criterion = system.criterion(headline)
    shares = ", ".join(f"{share.label} {share.count}" for share in criterion.shares)
    mean = criterion.score.rating_mean if criterion.score else None
    between = f" ({_between(system.interval)})" if system.interval else ""
    return f"  {system.system:<16} {headline} {_number(mean)}{between}   {shares}"


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
    return f"{100 * interval.level:.3g} %: {low} to {high}"


def _rounded(value: float, *, places: int) -> str:
    """Return a number without the sign of a zero."""
    return f"{round(value, places) + 0.0:.{places}f}"


def _support_line(supports: Iterable[Support]) -> str:
    """Return what the weakest of the tests rests on, and a warning where that is too little."""
    support = min(supports, key=lambda s: s.effective or 0.0)
    if support.effective is None or support.busiest is None:
        return "Nobody knows who rated what: intervals and p values leave out how workers differ."
    told = (
        f"The thinnest side of a comparison has {support.workers} workers, as good as {support.effective:.1f} equally "
        f"busy ones; the busiest three gave {support.busiest:.0%} of its ratings."
    )
    few = f" Fewer than {FEW_WORKERS:g} are few: do not lean on intervals and p values near the edge."
    return told + (few if support.has_few_workers else "")


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
    return lines + ([EFFECT_NOTE, _support_line(supports)] if supports else [])


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
        return f"  {found.system:<16} preference not tested ({counts})"
    net = _rounded(found.net, places=found.interval.places)
    line = f"  {found.system:<16} preference net {net}{DAGGER if found.dagger else ''}"
    line += f" ({_between(found.interval)}), {_probability(found.corrected)}, {counts}"
    if found.rate is not None and found.decided is not None:
        line += f"; win rate {found.rate:.1%} with ties half, {found.decided:.1%} without{_of(found.decided_interval)}"
    return line + (f"; {found.support.warning}" if found.support and found.support.warning else "")


def difference_line(found: Difference) -> str:
    name = f"  {found.system:<16} {found.criterion}"
    if found.interval is None or found.mean is None or found.corrected is None:
        return f"{name} not tested ({found.items} shared items){_unpaired_text(found.unpaired)}"
    mean = _rounded(found.mean, places=found.interval.places)
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
    difference = f"{effect.value:.{interval.places}f} ({_between(interval)}), {_probability(effect.p)}"
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
    places = found.interval.places if found.interval else 4
    few = f"; {found.interval.support.warning}" if found.interval and found.interval.support.warning else ""
    number = _rounded(found.difference, places=places)
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
