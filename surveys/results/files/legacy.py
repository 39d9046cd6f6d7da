"""The files OFA-X published, byte for byte, known error included.

Published as `*_processed.csv` and `*_processed_filtered.csv` at https://github.com/ofa-x/OFA-X. Three oddities are
kept, because the point of this layout is to compare files:

* **Wrong values**: the shortcomings of the ground truth (`*_gt`) are copies of the model's (`*_ours`). Use the
  processed layout for the right ones.
* The unnamed first column holds the word `selected` in every row.
* A score column is written as floats (`1.0`, `0.0`) when its first rating is fractional, otherwise integers stay
  integers (`1`, `0`). Leading blanks do not count. The authors grew a frame row by row, and pandas before 2.0 gave
  a column of empty rows the type of the first number that arrived.

Explanations that pandas before 2.0 took for missing values (`NA`, `null` ..) are empty cells, as there. Not
reproduced: what else such a missing explanation did to the number format of the score beside it when blank ratings
stood around it, and a column of explanations that are all numbers. The published raw files we know have neither.
"""

from typing import IO

import pandas as pd

from surveys.results.files.csv_text import write_csv
from surveys.results.files.pairs import SHORTCOMINGS, Pairs, require_pairs
from surveys.results.frames.base import Frame

INDEX = "selected"
# https://pandas.pydata.org/pandas-docs/version/1.5/reference/api/pandas.read_csv.html, na_values
TAKEN_FOR_MISSING = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A",
    "NA", "NULL", "NaN", "n/a", "nan", "null",
)  # fmt: skip


def legacy_table(frame: Frame, rows: pd.DataFrame, *, formats: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the published columns as text and booleans, for `rows` of `frame`.

    Whether a score column is written as floats is decided by `formats` (default: `rows`): the filtered file was
    cut from the whole one.
    """
    pairs, whole = Pairs(frame, rows), Pairs(frame, rows if formats is None else formats)
    ours, gt = pairs.ours("justifies"), pairs.gt("justifies")
    shortcomings = {name: pairs.ticked(pairs.ours(key)) for name, key in SHORTCOMINGS.items()}
    table = {
        "": pd.Series(INDEX, index=rows.index, dtype="str"),
        "assignment_id": rows["assignment_id"],
        "img_id": rows["item_id"],
        "answer_correct": rows["answer_correct"],
        "explanation_ours": _text(pairs.ours("text")),
        "expl_score_ours": _scores(pairs.scores(ours), like=whole.scores(whole.ours("justifies"))),
        **{f"{name}_ours": values for name, values in shortcomings.items()},
        "explanation_gt": _text(pairs.gt("text")),
        "expl_score_gt": _scores(pairs.scores(gt), like=whole.scores(whole.gt("justifies"))),
        **{f"{name}_gt": values for name, values in shortcomings.items()},
        "expl_value_our": ours,
        "expl_value_gt": gt,
        "prefer_ours": pairs.prefers(pairs.ours("preference")),
        "prefer_gt": pairs.prefers(pairs.gt("preference")),
        "prefer_none": pairs.no_preference(),
    }
    return pd.DataFrame(table)


def write_legacy(frame: Frame, stream: IO[str], *, filtered: bool = False) -> None:
    """Write the published layout of all kept rows, or of those whose answer was right.

    Raises LayoutError for a survey type that layout has no columns for.
    """
    require_pairs(frame.definition, systems=frame.systems)
    rows = frame.rightly(frame.kept) if filtered else frame.kept
    write_csv(legacy_table(frame, rows, formats=frame.kept), stream, as_is=True)


def _text(texts: pd.Series) -> pd.Series:
    return texts.where(~texts.isin(TAKEN_FOR_MISSING))


def _scores(scores: pd.Series, *, like: pd.Series) -> pd.Series:
    given = like.dropna()
    is_float = not given.empty and not given.iloc[0].is_integer()
    numbers = scores.dropna().unique()
    return scores.map({n: str(n) if is_float or not n.is_integer() else str(int(n)) for n in numbers})
