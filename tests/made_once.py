"""Rows that all tests of a file begin with, made once: each test's own changes go back to them."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import transaction
from pytest_django import DjangoDbBlocker


def made_once(make: Callable[[], Any], *, autouse: bool = False) -> Any:
    """Return a fixture of what `make` returns, whose rows are made in a transaction around those of a file's tests.

    It is rolled back after the last of them. Objects in memory are not: a test that changes them takes a copy.
    """

    @pytest.fixture(scope="module", autouse=autouse)
    def made(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Any]:
        around = transaction.atomic()
        around._from_testcase = True  # type: ignore[attr-defined]  # as TestCase: code may ask for the outermost
        with django_db_blocker.unblock(), around:
            yield make()
            transaction.set_rollback(True)

    return made
