"""Tables for a paper, made of a report: CSV with whole numbers, LaTeX (booktabs) with as many places as are known."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import StringIO

from surveys.results.figures import criteria_of
from surveys.results.files.csv_text import safe_text
from surveys.results.files.report import Report
from surveys.results.printed import NOTHING, known, level_text, number, p_value, support_line
from surveys.results.statistics.comparison import Comparison, Difference
from surveys.results.statistics.inference import Interval
from surveys.results.statistics.strengths import METHOD, Strength, Strengths, WinRate

FORMS = {"csv": "text/csv", "tex": "application/x-tex"}
WHOLE = "Of all kept answers."
PART = "Of a part of the answers that was chosen."
Value = str | float | int | None
# LaTeX's ten special characters (L. Lamport, 1994, 2.1), and two that its old encoding draws as others.
SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "†": r"$^\dagger$", "−": r"$-$", "±": r"$\pm$", "\n": " ", "\r": " ",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table under its name: columns, and a cell for each in every row.

    `printed` are the columns and rows as LaTeX has them: numbers rounded, with their interval beside them.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    printed_columns: tuple[str, ...]
    printed: tuple[tuple[str, ...], ...]
    caption: str


def make_table(report: Report, *, name: str, form: str, is_chosen: bool = False) -> str:
    """Return a table of TABLES in a form of FORMS. Raises KeyError for another name or form.

    `is_chosen`: the report is of a part of the answers, and the caption says so.
    """
    table = TABLES[name](report)
    table = replace(table, caption=f"{table.caption} {PART if is_chosen else WHOLE}")
    return {"csv": as_csv, "tex": as_latex}[form](table)


def as_csv(table: PaperTable) -> str:
    """Return lines that no spreadsheet runs as formulas; what is missing is blank."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in (table.columns, *table.rows):
        writer.writerow([safe_text(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()


def as_latex(table: PaperTable) -> str:
    """Return a table environment that takes the package booktabs and nothing else."""
    shape = "l" + "r" * (len(table.printed_columns) - 1)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escaped(table.caption)}}}",
        rf"\begin{{tabular}}{{{shape}}}",
        r"\toprule",
        _line(table.printed_columns),
        r"\midrule",
        *map(_line, table.printed),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Return a text that LaTeX prints as it stands."""
    return "".join(SPECIAL.get(letter, letter) for letter in text)


def _line(cells: Iterable[str]) -> str:
    return " & ".join(map(escaped, cells)) + r" \\"


def systems(report: Report) -> PaperTable:
    """Return systems down and criteria across: mean and standard deviation of the ratings."""
    labels = {key: scale.label for key, scale in criteria_of(report).items()}
    estimates = report.comparison.estimates
    names = ("mean", "sd", "n", "p")
    return PaperTable(
        columns=("system", *(f"{key} {name}" for key in labels for name in names)),
        rows=tuple(
            (system, *(getattr(of[key], name) for key in labels for name in names))
            for system, of in (estimates.items() if labels else ())
        ),
        printed_columns=("System", *labels.values()),
        printed=tuple(
            (system, *(_mean_and_sd(of[key].mean, of[key].sd, has_dagger=of[key].dagger) for key in labels))
            for system, of in estimates.items()
        ),
        caption=f"Mean ± standard deviation of the ratings.{_daggers(report.comparison)}",
    )


def _mean_and_sd(mean: float | None, sd: float | None, *, has_dagger: bool) -> str:
    if mean is None:
        return "–"
    return f"{mean:.2f}{'†' if has_dagger else ''}" + ("" if sd is None else f" ± {sd:.2f}")


def _daggers(comparison: Comparison) -> str:
    if len(comparison.estimates) < 2:
        return ""
    supports = [one.support for one in comparison.differences if one.support]
    said = (comparison.method.name, comparison.caution, support_line(supports) if supports else "")
    return f" † differs from {comparison.against}, p < 0.05. {' '.join(filter(None, said))}"


def differences(report: Report) -> PaperTable:
    """Return a line for each tested difference of the kept rows."""
    labels = {key: scale.label for key, scale in criteria_of(report).items()}
    found = [one for one in report.comparison.differences if one.criterion in labels]
    columns = (
        "system",
        "against",
        "criterion",
        "difference",
        "low",
        "high",
        "level",
        "p",
        "items",
        "d",
        "superiority",
    )
    return PaperTable(
        columns=columns,
        rows=tuple(tuple(_difference(one, report.comparison.against)) for one in found),
        printed_columns=("System", "Criterion", "Difference", "Interval, at its level", "p", "d", "Items"),
        printed=tuple(_printed(one, labels[one.criterion]) for one in found),
        caption=f"Differences of item means from {report.comparison.against}.{_daggers(report.comparison)}",
    )


def _difference(one: Difference, against: str) -> Iterator[Value]:
    interval = one.interval
    yield from (one.system, against, one.criterion, one.mean)
    yield from (interval.low, interval.high, interval.level) if interval else (None, None, None)
    yield from (one.corrected, one.items, one.standardised, one.superiority)


def _printed(one: Difference, label: str) -> tuple[str, ...]:
    places = one.interval.places if one.interval else 2
    mean = f"{known(one.mean, one.interval)}{'†' if one.dagger else ''}"
    size = number(one.standardised, places=2)
    return (
        one.system,
        label,
        mean,
        f"{_between(one.interval, places)} ({level_text(one.interval.level)})" if one.interval else NOTHING,
        NOTHING if one.corrected is None else p_value(one.corrected),
        size,
        str(one.items),
    )


def agreement(report: Report) -> PaperTable:
    """Return a line for each system and scale: how far raters agree."""
    names = ("alpha", "ac2", "percent", "items", "ratings")
    rows = tuple(
        (one.system, one.criterion, *(getattr(one, name) for name in names)) for one in report.agreement
    )
    printed = tuple(
        (
            one.system,
            one.criterion,
            f"{number(one.alpha, places=3)} {_between(one.alpha_interval, 2)}".strip(),
            f"{number(one.ac2, places=3)} {_between(one.ac2_interval, 2)}".strip(),
            "–" if one.percent is None else f"{100 * one.percent:.1f} %",
            str(one.ratings),
        )
        for one in report.agreement
    )
    return PaperTable(
        columns=("system", "criterion", "alpha_ordinal", "ac2_quadratic", "same_rating", "items", "ratings"),
        rows=rows,
        printed_columns=(
            "System",
            "Criterion",
            "Krippendorff’s alpha",
            "Gwet’s AC2",
            "Same rating",
            "Ratings",
        ),
        printed=printed,
        caption="Agreement of raters, with 95 % intervals.",
    )


def strengths(report: Report) -> PaperTable:
    """Return a line for each system, the strongest first."""
    found = report.strengths or Strengths("")
    known = [one for one in found.strengths if one.value is not None]
    return PaperTable(
        columns=("rank", "system", "strength", "low", "high", "best_rank", "worst_rank"),
        rows=tuple(tuple(_strength(n, one)) for n, one in enumerate(known, 1)),
        printed_columns=("Rank", "System", "Strength", "95 % interval", "Ranks possible"),
        printed=tuple(_printed_strength(n, one) for n, one in enumerate(known, 1)),
        caption=METHOD,
    )


def _strength(rank: int, one: Strength) -> Iterator[Value]:
    yield from (rank, one.system, one.value)
    yield from (one.interval.low, one.interval.high) if one.interval else (None, None)
    yield from (one.best_rank, one.worst_rank)


def _printed_strength(rank: int, one: Strength) -> tuple[str, ...]:
    places = one.interval.places if one.interval else 2
    ranks = f"{one.best_rank}–{one.worst_rank}"
    return (str(rank), one.system, known(one.value, one.interval), _between(one.interval, places), ranks)


def wins(report: Report) -> PaperTable:
    """Return the matrix of win rates: how often the system of a line was preferred to that of a column."""
    found = report.strengths or Strengths("")
    names = [one.system for one in found.strengths]
    pairs = [(system, against, found.rate(system, against)) for system in names for against in names]
    named = [(system, against, rate) for system, against, rate in pairs if rate]
    cells = {(system, against): rate for system, against, rate in named}
    return PaperTable(
        columns=("system", "against", "wins", "ties", "losses", "rate", "low", "high", "expected", "p"),
        rows=tuple(tuple(_win_rate(system, against, rate)) for system, against, rate in named),
        printed_columns=("System", *names),
        printed=tuple(
            (system, *(_percent(cells.get((system, against))) for against in names)) for system in names
        ),
        caption="How often the system of a line was preferred to that of a column, a tie counting half.",
    )


def _win_rate(system: str, against: str, one: WinRate) -> Iterator[Value]:
    yield from (system, against, one.wins, one.ties, one.losses, one.rate)
    yield from (one.interval.low, one.interval.high) if one.interval else (None, None)
    yield from (one.expected, one.corrected)


def _percent(one: WinRate | None) -> str:
    return "–" if one is None or one.rate is None else f"{100 * one.rate:.0f} %"


def _between(interval: Interval | None, places: int) -> str:
    return (
        f"[{number(interval.low, places=places)}, {number(interval.high, places=places)}]" if interval else ""
    )


TABLES: dict[str, Callable[[Report], PaperTable]] = {
    "systems": systems,
    "differences": differences,
    "agreement": agreement,
    "strengths": strengths,
    "wins": wins,
}
LABELS: dict[str, str] = {
    "systems": "Systems and criteria",
    "differences": "Differences",
    "agreement": "Agreement",
    "strengths": "Strengths",
    "wins": "Win rates",
}


def tables_for(report: Report) -> Sequence[str]:
    """Return the tables a report has rows for."""
    return [name for name, make in TABLES.items() if make(report).rows]
