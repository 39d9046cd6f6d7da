"""Pictures in a folder of the test's own; researchers, and people who come to a HIT or by link."""

from decimal import Decimal
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from annotators.crowds.mturk.gateway import Gateway
from surveys import enqueue, urls
from surveys.models import Batch, Questionnaire
from tests.builders import make_questionnaire
from tests.factories import make_published
from tests.link_people import invite_one
from tests.link_study import Visitor, make_link_batch, path_of
from tests.people import client_of


@pytest.fixture(autouse=True)
def own_pictures(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture(autouse=True)
def balance(monkeypatch: pytest.MonkeyPatch) -> dict[str, Decimal | Exception]:
    """What the marketplace's account holds, in `balance["dollars"]`; an exception there is raised instead."""
    answer: dict[str, Decimal | Exception] = {"dollars": Decimal("1000.00")}

    def read(gateway: Gateway) -> Decimal:
        held = answer["dollars"]
        if isinstance(held, Exception):
            raise held
        return held

    monkeypatch.setattr(Gateway, "balance", read)
    return answer


# All pages are loaded before a test changes what they load by name: a test may be the first of its process.
assert urls.urlpatterns


@pytest.fixture(autouse=True)
def reports_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A report that a page asks for is made before the page goes on; pages never make one themselves."""
    monkeypatch.setattr(enqueue, "enqueue", lambda task, *args: task(*args))


@pytest.fixture
def questionnaire(db: None, own_pictures: None) -> Questionnaire:
    return make_questionnaire()


@pytest.fixture
def published(db: None) -> Questionnaire:
    """Five items with a gold answer, on a HIT."""
    return make_published()


@pytest.fixture
def researcher(db: None) -> Client:
    return client_of("Researcher")


@pytest.fixture
def assistant(db: None) -> Client:
    return client_of("Assistant")


@pytest.fixture
def visitor() -> Client:
    """A browser without a cookie, held to what forms must carry."""
    return Client(enforce_csrf_checks=True)


@pytest.fixture
def link_batch(db: None, own_pictures: None) -> Batch:
    """Three VTT annotations for people who come by link."""
    return make_link_batch()


@pytest.fixture
def ada(link_batch: Batch) -> Visitor:
    return Visitor(path_of(invite_one(link_batch, "Ada")))


@pytest.fixture
def bob(link_batch: Batch) -> Visitor:
    return Visitor(path_of(invite_one(link_batch, "Bob")))
