"""Text metrics beside the vectors, which were printed by the competition's code and by its written formulas."""

from typing import Any

import pytest

from metrics import PROFILES
from tests.metrics.vectors import deviations

TABLES = {
    "text_f1": "text_qa_f1",
    "math_em": "math_qa_em",
    "one_minus_ned": "text_recognition_1_minus_ned",
}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", TABLES)
def test_every_vector(vectors: dict[str, Any], name: str, profile: str) -> None:
    assert deviations(vectors[TABLES[name]]["cases"], name, profile) == {}
