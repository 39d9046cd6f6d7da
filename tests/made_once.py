"""Rows that all tests of a file begin with, made once: each test's own changes go back to them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from django.db import transaction
from pytest_django import DjangoDbBlocker

T = TypeVar("T")


@contextmanager
def made_once(make: Callable[[], T], *, blocker: DjangoDbBlocker) -> Iterator[T]:
    """Make rows in a transaction around those of the tests, for a fixture of scope "module"; it is rolled back.

    Objects in memory are not: a test gets a copy of them.
    """
    around = transaction.atomic()
    around._from_testcase = True  # type: ignore[attr-defined]  # as Django's own TestCase: code may ask for the outermost
    with blocker.unblock(), around:
        yield make()
        transaction.set_rollback(True)
