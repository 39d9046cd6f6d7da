"""What stands in the files and on the screen about several studies beside each other.

* `studies.csv`: a line per data set, study, system and scale: of kept rows, and of those whose answer was right
  (`filtered_..`, blank where nothing is graded), items, ratings, mean of ratings with its interval
* `pairing.csv`: a line per two systems of a data set that could be paired: their items, the shared ones, the workers
  who answered about both, and where none is shared why that may be
* `differences.csv`: a line per pairing, scale and choice of `rows`: the means of ratings on the shared items, and the
  difference as in `table.csv`
* `comparison.json`: the same; `intervals` and `differences` have the keys of `summary.json`
"""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import IO, Any

import pandas as pd

from surveys.results.files.csv_text import write_csv
from surveys.results.files.report import difference_data, interval_data
from surveys.results.files.report_text import difference_line
from surveys.results.files.table import EFFECT, effect_cells
from surveys.results.statistics.across import (
    FILTERED,
    KEPT,
    Across,
    Contrast,
    Pairing,
    Party,
    StudyNumbers,
)
from surveys.results.statistics.numbers import CriterionSummary, Selection, SystemSummary

FORMAT = 1
NAMES = ("dataset", "study", "system", "against_study", "against_system")
PAIRING = (*NAMES, "items", "against_items", "shared_items", "shared_workers", "note")
NUMBERS = ("items", "ratings", "mean", "low", "high")
STUDY = ("dataset", "study", "system", "criterion", *NUMBERS, *(f"filtered_{name}" for name in NUMBERS))
CONTRAST = (
    *NAMES, "rows", "criterion", "mean", "against_mean", "ratings", "against_ratings", *EFFECT, "p", "dagger",
)  # fmt: skip


def write_studies(found: Across, stream: IO[str]) -> None:
    lines = [line for study in found.studies for line in _study_lines(study)]
    write_csv(_table(lines, STUDY), stream)


def write_pairing(found: Across, stream: IO[str]) -> None:
    lines = [
        {
            "dataset": pairing.dataset,
            **_names(pairing),
            "items": pairing.ours.items,
            "against_items": pairing.theirs.items,
            "shared_items": pairing.shared,
            "shared_workers": pairing.workers,
            "note": pairing.strangers.reason if pairing.strangers else None,
        }
        for pairing in found.pairings
    ]
    write_csv(_table(lines, PAIRING), stream)


def write_differences(found: Across, stream: IO[str]) -> None:
    lines = [
        {
            "dataset": contrast.pairing.dataset,
            **_names(contrast.pairing),
            "rows": rows,
            "criterion": contrast.difference.criterion,
            "mean": contrast.means[0],
            "against_mean": contrast.means[1],
            "ratings": contrast.ratings[0],
            "against_ratings": contrast.ratings[1],
            **effect_cells(contrast.difference),
            "p": contrast.difference.corrected,
            "dagger": contrast.difference.dagger,
        }
        for rows, contrast in _rows_of(found)
    ]
    write_csv(_table(lines, CONTRAST), stream)


def write_comparison(found: Across, stream: IO[str]) -> None:
    json.dump(across_data(found), stream, indent=2, ensure_ascii=False, allow_nan=False)
    stream.write("\n")


def across_data(found: Across) -> dict[str, Any]:
    """Return plain JSON data."""
    return {
        "format": FORMAT,
        "studies": [_study_data(study) for study in found.studies],
        "pairings": [_pairing_data(pairing) for pairing in found.pairings],
        "differences": [_contrast_data(rows, contrast) for rows, contrast in _rows_of(found)],
    }


def across_text(found: Across) -> str:
    """Return the three tables as text: studies, pairings, differences on shared items."""
    lines = [f"{len(found.studies)} studies of {len(found.datasets)} data sets, ratings of kept answers"]
    lines += [_study_text(line) for study in found.studies for line in _study_lines(study)]
    if len(found.datasets) > 1:
        sets = ", ".join(found.datasets)
        lines += [
            "",
            f"Data sets stand beside each other; no item of one is compared with another's: {sets}.",
        ]
    lines += ["", "shared items"] if found.pairings else []
    lines += [
        f"  {p.dataset}: {p}: {p.shared} shared of {p.ours.items} and {p.theirs.items} items, "
        f"{p.workers} workers on both"
        for p in found.pairings
    ]
    lines += [f"!! {pairing.strangers.reason}" for pairing in found.strangers if pairing.strangers]
    return "\n".join([*lines, *_contrasts_text(found)])


