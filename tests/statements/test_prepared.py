"""What PostgreSQL keeps of a statement says the same as the statement, and what it would not keep is sent as it is."""

import time
from typing import Any

import pytest
from django.db import DataError, IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotators.models import HIT, Hold, Worker
from statements import ByHand, Change, Hole, Moment, Statement, insert, insert_if, insert_new
from statements import words as words_of
from tests.statements.workers import column, named, new

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(
        connection.vendor != "postgresql", reason="only PostgreSQL prepares what it is asked for"
    ),
]
OFTEN = range(8)  # the first as it is, the second prepared, and from the seventh on one plan is kept
ONE = named()
PURGED = Change(
    lambda: Worker.objects.filter(worker_id=Hole("name", column("worker_id"))), purged_at=Moment("now")
)


@pytest.fixture
def kept() -> Any:
    """Returns what a connection's server has prepared since to read rows, by its words.

    To write them, any test before may have asked for the first time.
    """

    def ask() -> dict[str, tuple[int, int]]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT statement, generic_plans, custom_plans FROM pg_prepared_statements "
                "WHERE statement NOT LIKE '%INSERT INTO%'"
            )
            return {words: (generic, custom) for words, generic, custom in cursor if words not in before}

    before: dict[str, Any] = {}
    before = ask()
    return ask


def unlike(name: str) -> Statement[Worker]:
    """Returns a statement with words of its own: the same are prepared once for a connection, and here by any test."""
    return Statement(
        lambda: Worker.objects.filter(worker_id=Hole("name", column("worker_id"))).exclude(worker_id=name)
    )


def test_what_is_asked_again_is_prepared_once(kept: Any) -> None:
    insert(new("A1", "A2"))
    statement = unlike("prepared once")
    assert [statement.first(name=f"A{n % 3}") for n in OFTEN] == [
        Worker.objects.filter(worker_id=f"A{n % 3}").first() for n in OFTEN
    ]
    ((words, plans),) = kept().items()
    assert plans == (2, 5)
    assert "$1" in words
    assert "'prepared once'" in words, (
        "a value that never changes is no parameter: an index may be for it alone"
    )


def test_the_same_words_are_prepared_once(kept: Any) -> None:
    insert(new("A1"))
    for _ in OFTEN:
        assert unlike("the same").first(name="A1") is not None
    assert len(kept()) == 1


