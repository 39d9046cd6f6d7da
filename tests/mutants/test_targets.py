"""The list of what is mutated keeps up with the tree."""

import pytest

from tests.mutants.targets import ROOT, TARGETS, files, mirror


@pytest.mark.parametrize("name", TARGETS)
def test_its_files_and_tests_exist(name: str) -> None:
    assert files(TARGETS[name]) != []
    assert [test for test in TARGETS[name].tests if not (ROOT / test).exists()] == []


def test_tests_named_after_a_file_come_first() -> None:
    path = next(path for path in files(TARGETS["statistics"]) if path.stem == "correlation")
    assert mirror(path) == ["tests/surveys/results/test_correlation.py"]
