"""What is compiled once says the same as what Django compiles each time."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import connection, transaction
from django.db.models import DurationField, ExpressionWrapper, F
from django.db.transaction import TransactionManagementError
from django.utils import timezone

from annotators.models import Hold, Worker
from statements import Change, Fetched, Hole, Moment, Statement, insert, insert_if, insert_values

pytestmark = pytest.mark.django_db


def column(name: str) -> object:
    return Worker._meta.get_field(name)


def named() -> Statement[Worker]:
    return Statement(
        lambda: Worker.objects.filter(worker_id=Hole("name", column("worker_id"))).order_by("pk")
    )


def new(*names: str) -> list[Worker]:
    return [Worker(worker_id=name, source="embedded") for name in names]


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


def test_a_row_is_written_if_something_is_found() -> None:
    insert(new("A1"))
    one, other = new("A2", "A3")
    assert (insert_if(one, named(), name="A1"), insert_if(other, named(), name="A9")) == (True, False)
    assert one == Worker.objects.get(worker_id="A2")
    assert vars(one) | {"_state": None} == vars(Worker.objects.get(worker_id="A2")) | {"_state": None}
    assert (other.pk, Worker.objects.count()) == (None, 2)


def test_one_row_is_written_however_many_are_found() -> None:
    insert(new("A1", "A2"))
    assert insert_if(*new("A3"), Statement(Worker.objects.all))
    assert Worker.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_what_is_found_under_a_lock_is_found_in_a_transaction() -> None:
    locking = Statement(Worker.objects.select_for_update().all)
    insert(new("A1"))
    with transaction.atomic():
        assert insert_if(*new("A2"), locking)
    if connection.features.has_select_for_update:
        with pytest.raises(TransactionManagementError):
            insert_if(*new("A3"), locking)
    assert Worker.objects.count() == 2


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


def test_inserted_rows_have_their_keys() -> None:
    rows = new("A1", "A2")
    insert(rows)
    assert [Worker.objects.get(worker_id=row.worker_id).pk for row in rows] == [row.pk for row in rows]
    assert insert([]) == []


def test_values_of_another_type_than_their_column_are_written_as_django_writes_them() -> None:
    values = {"worker_id": 7, "source": "embedded", "standing": Worker.Standing.EXCLUDED}
    insert([Worker(**values)])
    written = Worker.objects.values_list("worker_id", "standing").get()
    Worker.objects.all().delete()
    Worker(**values).save()
    assert written == Worker.objects.values_list("worker_id", "standing").get() == ("7", "excluded")


def test_rows_need_not_be_models(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = [field.attname for field in Worker._meta.local_concrete_fields if not field.primary_key]
    rows = [
        SimpleNamespace(**{name: getattr(row, name) for name in columns}) for row in new("A0", "A1", "A2")
    ]
    monkeypatch.setattr(connection.ops, "bulk_batch_size", lambda fields, rows: 2)
    keys = insert_values(rows, model=Worker)
    assert [Worker.objects.get(pk=key).worker_id for key in keys] == ["A0", "A1", "A2"]
    assert insert_values([], model=Worker) == []


def test_what_conflicts_is_skipped() -> None:
    insert(new("A1"))
    again = insert(new("A1"), on_conflict="ON CONFLICT (source, worker_id) DO NOTHING")
    assert again == []
    assert Worker.objects.count() == 1


def test_rows_are_more_than_one_statement_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection.ops, "bulk_batch_size", lambda fields, rows: 2)
    rows = new("A1", "A2", "A3")
    insert(rows)
    assert list(Worker.objects.order_by("worker_id").values_list("pk", flat=True)) == [row.pk for row in rows]


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
