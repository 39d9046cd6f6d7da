"""Everything a paper's table needs from one frame, and its form as JSON.

`summary.json`, by key (a share is always {"count", "total", "share"}; null stands for what is undefined):

* `format`: 1, raised when a key changes its meaning; `study`, `definition`, `headline` (the main criterion)
* `systems`: {name: "model" | "reference"}
* `counts`: `assignments`, of them `kept` and `rejected`; `hits`, `items`, `workers`, `responses`, `skipped`
* `minutes_per_assignment`: accept to submit, kept assignments: `mean`, `median`, `assignments`
* `selections`: `all` (submitted), `kept` (not rejected), `filtered` (kept, answer right), each with
    * `responses`, `answer_correct` (a share, null where nothing is graded)
    * `criteria`: those about the item as a whole, empty in most surveys
    * `systems`: {name: {`role`, `responses`, `criteria`, `evil`, `interval`, `difference`}}; a criterion has `score`
      ({`rating_mean`, `item_mean`, `ratings`, `items`, `blanks`}, null for a checklist) and `shares` ({value: share},
      `blank` and, in a checklist, `nothing` among them); `evil` is {`task` (S_T), `explanation` (S_E), `overall` (S_O),
      `items_right`, `items`}, null for the reference; `interval` is that of the headline's `rating_mean`, 95 %,
      {`low`, `high`, `items`, `workers`}, null with fewer than two items or workers; `difference` is {`mean`,
      `pairs`, `interval`} of the model's score less the reference's, pair by pair of one worker on one item
    * `preference`: {system | "no_preference" | "blank": share}
* `agreement`: {system: {`criterion`, `alpha_ordinal` (Krippendorff), `percent`, `items`, `ratings`}}, kept rows
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import IO, Any

from surveys.aggregation import (
    CriterionSummary,
    Selection,
    Share,
    Summary,
    SystemSummary,
    TaskScores,
    summarise,
)
from surveys.agreement import Agreement, agreements
from surveys.frames import Frame

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Report:
    study: str
    definition: str
    systems: dict[str, str]
    summary: Summary
    agreement: tuple[Agreement, ...]

    def as_data(self) -> dict[str, Any]:
        """Return plain JSON data; the module says what its keys mean."""
        summary = self.summary
        return {
            "format": FORMAT,
            "study": self.study,
            "definition": self.definition,
            "headline": summary.headline,
            "systems": self.systems,
            "counts": asdict(summary.counts),
            "minutes_per_assignment": asdict(summary.minutes),
            "selections": {selection.name: _selection(selection) for selection in summary.selections},
            "agreement": {entry.system: _agreement(entry) for entry in self.agreement},
        }


def make_report(frame: Frame) -> Report:
    """Return the numbers of a frame. They hold for an empty frame too."""
    studies = frame.responses["study"]
    return Report(
        study="" if studies.empty else str(studies.iloc[0]),
        definition=frame.definition.key,
        systems={system: frame.role(system) for system in frame.systems},
        summary=summarise(frame),
        agreement=agreements(frame),
    )


def write_summary(frame: Frame, stream: IO[str]) -> None:
    json.dump(make_report(frame).as_data(), stream, indent=2, ensure_ascii=False, allow_nan=False)
    stream.write("\n")


def _share(share: Share) -> dict[str, Any]:
    return {"count": share.count, "total": share.total, "share": share.share}


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
        "criteria": _criteria(system.criteria),
        "evil": system.evil and _evil(system.evil),
        "interval": system.interval and asdict(system.interval),
        "difference": system.difference and asdict(system.difference),
    }


def _criteria(criteria: Iterable[CriterionSummary]) -> dict[str, Any]:
    return {criterion.key: _criterion(criterion) for criterion in criteria}


def _criterion(criterion: CriterionSummary) -> dict[str, Any]:
    return {"score": criterion.score and asdict(criterion.score), "shares": _shares(criterion.shares)}


def _evil(scores: TaskScores) -> dict[str, Any]:
    return {**asdict(scores), "overall": scores.overall}


def _agreement(entry: Agreement) -> dict[str, Any]:
    return {
        "criterion": entry.criterion,
        "alpha_ordinal": entry.alpha,
        "percent": entry.percent,
        "items": entry.items,
        "ratings": entry.ratings,
    }
