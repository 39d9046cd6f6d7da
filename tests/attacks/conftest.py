"""What attackers start from: a HIT, a link, a browser held to what forms must carry, people with roles."""

from pathlib import Path

import pytest
from django.core.cache import cache
from django.test import Client

from surveys.models import Batch, Questionnaire
from tests.builders import make_questionnaire
from tests.link_people import invite_one
from tests.link_study import Visitor, make_link_batch, path_of
from tests.people import client_of


@pytest.fixture(autouse=True)
def own_folders(settings, tmp_path: Path) -> Path:
    """Pictures and uploads of the test's own, and nobody's earlier attempts."""
    settings.DATA_DIR, settings.MEDIA_ROOT = tmp_path, tmp_path / "media"
    cache.clear()
    return tmp_path


@pytest.fixture
def questionnaire(db: None, own_folders: Path) -> Questionnaire:
    return make_questionnaire()


@pytest.fixture
def visitor() -> Client:
    return Client(enforce_csrf_checks=True)


@pytest.fixture
def researcher(db: None) -> Client:
    return client_of("Researcher")


@pytest.fixture
def link_batch(db: None, own_folders: Path) -> Batch:
    return make_link_batch()


@pytest.fixture
def ada(link_batch: Batch) -> Visitor:
    return Visitor(path_of(invite_one(link_batch, "Ada")))
