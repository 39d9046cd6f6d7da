"""Everything a paper's table needs from one frame, and its form as JSON.

`summary.json`, by key (a share is always {"count", "total", "share"}, with "interval" where it has one; null stands for
what is undefined):

* `format`: 3, raised when a key changes its meaning; `study`, `definition`, `headline` (the main criterion),
  `design` (how the HITs of a batch were drawn, a sentence for its methods; not of a file)
* `systems`: {name: {`role` ("model" | "reference"), `criteria`}}; a scale's criterion has exactly `mean`, `sd` (n - 1),
  `n`, `skipped` (kept responses about the system without a rating there), `p` and `dagger` (p < 0.05), see `comparison`
* `comparison`: `method`, `name`, `correction`, `source`, `alpha` of those p values; `against` (the system the others
  are compared with), `chosen` (true where that was found as the best after looking, which is no planned comparison);
  `differences`: {system: {criterion: {`mean`, `items`, `p_uncorrected`, `p`, `dagger`, `interval`, `why_not`,
  `standardised`, `superiority`, `unpaired`}}}, over the items both were rated on; empty where no items are known.
  `why_not` says why two items or more were not tested, "" where they were; `standardised` and `superiority` are
  {`value`, `interval`}; `unpaired` is null, or where no item is shared {`mean`, `p`, `interval`}, not corrected;
  `filtered`: the same of the rows whose answer was right, null where nothing is graded; `not_comparable`: the systems
  that share no item with `against`, a list of {`system`, `against`, `items`, `items_against`, `equal_texts`, `reason`}
* `choices`: what was ticked and preferred beside `comparison.against`: `family` (what is corrected for what), `kept`
  and `filtered` (null where nothing is graded), each with `ticked`: {system: {stored option: as in `differences`}} and
  `preferred`: {system: {`wins`, `ties`, `losses`, `net` ((wins - losses) / all), `p_uncorrected`, `p`, `dagger`,
  `why_not`, `interval` (of `net`), `rate` (ties half), `rate_interval`, `decided` (wins of wins and losses),
  `decided_interval`}}
* `errors`, only where a question is answered by marks: for each `system` and `criterion` its `label`, `answers`,
  `marks`, `cost` (per answer) with `interval`, `cost_per_100` (words) with `interval_per_100`, `kinds` (a list of
  {`category`, `severity`, `marks`, `per_answer`, `interval`}) and `agreement` ({`pairs`, `f1`, `f1_interval`, `alpha`})
* `strengths`, only where systems are ranked: `criterion`, `method`, `comparisons`, `ties` (Davidson's v, null without
  ties), `why_not` (why there are no strengths, "" if there are), `groups` that never met, `systems`: {system:
  {`strength`, `interval`, `ranks` [best, worst], `shown`, and `mean_rank` or `best` and `worst` (counts)}}, `pairs`: a
  list of {`system`, `against`, `wins`, `ties`, `losses`, `rate` (ties half), `interval`, `expected` by the strengths,
  `p` of equal strengths, by Holm over all pairs}
* `positions`: {system: {criterion: {"side" | "page": {`difference`, `interval`, `first`, `later`, `items`}}}}: what was
  shown first, or early on a page, less the same shown later; kept rows, only what some saw first and others later
* `by_quality`: the kept rows weighed by worker quality, null where workers are unknown: `answer_correct` (of how many
  items the likeliest answer is right by Dawid & Skene, a share or null), `systems`: {system: {criterion: mean over
  items of ratings without mildness, weighed by how far their people follow the others}}
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
from surveys.results.statistics.inference import ALPHA, Effect, Interval
from surveys.results.statistics.numbers import (
    CriterionSummary,
    Selection,
    Share,
    Summary,
    SystemSummary,
    TaskScores,
)
from surveys.results.statistics.positions import PositionEffect, position_effects
from surveys.results.statistics.spans import ErrorProfile, error_profiles
from surveys.results.statistics.strengths import METHOD as STRENGTHS_METHOD
from surveys.results.statistics.strengths import Strength, Strengths, WinRate, strengths
from surveys.results.statistics.summary import summarise
from surveys.results.statistics.worker_quality import ByQuality, by_quality

FORMAT = 4


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
    strengths: Strengths | None = None
    profiles: tuple[ErrorProfile, ...] = ()

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
            **({"strengths": _strengths(self.strengths)} if self.strengths else {}),
            **({"errors": [_profile(one) for one in self.profiles]} if self.profiles else {}),
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
        strengths=strengths(frame),
        profiles=error_profiles(frame),
    )


def write_summary(frame: Frame, stream: IO[str], *, against: str = "", method: Method = CLUSTERED) -> None:
    write_report(make_report(frame, against=against, method=method), stream)


def write_report(report: Report, stream: IO[str]) -> None:
    stream.write(json.dumps(report.as_data(), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _profile(found: ErrorProfile) -> dict[str, Any]:
    data = asdict(found)
    data |= {name: _interval_data(getattr(found, name)) for name in ("interval", "interval_per_100")}
    data["kinds"] = [asdict(one) | {"interval": _interval_data(one.interval)} for one in found.kinds]
    data["agreement"]["f1_interval"] = _interval_data(found.agreement.f1_interval)
    return data


def _interval_data(interval: Interval | None) -> dict[str, Any] | None:
    return interval_data(interval) if interval else None


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
        "why_not": found.why_not,
        "interval": found.interval and interval_data(found.interval),
        "rate": found.rate,
        "rate_interval": found.rate_interval and interval_data(found.rate_interval),
        "decided": found.decided,
        "decided_interval": found.decided_interval and interval_data(found.decided_interval),
    }


def _strengths(found: Strengths) -> dict[str, Any]:
    return {
        "criterion": found.criterion,
        "method": STRENGTHS_METHOD,
        "comparisons": found.n,
        "ties": found.ties,
        "why_not": found.why_not,
        "groups": [list(group) for group in found.groups],
        "systems": {one.system: _strength(one) | found.counts.get(one.system, {}) for one in found.strengths},
        "pairs": [_win_rate(one) for one in found.rates],
    }


def _strength(found: Strength) -> dict[str, Any]:
    interval = found.interval and interval_data(found.interval)
    ranks = None if found.best_rank is None else [found.best_rank, found.worst_rank]
    return {"strength": found.value, "interval": interval, "ranks": ranks}


def _win_rate(found: WinRate) -> dict[str, Any]:
    return {
        "system": found.system,
        "against": found.against,
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.losses,
        "rate": found.rate,
        "interval": found.interval and interval_data(found.interval),
        "expected": found.expected,
        "p": found.corrected,
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
        "why_not": found.why_not,
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
