"""What several files here start from: the marketplace on a live server, a questionnaire, a published study."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User

from annotators.models import Assignment
from surveys.models import Batch, Questionnaire
from tests.factories import make_published, open_for
from tests.judged import cautious
from tests.market_site import eager, in_parallel, site, wire
from tests.protocols import ESNLIVE
from tests.surveys.results.published import load_published

__all__ = ["cautious", "eager", "in_parallel", "site", "wire"]


@pytest.fixture
def person() -> User:
    return User.objects.create_user("ada")


@pytest.fixture
def questionnaire() -> Questionnaire:
    return make_published()


@pytest.fixture
def assignment(questionnaire: Questionnaire) -> Assignment:
    return open_for(questionnaire, worker="AWORKER")


@pytest.fixture
def published_file(shared: Path) -> Path:
    """OFA-X's raw file of e-SNLI-VE."""
    return shared / "data/ofax/esnlive_unifiedresults_raw.csv"


@pytest.fixture
def study(published_file: Path) -> Batch:
    """That whole study as a batch of ours."""
    return load_published(published_file, definition=ESNLIVE)


@pytest.fixture
def batch(published_file: Path) -> Batch:
    """The first two HITs of that study, with the rejected assignments in them."""
    return load_published(published_file, definition=ESNLIVE, n=12)
