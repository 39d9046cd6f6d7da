"""Pages without collected static files, pictures in a folder of the test's own."""

import pytest

from surveys.models import Questionnaire
from tests.builders import make_questionnaire


@pytest.fixture(autouse=True)
def plain_files(settings, tmp_path) -> None:
    settings.MEDIA_ROOT = tmp_path
    settings.STORAGES = {
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }


@pytest.fixture
def questionnaire(db, plain_files) -> Questionnaire:
    return make_questionnaire()
