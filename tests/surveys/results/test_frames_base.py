"""What every frame does, whatever it was read from."""

import math

import pandas as pd
import pyarrow as pa
import pytest

from surveys.protocols.criteria import Criterion, Number
from surveys.results.frames.base import Computed, scored
from tests.surveys.results.raw_files import raw_file, read, row, task


def texts(*values, index=None):
    return pd.Series(values, dtype="str", index=index)


def test_each_value_has_its_score_and_a_blank_none():
    said = texts("yes", None, "no", "perhaps", "yes", index=[7, 3, 5, 9, 2])
    scores = scored(said, by={"yes": 1.0, "no": 0.0})
    assert scores.index.tolist() == [7, 3, 5, 9, 2]
    assert scores.fillna(-1.0).tolist() == [1.0, -1.0, 0.0, -1.0, 1.0]


@pytest.mark.parametrize("values", [(), (None,), (None, None)])
def test_of_nothing_there_is_no_score(values):
    scores = scored(texts(*values), by={"yes": 1.0})
    assert (scores.dtype, len(scores), int(scores.notna().sum())) == ("float64", len(values), 0)


def test_scores_that_nobody_can_list_are_computed():
    by = Computed(Criterion("words", "How many words?", number=Number()))
    first, second, third = scored(texts("2.5", None, "7"), by=by)
    assert (first, third) == (2.5, 7.0)
    assert math.isnan(second)


def test_rows_with_right_answers_hold_of_a_text_only_that_it_is_there():
    answered = [task(1, answer="yes"), task(2, answer="no"), task(3, answer="yes", ours=None)]
    frame = read(raw_file([row(answered, golds=["yes", "yes", "yes"])]))
    rows = frame.filtered
    assert rows["item_id"].tolist() == ["item-1", "item-3"]
    assert rows["model.text"].tolist() == [True, True]
    assert rows["model.justifies"].fillna("").tolist() == ["yes", ""]
    assert frame.about(rows, system="model").index.tolist() == [0, 2]
    assert not {"assignment_id", "hit_id", "status", "place"} & set(rows)


def test_what_is_freed_of_a_large_table_is_given_back():
    """Arrow's own allocator keeps it, up to a hundred megabytes of a study of 50,000 assignments."""
    assert pa.default_memory_pool().backend_name == "system"
