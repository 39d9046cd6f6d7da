"""The marketplace on a live server, for tests that need it."""

import pytest
from django.contrib.auth.models import User

from tests.market_site import eager, in_parallel, site, wire

__all__ = ["eager", "in_parallel", "site", "wire"]


@pytest.fixture
def person() -> User:
    return User.objects.create_user("ada")
