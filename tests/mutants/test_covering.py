"""A change is tried on the tests that pass through its statement."""

from pathlib import Path

import pytest

from marketplace.engine import assignments
from surveys.answering import collection
from tests.mutants.covering import Compiled, Passes, runs_at_import, statement

CODE = """\
def price(
    n,
):
    if (
        n > 1
    ):
        return sum(
            [n, 2],
        )
    return 0


LIMIT = 3
"""


@pytest.mark.parametrize(
    ("line", "lines"),
    [(2, [1, 2, 3]), (5, [4, 5, 6]), (8, [7, 8, 9]), (10, [10]), (13, [13]), (12, [12])],
)
def test_the_lines_of_the_smallest_statement(line: int, lines: list[int]) -> None:
    assert list(statement(CODE, line=line)) == lines


@pytest.mark.parametrize(
    ("line", "at_import"),
    [(1, True), (2, True), (4, False), (5, False), (10, False), (11, True), (13, True)],
)
def test_heads_of_functions_and_what_stands_outside_of_them_run_at_import(line: int, at_import: bool) -> None:
    assert runs_at_import(CODE, line=line) == at_import


def test_tests_that_pass_through_a_line_come_with_the_quick_ones_first() -> None:
    path = Path("a.py")
    passes = Passes({path: {7: ["", "slow", "quick"], 8: ["slow"]}}, {"slow": 2.0, "quick": 0.1})
    assert passes.through(path, [7, 8, 9]) == ["quick", "slow"]


def test_what_runs_at_import_is_tried_on_all_that_could_see_it(tmp_path: Path) -> None:
    path = Path("room/a.py")
    reading, other = "tests/room/test_a.py::test_limit", "tests/rooms/test_a.py::test_limit"
    seconds = {"slow": 2.0, "quick": 0.1, reading: 1.0, other: 1.0}
    Passes({path: {1: [""], 7: ["slow", "quick"], 8: ["slow"]}}, seconds).save(tmp_path / "passes")
    kept = Passes.load(tmp_path / "passes")
    assert kept.through(path, [1]) == kept.through(path, []) == ["quick", reading, "slow"]
    assert kept.through(path, [8]) == ["slow"]
    assert kept.through(Path("room/b.py"), [1]) == [reading]


def test_queries_that_are_compiled_once_are_compiled_for_each_test() -> None:
    made = assignments._oldest(True, False, is_timed=False, is_locked=False)
    compiled = assignments.RECORD._compiled("any")
    kept = collection._keep_draft(1)
    Compiled().forget()
    assert collection._keep_draft(1) is not kept
    assert assignments._oldest(True, False, is_timed=False, is_locked=False) is not made
    assert assignments.RECORD._compiled("any") is not compiled
