"""My data: what is kept about a worker, taken along and deleted by nobody but them."""

import json
from datetime import datetime, timedelta

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django.db.models import CharField, JSONField, TextField
from django.db.models.functions import Cast
from django.test import Client
from django.utils import timezone

from marketplace import clock
from marketplace.accounts import contact, keys
from marketplace.engine import assignments
from marketplace.models import (
    HIT,
    Assignment,
    Entry,
    LoggedCall,
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.money import audit, ledger

pytestmark = pytest.mark.django_db


def cells_with(text: str) -> list[str]:
    """Every column of the marketplace's and of Django's tables that holds a text: "table.column"."""
    found = []
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, CharField | TextField | JSONField):
                rows = model._default_manager.annotate(cell=Cast(field.name, TextField()))
                if rows.filter(cell__icontains=text).exists():
                    found.append(f"{model.__name__}.{field.name}")
    return sorted(found)


@pytest.fixture
def account() -> tuple[Worker, str]:
    return keys.create_worker()


@pytest.fixture
def worker(account: tuple[Worker, str]) -> Worker:
    return account[0]


@pytest.fixture
def signed_in(account: tuple[Worker, str]) -> Client:
    worker, code = account
    client = Client(headers={"host": "localhost"})
    client.post("/sign-in", {"worker_id": worker.worker_id, "access_code": code})
    return client


@pytest.fixture
def paid(worker: Worker, requester: Requester, mturk, new_hit) -> Assignment:
    """Work of theirs that was approved and has a bonus, and their id in every place where one can be written."""
    hit = HIT.objects.get(hit_id=new_hit(MaxAssignments=2))
    named, now = f"I am {worker.worker_id}, {worker.worker_id.lower()}.", clock.now()
    row = assignments.accept(hit, worker=worker, now=now)
    assignments.submit(row, answer=f"<a>{named}</a>", now=now)
    assignments.approve(Assignment.objects.get(pk=row.pk), feedback=named, now=now)
    mturk.send_bonus(
        WorkerId=worker.worker_id,
        AssignmentId=row.assignment_id,
        BonusAmount="0.50",
        Reason=named,
        UniqueRequestToken=f"b:{worker.worker_id}",
    )
    contact.block(requester, worker=worker, reason=named)
    contact.notify(requester, worker_ids=[worker.worker_id], subject="You", text=named, now=now)
    scale = QualificationType.objects.create(
        type_id="3SCALE", requester=requester, name="Eyes", description="", status="Active", created_at=now
    )
    Qualification.objects.create(qualification_type=scale, worker=worker, value=7, granted_at=now)
    QualificationRequest.objects.create(
        request_id="3REQUEST", qualification_type=scale, worker=worker, submitted_at=now, answer=named
    )
    LoggedCall.objects.create(
        requester=requester,
        operation="SendBonus",
        status=200,
        request=json.dumps({"of": named}),
        called_at=now,
    )
    Client(headers={"host": "localhost"}).post(
        "/sign-in", {"worker_id": worker.worker_id, "access_code": "no"}
    )
    return Assignment.objects.get(pk=row.pk)


def test_the_file_has_all_of_it(signed_in: Client, worker: Worker, paid: Assignment) -> None:
    answer = signed_in.get("/my-data/download")
    assert answer["Content-Disposition"] == f'attachment; filename="{worker.worker_id}.json"'
    kept = json.loads(answer.content)
    named = f"I am {worker.worker_id}, {worker.worker_id.lower()}."
    (work,) = kept["assignments"]
    assert kept["account"]["worker_id"] == worker.worker_id
    assert (work["answer"], work["requesters_comment"], work["status"]) == (
        f"<a>{named}</a>",
        named,
        "Approved",
    )
    assert [(bonus["cents"], bonus["reason"]) for bonus in work["bonuses"]] == [(50, named)]
    assert [row["value"] for row in kept["qualifications"]] == [7]
    assert [row["answer"] for row in kept["qualification_requests"]] == [named]
    assert [row["text"] for row in kept["messages"]] == [named]
    assert [row["reason"] for row in kept["blocked_by"]] == [named]
    assert [datetime.fromisoformat(at).tzinfo is not None for at in kept["failed_sign_ins"]] == [True]


def test_a_deleted_account_is_in_no_cell_and_the_money_adds_up(
    signed_in: Client, account: tuple[Worker, str], paid: Assignment, requester: Requester
) -> None:
    worker, code = account
    before = list(Entry.objects.order_by("pk").values_list("source", "target", "cents", "assignment"))
    assert len(cells_with(worker.worker_id)) >= 9
    answer = signed_in.post("/my-data/delete", {"access_code": code})
    assert (answer.status_code, "Your account is deleted" in answer.content.decode()) == (200, True)
    assert cells_with(worker.worker_id) == []
    assert list(Entry.objects.order_by("pk").values_list("source", "target", "cents", "assignment")) == before
    assert audit.statement(requester)["problems"] == []
    assert ledger.account_sum(requester, account=Entry.Account.WORKERS) == 88
    left = Worker.objects.get(pk=worker.pk)
    assert (left.worker_id.startswith("ADELETED"), left.is_active) == (True, False)
    assert Assignment.objects.get(pk=paid.pk).answer == f"<a>I am {left.worker_id}, {left.worker_id}.</a>"
    assert not keys.check_code(left, code=code)


