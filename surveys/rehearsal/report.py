"""The end of a rehearsal: one page for people, one JSON file for programs.

JSON keys: `hits`, `assignments` (submitted), `rejected`, `skipped`, `replaced`, `kept_per_hit_min`, `kept_per_hit_max`,
`below_threshold_kept`, `cost` and `marketplace_cost` (dollars, fees included: by our ledger and by the
marketplace's), `files` (paths); beside them `seed`, `survey`, `workers`, `stand_ins`, `rounds`, `sibling_hits`,
`abandoned`, `double_submissions`, `missing_pictures`, `scores` ({selection: {system: mean}}), `seconds` ({stage:
seconds}) and `problems` (sentences; empty if all is well).
"""

import json
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from surveys.rehearsal.tally import Course, Tally, broken


@dataclass(frozen=True, slots=True)
class Report:
    survey: str
    seed: int
    tally: Tally
    course: Course
    marketplace_cost: Decimal
    files: list[Path]
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def problems(self) -> list[str]:
        return list(broken(self.tally, self.course, marketplace_cost=self.marketplace_cost))

    def as_data(self) -> dict[str, Any]:
        tally, course = self.tally, self.course
        return {
            "survey": self.survey,
            "seed": self.seed,
            "hits": tally.hits,
            "assignments": tally.assignments,
            "rejected": tally.rejected,
            "skipped": tally.skipped,
            "replaced": tally.replaced,
            "kept_per_hit_min": min(tally.kept_per_hit, default=0),
            "kept_per_hit_max": max(tally.kept_per_hit, default=0),
            "below_threshold_kept": tally.below_threshold_kept,
            "cost": float(tally.cost),
            "marketplace_cost": float(self.marketplace_cost),
            "files": [str(path) for path in self.files],
            "workers": course.workers,
            "stand_ins": course.stand_ins,
            "rounds": course.rounds,
            "sibling_hits": tally.sibling_hits,
            "abandoned": course.abandoned,
            "double_submissions": course.double_submissions,
            "missing_pictures": course.missing_pictures,
            "scores": tally.scores,
            "seconds": self.seconds,
            "problems": self.problems,
        }

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(self.as_data(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def text(self) -> str:
        """Return the one-page summary."""
        data = self.as_data()
        facts = [
            ("HITs", f"{data['hits']}{_siblings(self.tally.sibling_hits)}"),
            ("Assignments", f"{data['assignments']} submitted, {data['abandoned']} abandoned"),
            (
                "Rejected",
                f"{data['rejected']}, skipped {data['skipped']}, replaced {data['replaced']}",
            ),
            ("Kept per HIT", f"{data['kept_per_hit_min']} to {data['kept_per_hit_max']}"),
            ("Kept below the rule", f"{data['below_threshold_kept']}"),
            ("Cost", f"${self.tally.cost} by our ledger, ${self.marketplace_cost} by the marketplace's"),
            ("Workers", f"{data['workers']}, of them {data['stand_ins']} called in late"),
            ("Submitted twice", f"{data['double_submissions']}, nothing changed"),
            ("Pictures missing", f"{data['missing_pictures']}"),
            ("Rounds", f"{data['rounds']}"),
            ("Seconds", ", ".join(f"{name} {spent:.0f}" for name, spent in self.seconds.items())),
        ]
        lines = [f"Rehearsal of {self.survey}, seed {self.seed}", ""]
        lines += [f"{name:<20} {value}" for name, value in facts]
        lines += ["", *self._score_lines(), "", "Files", *(f"  {path}" for path in self.files)]
        return "\n".join(lines)

    def _score_lines(self) -> list[str]:
        systems = list(next(iter(self.tally.scores.values()), {}))
        lines = [f"{'Mean score':<20} " + " ".join(f"{system:>14}" for system in systems)]
        for name, means in self.tally.scores.items():
            shown = (f"{mean:>14.4f}" if mean is not None else f"{'-':>14}" for mean in means.values())
            lines.append(f"{name:<20} " + " ".join(shown))
        return lines


def _siblings(n: int) -> str:
    return f" and {n} sibling{'s' if n > 1 else ''} for replacements" if n else ""
