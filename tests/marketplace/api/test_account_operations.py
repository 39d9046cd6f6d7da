"""A requester has accounts erased that worked for nobody else and are idle, and learns which were."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from marketplace import clock, tasks
from marketplace.accounts import keys
from marketplace.api import calls, service_model
from marketplace.api.account_operations import OPERATIONS
from marketplace.api.dispatch import OWN_PREFIX, TARGET_PREFIX
from marketplace.api.service_model import validate
from marketplace.engine import assignments, forgetting
from marketplace.models import HIT, Assignment, Requester, Worker
from tests.marketplace.api.signing import send

pytestmark = pytest.mark.django_db
YEAR = timedelta(days=365)


def asked(operation: str, requester: Requester, **body: Any) -> dict[str, Any]:
    """The answer to a body that went through the same checks as on the wire."""
    checked = validate(service_model.input_shape(operation), body)
    answer = OPERATIONS[operation](calls.Call(requester=requester, body=checked, now=clock.now()))
    shape = service_model.own_service().operation_model(operation).output_shape
    assert validate(shape, answer) == answer
    return answer


def erased(requester: Requester, *works: Assignment, days: int = 60, **body: Any) -> dict[str, Any]:
    before = (timezone.now() - timedelta(days=days)).timestamp()
    names = [work.assignment_id for work in works]
    return asked("EraseIdleAccounts", requester, AssignmentIds=names, Before=before, **body)


def paid_work(hit_id: str, *, worker: Worker | None = None) -> Assignment:
    worker = worker or keys.create_worker()[0]
    row = assignments.accept(HIT.objects.get(hit_id=hit_id), worker=worker, now=clock.now())
    assignments.submit(row, answer="<a/>", now=clock.now())
    assignments.approve(Assignment.objects.get(pk=row.pk), now=clock.now())
    return Assignment.objects.get(pk=row.pk)


def long_ago(**changes: Any) -> None:
    then = timezone.now() - YEAR
    Worker.objects.update(created_at=then)
    Assignment.objects.update(accepted_at=then, submitted_at=then, approved_at=then, **changes)


def is_erased(work: Assignment) -> bool:
    return Worker.objects.get(pk=work.worker_id).worker_id.startswith("ADELETED")


@pytest.fixture
def work(new_hit: Any) -> Assignment:
    return paid_work(new_hit(MaxAssignments=9))


@pytest.fixture
def stranger(requester: Requester) -> Requester:
    return Requester.objects.create(name="Other Lab")


def test_what_is_described_is_what_is_done() -> None:
    assert service_model.own_operation_names() == OPERATIONS.keys()


def test_idle_accounts_are_erased_once(requester: Requester, work: Assignment) -> None:
    assert erased(requester, work) == {"NumErased": 0, "Kept": []}
    long_ago()
    assert erased(requester, work, DryRun=True) == {"NumErased": 1, "Kept": []}
    assert not is_erased(work)
    assert erased(requester, work) == {"NumErased": 1, "Kept": []}
    assert is_erased(work)
    assert erased(requester, work) == {"NumErased": 0, "Kept": []}


def test_who_was_here_within_thirty_days_stays_whatever_is_asked(
    requester: Requester, work: Assignment
) -> None:
    Worker.objects.update(created_at=timezone.now() - YEAR)
    then = timezone.now() - timedelta(days=29)
    Assignment.objects.update(accepted_at=then, submitted_at=then, approved_at=then)
    assert erased(requester, work, days=0) == {"NumErased": 0, "Kept": []}
    then = timezone.now() - timedelta(days=31)
    Assignment.objects.update(accepted_at=then, submitted_at=then, approved_at=then)
    assert erased(requester, work, days=0) == {"NumErased": 1, "Kept": []}


def test_what_is_not_settled_keeps_an_account(requester: Requester, work: Assignment) -> None:
    long_ago(status="Submitted")
    (reason,) = erased(requester, work)["Kept"]
    assert "submitted and not decided yet" in reason
    assert not is_erased(work)


def test_nobody_erases_accounts_by_work_that_is_not_theirs(stranger: Requester, work: Assignment) -> None:
    long_ago()
    assert erased(stranger, work) == {"NumErased": 0, "Kept": []}
    assert not is_erased(work)


def test_who_has_worked_for_another_requester_too_stays(
    requester: Requester, stranger: Requester, work: Assignment, new_hit: Any
) -> None:
    other = paid_work(new_hit(Title="Something else"), worker=work.worker)
    HIT.objects.filter(pk=other.hit_id).update(requester=stranger)
    long_ago()
    assert erased(requester, work) == {"NumErased": 0, "Kept": []}
    assert not is_erased(work)


def test_only_handed_in_work_of_an_erased_account_is_listed(
    requester: Requester, stranger: Requester, new_hit: Any, work: Assignment
) -> None:
    hit = HIT.objects.get(hit_id=new_hit(MaxAssignments=2, Title="Look again"))
    given_back = assignments.accept(hit, worker=work.worker, now=clock.now())
    assignments.give_back(given_back, now=clock.now())
    next_one = paid_work(hit.hit_id)
    assert next_one.assignment_id == given_back.assignment_id
    names = [work.assignment_id, next_one.assignment_id, "3NOBODYS"]
    assert asked("ListErasedWork", requester, AssignmentIds=names) == {"AssignmentIds": []}
    assert forgetting.erase(work.worker, now=clock.now()) == []
    assert asked("ListErasedWork", requester, AssignmentIds=names) == {"AssignmentIds": [work.assignment_id]}
    assert asked("ListErasedWork", stranger, AssignmentIds=names) == {"AssignmentIds": []}


@pytest.mark.parametrize(
    ("prefix", "operation", "code"),
    [
        (OWN_PREFIX, "ListErasedWork", "ValidationException"),  # known; the body is empty
        (OWN_PREFIX, "GetAccountBalance", "RequestError"),
        (TARGET_PREFIX, "ListErasedWork", "RequestError"),
        ("", "ListErasedWork", "RequestError"),
    ],
)
def test_they_have_a_name_of_their_own(requester: Requester, prefix: str, operation: str, code: str) -> None:
    """What MTurk's own service does not know stays unknown there."""
    key, secret = keys.create_key(requester)
    assert send((key.key_id, secret), target=prefix + operation) == (400, code)


