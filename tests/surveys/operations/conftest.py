"""A small study with a picture, in a media folder of its own; and one that was published after its backup."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile

from marketplace import models as marketplace
from surveys.models import Batch, Picture
from surveys.operations.backups.making import backup
from tests.factories import make_draft, make_survey
from tests.market_site import Site, eager, in_parallel, site, wire
from tests.surveys.operations.archive_once import back_up_once
from tests.surveys.operations.restored_alone import publish, restore_alone

__all__ = ["back_up_once", "eager", "in_parallel", "site", "wire"]


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR, settings.MEDIA_ROOT = tmp_path / "data", tmp_path / "media"
    settings.DATA_DIR.mkdir()
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


@pytest.fixture
def an_archive(batch: Batch, back_up_once: Callable[[Path], Path], tmp_path: Path) -> Path:
    """An archive of such a study, made once for a file: for tests that don't compare its rows with those it was of."""
    return back_up_once(tmp_path / "all.zip")


@pytest.fixture
def archive(tmp_path: Path) -> Callable[[], Path]:
    def make() -> Path:
        backup(tmp_path / "all.zip")
        return tmp_path / "all.zip"

    return make


@pytest.fixture
def twice(site: Site, archive: Callable[[], Path], eager: None) -> Batch:
    """A draft of two HITs that was published after the backup, and is a draft again."""
    draft = make_draft(make_survey(n_items=10), assignments_per_hit=2)
    made = archive()
    publish(draft, site)
    assert marketplace.HIT.objects.count() == 2
    restore_alone(made, is_held=True)
    return Batch.objects.get()
