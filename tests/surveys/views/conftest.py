"""Pictures in a folder of the test's own."""

from pathlib import Path

import pytest
from pytest_django import Settings

from surveys.models import Questionnaire
from tests.builders import make_questionnaire


@pytest.fixture(autouse=True)
def own_pictures(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def questionnaire(db: None, own_pictures: None) -> Questionnaire:
    return make_questionnaire()