def test_nobody_is_signed_in_any_more(signed_in: Client, account: tuple[Worker, str]) -> None:
    worker, code = account
    other = Client(headers={"host": "localhost"})
    other.post("/sign-in", {"worker_id": worker.worker_id, "access_code": code})
    signed_in.post("/my-data/delete", {"access_code": code})
    for client in (signed_in, other):
        assert client.get("/my-data").status_code == 302
        assert client.get("/my-data/download").status_code == 302
    again = other.post("/sign-in", {"worker_id": worker.worker_id, "access_code": code})
    assert again.status_code == 422


@pytest.mark.parametrize("address", ["/my-data", "/my-data/download"])
def test_a_worker_id_alone_shows_nothing(worker: Worker, address: str) -> None:
    stranger = Client(headers={"host": "localhost"})
    answer = stranger.get(address, {"workerId": worker.worker_id})
    assert (answer.status_code, answer["Location"].split("?")[0]) == (302, "/sign-in")


def test_without_the_code_nothing_is_deleted(signed_in: Client, worker: Worker) -> None:
    answer = signed_in.post("/my-data/delete", {"access_code": "WRONG"})
    assert (answer.status_code, "not the access code" in answer.content.decode()) == (422, True)
    assert signed_in.post("/my-data/delete").status_code == 422
    assert Worker.objects.get().worker_id == worker.worker_id


def test_wrong_codes_are_held_up(signed_in: Client, account: tuple[Worker, str]) -> None:
    for _ in range(10):
        signed_in.post("/my-data/delete", {"access_code": "WRONG"})
    answer = signed_in.post("/my-data/delete", {"access_code": account[1]})
    assert (answer.status_code, "Too many attempts" in answer.content.decode()) == (422, True)


def test_work_that_waits_for_its_pay_has_to_be_settled_first(
    signed_in: Client, account: tuple[Worker, str], new_hit
) -> None:
    worker, code = account
    hit = HIT.objects.get(hit_id=new_hit(MaxAssignments=1))
    row = assignments.accept(hit, worker=worker, now=clock.now())
    assert "1 HIT is in your queue." in signed_in.get("/my-data").content.decode()
    assignments.submit(row, answer="<a/>", now=clock.now())
    answer = signed_in.post("/my-data/delete", {"access_code": code})
    assert (answer.status_code, "1 HIT is submitted" in answer.content.decode()) == (409, True)
    assert Worker.objects.get().is_active
    assignments.approve(Assignment.objects.get(pk=row.pk), feedback=None, now=clock.now())
    assert signed_in.post("/my-data/delete", {"access_code": code}).status_code == 200


def purged(capsys, *options: str) -> str:
    call_command("marketplace_purge", "--before", timezone.localdate().isoformat(), *options)
    return capsys.readouterr().out


def test_the_calendar_erases_who_is_idle(worker: Worker, paid: Assignment, capsys) -> None:
    assert purged(capsys) == "accounts erased: 0\n"
    long_ago = timezone.now() - timedelta(days=400)
    Worker.objects.update(created_at=long_ago)
    Assignment.objects.update(accepted_at=long_ago, submitted_at=long_ago, approved_at=long_ago)
    Qualification.objects.update(granted_at=long_ago)
    QualificationRequest.objects.update(submitted_at=long_ago)
    assert purged(capsys, "--spare", worker.worker_id) == "accounts erased: 0\n"
    assert purged(capsys, "--dry-run") == "accounts to erase: 1\n"
    assert cells_with(worker.worker_id) != []
    assert purged(capsys) == "accounts erased: 1\n"
    assert cells_with(worker.worker_id) == []
    assert purged(capsys) == "accounts erased: 0\n"


@pytest.mark.parametrize("deed", ["accepted_at", "submitted_at", "approved_at"])
def test_who_did_one_thing_since_is_not_idle(worker: Worker, paid: Assignment, capsys, deed: str) -> None:
    long_ago = timezone.now() - timedelta(days=400)
    times = {"accepted_at": long_ago, "submitted_at": long_ago, "approved_at": long_ago, deed: timezone.now()}
    Worker.objects.update(created_at=long_ago)
    Assignment.objects.update(**times)
    Qualification.objects.update(granted_at=long_ago)
    QualificationRequest.objects.update(submitted_at=long_ago)
    call_command("marketplace_purge", "--before", (timezone.localdate() - timedelta(days=30)).isoformat())
    assert capsys.readouterr().out == "accounts erased: 0\n"


def test_the_history_of_changes_names_nobody(worker: Worker, django_user_model) -> None:
    LogEntry.objects.create(
        user=django_user_model.objects.create_user("carla"),
        object_repr=worker.worker_id,
        action_flag=2,
        change_message=f"New code for {worker.worker_id}.",
    )
    Worker.objects.update(created_at=timezone.now() - timedelta(days=400))
    call_command("marketplace_purge", "--before", timezone.localdate().isoformat())
    assert cells_with(worker.worker_id) == []
