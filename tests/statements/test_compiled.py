"""What is compiled once says the same as what Django compiles each time."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.db.models import DurationField, ExpressionWrapper, F
from django.db.transaction import TransactionManagementError
from django.utils import timezone

from annotators.models import Hold, Worker
from statements import (
    ByHand,
    Change,
    Hole,
    Moment,
    Statement,
    Together,
    insert,
)
from statements.gathered import Fetched
from tests.statements.workers import column, named, new

pytestmark = pytest.mark.django_db
NAME = Hole("name", column("worker_id"))


def test_rows_are_the_models_of_the_query_set() -> None:
    insert(new("A1", "A2"))
    found = named().first(name="A2")
    assert found == Worker.objects.get(worker_id="A2")
    assert vars(found) | {"_state": None} == vars(Worker.objects.get(worker_id="A2")) | {"_state": None}
    assert named().all(name="A2") == [found]
    assert named().first(name="A3") is None


def test_one_statement_takes_other_values_each_time() -> None:
    insert(new("A1", "A2"))
    statement = named()
    assert [statement.all(name=name)[0].worker_id for name in ("A1", "A2", "A1")] == ["A1", "A2", "A1"]


def test_values_are_as_django_reads_them() -> None:
    insert(new("A1"))
    statement = Statement(lambda: Worker.objects.values_list("worker_id", "created_at", "purged_at"))
    assert [tuple(row) for row in statement.rows()] == list(
        Worker.objects.values_list("worker_id", "created_at", "purged_at")
    )


def test_a_moment_is_compared_to_the_microsecond() -> None:
    insert(new("A1"))
    at = Worker.objects.get().created_at
    statement = Statement(lambda: Worker.objects.filter(created_at__lte=Hole("now", column("created_at"))))
    assert [len(statement.all(now=at + timedelta(microseconds=late))) for late in (-1, 0)] == [0, 1]


def test_a_moment_has_others_before_and_after_it() -> None:
    insert(new("A1"))
    at, second = Worker.objects.get().created_at, timedelta(seconds=1)
    now = Moment("now")
    within = Statement(
        lambda: Worker.objects.filter(created_at__gte=now - second, created_at__lt=now + second)
    )
    assert [len(within.all(now=at + n * second)) for n in (-1, 0, 1, 2)] == [0, 1, 1, 0]
    Change(Worker.objects.all, purged_at=now + second - 3 * second)(now=at)
    assert Worker.objects.get().purged_at == at - 2 * second


def test_what_lies_between_a_moment_and_a_column_is_a_duration() -> None:
    insert(new("A1"))
    at, late = Worker.objects.get().created_at, timedelta(days=2, microseconds=7)
    age = ExpressionWrapper(Moment("now") - F("created_at"), output_field=DurationField())
    ((found,),) = Statement(lambda: Worker.objects.values_list(age)).rows(now=at + late)
    assert found == late


def test_one_row_is_asked_for_that_has_to_be_there() -> None:
    insert(new("A1"))
    assert named().get(name="A1") == Worker.objects.get()
    with pytest.raises(Worker.DoesNotExist, match="A2"):
        named().get(name="A2")


def test_a_change_writes_what_it_is_given_and_says_to_how_many() -> None:
    insert(new("A1", "A2"))
    now = timezone.now()
    change = Change(
        lambda: Worker.objects.filter(worker_id=Hole("name", column("worker_id")), standing="ok"),
        standing="excluded",
        purged_at=Hole("now", column("purged_at")),
    )
    assert [change(name="A1", now=now), change(name="A1", now=now)] == [1, 0]
    assert list(Worker.objects.order_by("pk").values_list("standing", "purged_at")) == [
        ("excluded", now),
        ("ok", None),
    ]


def test_a_change_returns_its_rows_as_django_reads_them() -> None:
    """As they are once they are written, whoever wrote what else in them."""
    hold = Hold.objects.create(reason="A restore", books={"a": [1, None]}, released_by="")
    change = Change(
        lambda: Hold.objects.filter(pk=Hole("pk", Hold._meta.pk), released_at=None),
        released_at=Moment("now"),
        released_by=Hole("by", Hold._meta.get_field("released_by")),
    )
    Hold.objects.update(listings={"embedded": {}})
    now = timezone.now()
    names = [field.attname for field in Hold._meta.concrete_fields]
    (row,) = change.rows(pk=hold.pk, now=now, by="Ada")
    assert tuple(row) == Hold.objects.values_list(*names).get()
    assert (row[names.index("released_at")], row[names.index("listings")]) == (now, {"embedded": {}})
    assert change.rows(pk=hold.pk, now=now, by="Bob") == []


@pytest.mark.parametrize("name", ["100%", "%s", "O'Neil", "''", '"', "\\", "%%", "ü \N{PANDA FACE}"])
def test_what_never_changes_is_written_into_the_words(name: str) -> None:
    """Into SQLite's too, which plans anew for each value that an index may be for."""
    insert(new(name, "A1"))
    source = Hole("source", column("source"))
    called = Statement(lambda: Worker.objects.filter(worker_id=name, source=source))
    others = Change(lambda: Worker.objects.exclude(worker_id=name), standing=name[:10], purged_at=None)
    for _ in range(3):
        assert [one.worker_id for one in called.all(source="embedded")] == [name]
        assert called.all(source="mturk") == []
        assert others() == 1
    assert Worker.objects.get(standing=name[:10]).worker_id == "A1"
    assert called.words.holes == [source]
    if connection.vendor == "sqlite":
        assert called.words.sql.count("%s") == 1 + name.count("%s")


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 10**30])
def test_a_number_beyond_64_bits_is_asked_of_no_database(number: int) -> None:
    by_key = Statement(lambda: Worker.objects.filter(pk=Hole("pk", Worker._meta.pk)))
    for _ in range(3):
        assert by_key.first(pk=2**63 - 1) is by_key.first(pk=1 - 2**63) is None
        with pytest.raises(OverflowError):
            by_key.first(pk=number)