def test_a_signature_is_asked_for(requester: Requester) -> None:
    sent = {"target": f"{OWN_PREFIX}ListErasedWork", "body": b'{"AssignmentIds": ["3A"]}'}
    key, secret = keys.create_key(requester)
    assert send((key.key_id, secret), **sent) == (200, "")
    assert send((key.key_id, "another"), **sent) == (400, "InvalidSignatureException")


def test_accounts_that_no_requester_knows_are_erased_by_the_marketplace_itself(
    work: Assignment, settings: Any
) -> None:
    unused = keys.create_worker()[0]
    long_ago()
    settings.KEEP_WORKER_IDS_DAYS = 0
    tasks.forget_unused()
    assert Worker.objects.filter(pk=unused.pk, worker_id=unused.worker_id).exists()
    settings.KEEP_WORKER_IDS_DAYS = 100
    tasks.forget_unused()
    assert Worker.objects.get(pk=unused.pk).worker_id.startswith("ADELETED")
    assert not is_erased(work)


def handed_back(hit_id: str, *, worker: Worker) -> Assignment:
    row = assignments.accept(HIT.objects.get(hit_id=hit_id), worker=worker, now=clock.now())
    assignments.give_back(row, now=clock.now())
    return row


def ids_now(*workers: Worker) -> list[str]:
    """The ids of accounts, "erased" for those that are."""
    ids = [Worker.objects.get(pk=worker.pk).worker_id for worker in workers]
    return ["erased" if name.startswith("ADELETED") else name for name in ids]


def test_only_who_handed_the_work_in_is_erased(requester: Requester, new_hit: Any) -> None:
    """Who gave the same AssignmentId back before, or never was at this requester's, is none of them."""
    hit_id = new_hit(MaxAssignments=2)
    before, bystander = keys.create_worker()[0], keys.create_worker()[0]
    handed_back(hit_id, worker=before)
    work = paid_work(hit_id)
    long_ago()
    assert erased(requester, work) == {"NumErased": 1, "Kept": []}
    names = [before.worker_id, "erased", bystander.worker_id]
    assert ids_now(before, work.worker, bystander) == names


def test_work_of_others_elsewhere_and_work_given_back_there_keep_nobody(
    requester: Requester, stranger: Requester, work: Assignment, new_hit: Any
) -> None:
    elsewhere = new_hit(Title="Something else", MaxAssignments=9)
    handed_back(elsewhere, worker=work.worker)
    other = paid_work(elsewhere)
    HIT.objects.filter(hit_id=elsewhere).update(requester=stranger)
    long_ago()
    assert erased(requester, work) == {"NumErased": 1, "Kept": []}
    assert ids_now(work.worker, other.worker) == ["erased", other.worker.worker_id]


def test_a_rejection_keeps_whom_it_is_about_as_long_as_it_stands(
    requester: Requester, work: Assignment, new_hit: Any
) -> None:
    long_ago()
    of_another = paid_work(new_hit(Title="Another"))
    Assignment.objects.filter(pk=of_another.pk).update(status="Rejected", rejected_at=timezone.now())
    # Rejected yesterday, and paid after all.
    Assignment.objects.filter(pk=work.pk).update(rejected_at=timezone.now() - timedelta(days=1))
    Worker.objects.filter(pk=of_another.worker_id).update(created_at=timezone.now() - YEAR)
    assert forgetting._holding_back(work.worker, now=clock.now()) == []
    (reason,) = forgetting._holding_back(of_another.worker, now=clock.now())
    assert reason == "1 HIT is rejected, which can still be overturned."


def test_who_only_gave_work_back_is_known_to_no_requester(new_hit: Any) -> None:
    worker = keys.create_worker()[0]
    handed_back(new_hit(), worker=worker)
    long_ago()
    assert forgetting.erase_unused(timezone.now(), now=clock.now()).n_erased == 1
    assert ids_now(worker) == ["erased"]
