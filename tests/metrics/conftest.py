"""The published test vectors, beside the project."""

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def vectors(shared: Path) -> dict[str, Any]:
    path = shared / "reference" / "metric_vectors.json"
    if not path.is_file():
        pytest.skip("the metric vectors are not on this machine")
    return json.loads(path.read_text(encoding="utf-8"))