def test_two_statements_are_asked_in_one() -> None:
    """The rows of the other are those of its own query set; without the one there is nothing."""
    insert(new("A1", "A2", "B1"))
    others = Statement(lambda: Worker.objects.filter(worker_id__lt=Hole("below", column("worker_id"))))
    for _ in range(3):
        for one, below in (("A1", "B"), ("A2", "A"), ("A9", "C")):
            found, among = Together(named(), others)(name=one, below=below)
            assert found == Worker.objects.filter(worker_id=one).first()
            assert set(among) == (set(Worker.objects.filter(worker_id__lt=below)) if found else set())
            for worker in filter(None, [found, *among]):
                assert vars(worker) | {"_state": None} == vars(Worker.objects.get(pk=worker.pk)) | {
                    "_state": None
                }


def test_a_lock_is_asked_for_by_itself() -> None:
    if connection.features.has_select_for_update:
        with pytest.raises(TypeError, match="by itself"):
            Together(named(), Statement(Worker.objects.select_for_update().all))(name="A1")


def test_a_row_by_hand_is_asked_for_with_others_as_it_is_stored() -> None:
    insert(new("A1", "A2"))
    by_hand = ByHand(
        "SELECT worker_id, created_at, NULL FROM annotators_worker WHERE worker_id = %s", NAME, width=3
    )
    together = Together(by_hand, Statement(Worker.objects.all))
    for _ in range(3):
        found, workers = together(name="A2")
        assert (found, len(workers)) == (by_hand.row(name="A2"), 2)


@pytest.mark.django_db(transaction=True)
def test_a_lock_needs_a_transaction() -> None:
    insert(new("A1"))
    locked = Statement(lambda: Worker.objects.select_for_update())
    with transaction.atomic():
        assert len(locked.all()) == 1
    if connection.features.has_select_for_update:
        with pytest.raises(TransactionManagementError):
            locked.all()


def test_rows_that_came_with_their_owner_can_not_be_asked_for_others() -> None:
    known = Fetched.of(Worker, new("A1"))
    assert [worker.worker_id for worker in known] == ["A1"]
    assert len(known) == 1
    with pytest.raises(TypeError):
        known.filter(worker_id="A1")
