"""The parser in parts must agree with the json module on everything."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surveys.results.frames.task_answers import JsonCells, Options

TEXTS = st.text(alphabet='ab"{}[],:\\ é', max_size=12)
FLAGS = st.dictionaries(TEXTS, st.booleans(), max_size=3)
CELLS = st.dictionaries(TEXTS, st.one_of(FLAGS, TEXTS, st.integers()), max_size=5)


def plain(data):
    return {key: value.given if isinstance(value, Options) else value for key, value in data.items()}


@given(CELLS, st.sampled_from([(",", ":"), (", ", ": ")]))
def test_any_object_is_read_as_json_reads_it(data, separators):
    cell = json.dumps([data], separators=separators, ensure_ascii=False)

    assert plain(JsonCells()(cell)) == json.loads(cell)[0]


@given(st.text(alphabet='[]{}",:ab', max_size=20).map(lambda text: f'[{{"{text}}}}}]'))
def test_broken_json_is_refused_as_json_refuses_it(cell):
    try:
        expected = json.loads(cell)
    except ValueError:
        with pytest.raises(ValueError, match=r"."):
            JsonCells()(cell)
    else:
        parsed = JsonCells()(cell)
        assert parsed is None if len(expected) != 1 else plain(parsed) == expected[0]


def test_a_feedback_that_ends_like_a_part_is_read_whole():
    cell = '[{"feedback":"so {it} is},","task1_answer":{"a":true}}]'

    assert plain(JsonCells()(cell)) == {"feedback": "so {it} is},", "task1_answer": {"a": True}}