def _table(lines: list[dict[str, Any]], columns: tuple[str, ...]) -> pd.DataFrame:
    counts = {name: "Int64" for name in columns if name.endswith(("items", "ratings"))}
    return pd.DataFrame(lines, columns=list(columns)).astype(counts)


def _names(pairing: Pairing) -> dict[str, str]:
    ours, theirs = pairing.ours, pairing.theirs
    return {
        "study": ours.study,
        "system": ours.system,
        "against_study": theirs.study,
        "against_system": theirs.system,
    }


def _rows_of(found: Across) -> Iterator[tuple[str, Contrast]]:
    for contrast in found.contrasts:
        yield KEPT, contrast
    for contrast in found.filtered:
        yield FILTERED, contrast


def _study_lines(study: StudyNumbers) -> Iterator[dict[str, Any]]:
    for system in study.kept.systems:
        for criterion in system.criteria:
            if criterion.score is not None:
                names = {"dataset": study.dataset, "study": study.name, "system": system.system}
                filtered = _of(study.filtered, system, criterion)
                yield {
                    **names,
                    "criterion": criterion.key,
                    **_numbers(criterion),
                    **{f"filtered_{name}": value for name, value in _numbers(filtered).items()},
                }


def _of(
    selection: Selection | None, system: SystemSummary, criterion: CriterionSummary
) -> CriterionSummary | None:
    return selection.system(system.system).criterion(criterion.key) if selection else None


def _numbers(criterion: CriterionSummary | None) -> dict[str, Any]:
    score, interval = (criterion.score, criterion.interval) if criterion else (None, None)
    return {
        "items": score and score.items,
        "ratings": score and score.ratings,
        "mean": score and score.rating_mean,
        "low": interval and interval.low,
        "high": interval and interval.high,
    }


def _study_text(line: dict[str, Any]) -> str:
    name = f"  {line['dataset']:<14} {line['study']}: {line['system']}, {line['criterion']}"
    right = "" if line["filtered_mean"] is None else f"; answer right {_mean(line, 'filtered_')}"
    return f"{name} {_mean(line, '')}{right}"


def _mean(line: dict[str, Any], prefix: str) -> str:
    mean, low, high = (line[f"{prefix}{name}"] for name in ("mean", "low", "high"))
    number = "-" if mean is None else f"{mean:.4f}"
    interval = "" if low is None else f" ({low:.3f} to {high:.3f})"
    return f"{number}{interval} n {line[f'{prefix}ratings']} on {line[f'{prefix}items']} items"


def _contrasts_text(found: Across) -> Iterator[str]:
    for rows, contrasts in ((KEPT, found.contrasts), (FILTERED, found.filtered)):
        if contrasts:
            yield ""
            yield f"{rows}, on the shared items; Holm's correction over all lines of models, and of references:"
        for contrast in contrasts:
            means = " and ".join("-" if mean is None else f"{mean:.4f}" for mean in contrast.means)
            yield f"{difference_line(contrast.difference)}; means of ratings {means}"


def _study_data(study: StudyNumbers) -> dict[str, Any]:
    return {
        "name": study.name,
        "dataset": study.dataset,
        "counts": asdict(study.counts),
        "systems": {
            system.system: {
                "role": system.role,
                "kept": _scales_data(system),
                "filtered": _scales_data(study.filtered.system(system.system)) if study.filtered else None,
            }
            for system in study.kept.systems
        },
    }


def _scales_data(system: SystemSummary) -> dict[str, Any]:
    return {
        criterion.key: {
            **asdict(criterion.score),
            "interval": criterion.interval and interval_data(criterion.interval),
        }
        for criterion in system.criteria
        if criterion.score is not None
    }


def _pairing_data(pairing: Pairing) -> dict[str, Any]:
    return {
        "dataset": pairing.dataset,
        "ours": _party_data(pairing.ours),
        "theirs": _party_data(pairing.theirs),
        "shared_items": pairing.shared,
        "shared_workers": pairing.workers,
        "not_comparable": pairing.strangers and pairing.strangers.reason,
    }


def _party_data(party: Party) -> dict[str, Any]:
    return asdict(party)


def _contrast_data(rows: str, contrast: Contrast) -> dict[str, Any]:
    return {
        **_names(contrast.pairing),
        "dataset": contrast.pairing.dataset,
        "rows": rows,
        "criterion": contrast.difference.criterion,
        "means": list(contrast.means),
        "ratings": list(contrast.ratings),
        "difference": difference_data(contrast.difference),
    }
