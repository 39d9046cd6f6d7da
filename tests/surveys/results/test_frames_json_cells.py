"""The parser in parts must agree with the json module on everything."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surveys.results.frames.task_answers import JsonColumn, Members, Options

TEXTS = st.text(alphabet='ab"{}[],:\\ é', max_size=12)
FLAGS = st.dictionaries(TEXTS, st.booleans(), max_size=3)
CELLS = st.dictionaries(TEXTS, st.one_of(FLAGS, TEXTS, st.integers()), max_size=5)


def read(*cells):
    """Return the objects of a column of cells, as JSON has them."""
    members = Members(JsonColumn(cells))
    found = [{} for _ in cells]
    for key in members.keys:
        for data, code in zip(found, members.codes(key).tolist(), strict=True):
            value = members.values[code]
            data |= {key: value.given if isinstance(value, Options) else value} if code else {}
    return found


@given(CELLS, st.sampled_from([(",", ":"), (", ", ": ")]))
def test_any_object_is_read_as_json_reads_it(data, separators):
    cell = json.dumps([data], separators=separators, ensure_ascii=False)

    assert read(cell) == json.loads(cell)


@given(st.text(alphabet='[]{}",:ab', max_size=20).map(lambda text: f'[{{"{text}}}}}]'))
def test_broken_json_is_refused_as_json_refuses_it(cell):
    try:
        expected = json.loads(cell)
    except ValueError:
        with pytest.raises(ValueError, match=r"."):
            read(cell)
    else:
        assert read(cell) == expected


def test_a_feedback_that_ends_like_a_part_is_read_whole():
    cell = '[{"feedback":"so {it} is},","task1_answer":{"a":true}}]'

    assert read(cell) == [{"feedback": "so {it} is},", "task1_answer": {"a": True}}]


@given(st.lists(CELLS, max_size=6), st.sampled_from([(",", ":"), (", ", ": ")]))
def test_a_column_gives_back_its_cells_and_their_objects(objects, separators):
    cells = [json.dumps([data], separators=separators, ensure_ascii=False) for data in objects]

    assert list(JsonColumn(cells)) == cells
    assert read(*cells) == objects
