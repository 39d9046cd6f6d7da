"""What one annotation costs a person who came by link, in statements: growth is to be seen here."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.link_people import invite_one
from tests.link_study import SCORES, Visitor, make_link_batch, path_of

pytestmark = pytest.mark.django_db


def statements(request: Callable[[], Any]) -> int:
    """Return how many statements a request took, but for savepoints, which the test's own transaction makes of them."""
    with CaptureQueriesContext(connection) as captured:
        request()
    return sum("SAVEPOINT" not in query["sql"] for query in captured.captured_queries)


def test_an_annotation_in_the_middle() -> None:
    visitor = Visitor(path_of(invite_one(make_link_batch(n_items=4))))
    visitor.start()
    visitor.answer(1)
    work = visitor.open(2)
    costs = {
        "list": statements(visitor.open),
        "start": statements(visitor.start),
        "work": statements(lambda: visitor.open(2)),
        "submit": statements(lambda: visitor.client.post(visitor.at(2), visitor.scores(work, **SCORES))),
    }
    assert costs == {"list": 8, "start": 5, "work": 12, "submit": 25}
