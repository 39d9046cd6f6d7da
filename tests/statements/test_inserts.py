"""New rows are written as Django would have written them."""

from types import SimpleNamespace

import pytest
from django.db import connection, transaction
from django.db.transaction import TransactionManagementError

from annotators.models import Worker
from statements import Statement, insert, insert_if, insert_values
from tests.statements.workers import named, new

pytestmark = pytest.mark.django_db


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
