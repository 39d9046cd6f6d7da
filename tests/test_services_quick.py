"""What the tests leave out takes nothing away that a test stands on."""

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.sessions.models import Session
from django.db import connection
from django.utils import timezone

from tests.services_quick import take_back_space


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite's files have no dead rows")
def test_only_tables_that_have_grown_are_emptied():
    User.objects.create_user("ada")
    before = Permission.objects.count()
    Session.objects.bulk_create(
        Session(session_key=str(n), session_data="x" * 1000, expire_date=timezone.now()) for n in range(600)
    )
    assert take_back_space() == ["django_session"]
    assert (Session.objects.count(), User.objects.count(), Permission.objects.count()) == (0, 1, before)
    assert take_back_space() == []