def test_what_was_prepared_a_while_ago_is_prepared_anew(kept: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan for a small table would be kept where that has grown: until autovacuum has looked, nobody says so."""
    insert(new("A1"))
    statement, now = unlike("anew"), time.monotonic()
    for _ in OFTEN:
        statement.first(name="A1")
    monkeypatch.setattr("time.monotonic", lambda: now + 2 * words_of.ANEW_AFTER)
    assert statement.first(name="A1") == Worker.objects.get()
    assert list(kept().values()) == [(0, 1)]
    assert statement.first(name="A1") == Worker.objects.get()
    assert list(kept().values()) == [(0, 2)]


def test_what_is_asked_once_is_not_prepared(kept: Any) -> None:
    unlike("once").first(name="A1")
    assert kept() == {}


def test_what_is_recorded_is_sent_as_it_is() -> None:
    statement = unlike("recorded")
    for _ in OFTEN:
        with CaptureQueriesContext(connection) as captured:
            statement.first(name="A1")
        assert [one["sql"].partition(" ")[0] for one in captured] == ["SELECT"]


def test_a_new_connection_prepares_anew(kept: Any, transactional_db: None) -> None:
    insert(new("A1"))
    statement = unlike("a new connection")
    for _ in range(2):
        assert [statement.first(name=name) is None for name in ("A1", "A2", "A1")] == [False, True, False]
        assert [words for words in kept() if "a new connection" in words] != []
        connection.close()


def test_what_failed_is_prepared_later(kept: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    insert(new("A1"))
    statement, now = unlike("later"), time.monotonic()
    statement.first(name="A1")
    with pytest.raises(ValueError, match="NUL"):
        statement.first(name="A\0")
    assert (statement.first(name="A1"), kept()) == (Worker.objects.get(), {})
    monkeypatch.setattr("time.monotonic", lambda: now + 2 * words_of.ANEW_AFTER)
    assert (statement.first(name="A1"), len(kept())) == (Worker.objects.get(), 1)


@pytest.mark.parametrize(
    "sql", ["ALTER TABLE annotators_worker ALTER worker_id TYPE varchar(%s)", "DEALLOCATE ALL"]
)
def test_what_the_server_has_no_longer_is_sent_as_it_is(sql: str, transactional_db: None) -> None:
    """As where somebody migrates under a running site. In a transaction it fails, as that is broken then."""
    insert(new("A1"))
    statement, length = unlike(f"no longer {sql[:3]}"), column("worker_id").max_length
    try:
        for _ in OFTEN:
            statement.first(name="A1")
        with connection.cursor() as cursor:
            cursor.execute(sql, [length + 5] if "%s" in sql else [])
        assert [statement.first(name=name) for name in ("A1", "A2")] == [Worker.objects.get(), None]
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"ALTER TABLE annotators_worker ALTER worker_id TYPE varchar({length})")
        connection.close()


def test_what_failed_while_it_was_prepared_is_sent_as_it_is(kept: Any) -> None:
    ours = Change(
        lambda: Worker.objects.filter(worker_id=Hole("name", column("worker_id"))),
        worker_id=Hole("other", column("worker_id")),
    )
    insert(new("A1", "A2"))
    assert ours(name="A3", other="A4") == 0
    with pytest.raises(IntegrityError), transaction.atomic():
        ours(name="A1", other="A2")
    n_kept = len(kept())
    assert [ours(name="A1", other="A3"), ours(name="A3", other="A4"), ours(name="A3", other="A5")] == [
        1,
        1,
        0,
    ]
    assert len(kept()) == n_kept


@pytest.mark.parametrize("n", OFTEN)
def test_any_number_of_rows_is_written(n: int) -> None:
    rows = new(*(f"A{k}" for k in range(n + 1)))
    insert(rows)
    assert [Worker.objects.get(worker_id=row.worker_id).pk for row in rows] == [row.pk for row in rows]


@pytest.mark.parametrize("n", OFTEN)
def test_a_row_is_written_unless_it_is_there(n: int) -> None:
    for is_new in (True, False):
        (row,) = new(f"A{n}")
        assert (insert_new(row, unique=("source", "worker_id")), row.pk is None) == (is_new, not is_new)
    assert Worker.objects.get().worker_id == f"A{n}"


@pytest.mark.parametrize("n", OFTEN)
def test_a_row_is_written_if_another_is_found(n: int) -> None:
    insert(new("A0"))
    (one,), (other,) = new(f"B{n}"), new(f"C{n}")
    assert (insert_if(one, ONE, name="A0"), insert_if(other, ONE, name="A1")) == (True, False)
    assert list(Worker.objects.exclude(worker_id="A0")) == [one]


@pytest.mark.parametrize("n", OFTEN)
def test_a_row_is_changed(n: int) -> None:
    insert(new("A0", f"A{n + 1}"))
    now = timezone.now()
    assert (PURGED(name=f"A{n + 1}", now=now), PURGED(name="B0", now=now)) == (1, 0)
    assert Worker.objects.get(worker_id=f"A{n + 1}").purged_at == now
    assert [row[0] for row in PURGED.rows(name="A0", now=None)] == [Worker.objects.get(purged_at=None).pk]


@pytest.mark.parametrize("_", range(3))
def test_columns_of_any_kind_are_written_for_many_rows(_: int) -> None:
    now = timezone.now()
    rows = [
        Hold(reason="{a,\"b\"} 100 % \\ 'ü' \N{PANDA FACE}", books={"a": [1, None, "%s"]}, compared_at=now),
        Hold(reason="", books=[], listings={"x": False}, released_at=now, released_by="Ada"),
        Hold(reason="NULL", books="text", compared_at=None),
    ]
    written = [(row.reason, row.books, row.listings, row.compared_at, row.released_at) for row in rows]
    insert(rows[:2])
    insert(rows[2:])
    assert [
        (row.reason, row.books, row.listings, row.compared_at, row.released_at)
        for row in Hold.objects.order_by("pk")
    ] == written
    assert [row.pk for row in Hold.objects.order_by("pk")] == [row.pk for row in rows]


@pytest.mark.parametrize("_", range(3))
def test_what_is_too_long_is_refused_and_not_cut(_: int) -> None:
    longest = column("worker_id").max_length
    with pytest.raises(DataError), transaction.atomic():
        insert(new("A" * (longest + 1)))
    insert(new("A" * longest))
    assert Worker.objects.get().worker_id == "A" * longest
    assert ONE.first(name="A" * (longest + 1)) is None


def test_a_number_that_no_column_holds_matches_none() -> None:
    wide = Statement(
        lambda: HIT.objects.filter(max_assignments=Hole("n", HIT._meta.get_field("max_assignments")))
    )
    assert [wide.all(n=2**63 - 1) for _ in OFTEN] == [[] for _ in OFTEN]


def test_a_value_that_stands_in_two_places_is_given_once(kept: Any) -> None:
    twice = ByHand(
        "SELECT %s::text || %s::text, %s",
        Hole("name", column("worker_id")),
        Hole("name", column("worker_id")),
        Moment("now"),
        width=2,
    )
    now = timezone.now()
    assert [twice.row(name=f"A{n}", now=now) for n in OFTEN] == [(f"A{n}A{n}", now) for n in OFTEN]
    (words,) = [words for words in kept() if "$1::text || $1::text" in words]
    assert "$3" not in words
