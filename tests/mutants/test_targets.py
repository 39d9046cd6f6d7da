"""The list of what is mutated keeps up with the tree."""

import pytest

from tests.mutants.targets import TARGETS, files


@pytest.mark.parametrize("name", TARGETS)
def test_its_files_exist(name: str) -> None:
    assert files(name) != []
