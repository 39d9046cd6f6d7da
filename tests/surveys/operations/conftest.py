"""A small study with a picture, in a media folder of its own."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile

from surveys.models import Batch, Picture
from surveys.operations.backups.making import backup
from tests.factories import make_draft, make_survey
from tests.market_site import eager, in_parallel, site, wire

__all__ = ["eager", "in_parallel", "site", "wire"]


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.MEDIA_ROOT.mkdir()
    return settings.MEDIA_ROOT


@pytest.fixture
def batch(transactional_db: None) -> Batch:
    survey = make_survey(n_items=2)
    picture = Picture(item=survey.items.first(), name="cat.png")
    picture.file.save("cat.png", ContentFile(b"a picture"))
    return make_draft(survey)


@pytest.fixture
def made(batch: Batch, tmp_path: Path) -> Path:
    """An archive of that study."""
    backup(tmp_path / "all.zip")
    return tmp_path / "all.zip"
