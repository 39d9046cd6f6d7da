"""Several at once: the database lets exactly one through. Run on SQLite and, with DATABASE_URL, on PostgreSQL."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from marketplace.accounts import keys
from marketplace.engine import assignments, deadlines, forgetting, hits
from marketplace.engine.hits import Offer, TypeValues
from marketplace.models import (
    HIT,
    Assignment,
    Balance,
    Bonus,
    Event,
    Qualification,
    QualificationRequest,
    Worker,
)
from marketplace.money import audit, ledger
from marketplace.notifications import delivery
from marketplace.qualifications import qualification_requests, qualification_types
from marketplace.refusals import Refusal, WorkerRefusal
from tests.marketplace.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)
KIND = TypeValues(
    title="Look",
    description="Look at a picture.",
    keywords="",
    reward_cents=38,
    duration_seconds=3600,
    auto_approval_seconds=3600,
    requirements=[],
)


def publish(requester, *, token=None, max_assignments=1):
    now = timezone.now()
    hit_type = hits.hit_type_for(requester, values=KIND, now=now)
    offer = Offer(question="-", max_assignments=max_assignments, lifetime=timedelta(days=1), token=token)
    return hits.publish(hit_type, offer=offer, now=now)


def test_the_last_assignment_goes_to_one_of_eight(requester):
    hit, now = publish(requester), timezone.now()
    workers = [keys.create_worker()[0] for _ in range(8)]
    results = at_once(
        [lambda worker=worker: assignments.accept(hit, worker=worker, now=now) for worker in workers]
    )
    assert sum(isinstance(result, Assignment) for result in results) == 1
    hit.refresh_from_db()
    assert (hit.pending, Assignment.objects.count()) == (1, 1)


def test_one_worker_in_two_windows_gets_a_hit_once(requester):
    hit, now = publish(requester, max_assignments=5), timezone.now()
    worker = keys.create_worker()[0]
    results = at_once([lambda: assignments.accept(hit, worker=worker, now=now)] * 6)
    assert sum(isinstance(result, Assignment) for result in results) == 1


def test_whose_account_is_erased_meanwhile_gets_no_hit(requester):
    """Their window has read the account before; an assignment would be nobody's, and its place lost."""
    hit, now = publish(requester), timezone.now()
    worker = keys.create_worker()[0]
    assert forgetting.erase(Worker.objects.get(pk=worker.pk), now=now) == []
    (refusal,) = at_once([lambda: assignments.accept(hit, worker=worker, now=now)])
    assert str(refusal) == "This account is closed."
    hit.refresh_from_db()
    assert (hit.pending, Assignment.objects.count()) == (0, 0)


def test_of_accepting_and_erasing_at_once_one_is_done(requester):
    hit, now = publish(requester, max_assignments=8), timezone.now()
    workers = [keys.create_worker()[0] for _ in range(4)]
    takes = [lambda worker=worker: assignments.accept(hit, worker=worker, now=now) for worker in workers]
    goes = [lambda worker=worker: forgetting.erase(worker, now=now) for worker in workers]
    results = at_once([*takes, *goes])
    took = [isinstance(result, Assignment) for result in results[:4]]
    assert [reasons != [] for reasons in results[4:]] == took
    assert list(Worker.objects.order_by("pk").values_list("is_active", flat=True)) == took


def test_whose_account_is_erased_meanwhile_asks_for_no_qualification(requester):
    """What they write in a test would stay behind."""
    now, worker = timezone.now(), keys.create_worker()[0]
    settings = qualification_types.Settings(description="d", status="Active")
    kind = qualification_types.create(requester, name="Eyes", keywords="", settings=settings, now=now)
    assert forgetting.erase(Worker.objects.get(pk=worker.pk), now=now) == []
    for ask in (qualification_requests.submit, qualification_requests.start_test):
        (refusal,) = at_once([lambda ask=ask: ask(kind, worker=worker, now=now)])
        assert str(refusal) == "This account is closed."
    assert (QualificationRequest.objects.count(), Qualification.objects.count()) == (0, 0)


def test_who_was_given_more_time_is_not_taken_for_gone(requester):
    """Whoever clears away what is over has read their deadline before."""
    hit, now = publish(requester), timezone.now()
    read_before = assignments.accept(hit, worker=keys.create_worker()[0], now=now)
    assignments.extend(Assignment.objects.get(), now=read_before.deadline - timedelta(seconds=1))
    assert assignments.abandon(read_before, now=read_before.deadline) is False
    assert (Assignment.objects.get().status, HIT.objects.get().pending) == ("Open", 1)


def test_a_recycled_id_goes_to_one_worker(requester):
    hit, now = publish(requester, max_assignments=3), timezone.now()
    first, *others = [keys.create_worker()[0] for _ in range(4)]
    given_back = assignments.accept(hit, worker=first, now=now)
    assignments.give_back(given_back, now=now)
    results = at_once(
        [lambda worker=worker: assignments.accept(hit, worker=worker, now=now) for worker in others]
    )
    names = [result.assignment_id for result in results]
    assert (len(set(names)), names.count(given_back.assignment_id)) == (3, 1)


def test_work_submitted_twice_at_once_is_recorded_once(requester):
    hit, now = publish(requester), timezone.now()
    assignment = assignments.accept(hit, worker=keys.create_worker()[0], now=now)
    results = at_once([lambda: assignments.submit(assignment, answer="-", now=now)] * 4)
    assert results.count(None) == 1
    assert HIT.objects.values_list("pending", "submitted").get() == (0, 1)


def test_approval_and_rejection_at_once_are_one_decision(requester):
    hit, now = publish(requester), timezone.now()
    assignment = assignments.accept(hit, worker=keys.create_worker()[0], now=now)
    assignments.submit(assignment, answer="-", now=now)
    rows = [assignments.find_assignment(assignment.assignment_id, requester=requester) for _ in range(4)]
    results = at_once(
        [lambda row=row: assignments.approve(row, now=now) for row in rows[:2]]
        + [lambda row=row: assignments.reject(row, now=now, feedback="") for row in rows[2:]]
    )
    assert results.count(None) == 1
    assert audit.report()["is_sound"]


def test_rejection_and_the_time_of_approval_at_once_are_one_decision(requester):
    hit, now = publish(requester), timezone.now()
    assignment = assignments.accept(hit, worker=keys.create_worker()[0], now=now)
    assignments.submit(assignment, answer="-", now=now)
    due = now + timedelta(seconds=3600)
    row = assignments.find_assignment(assignment.assignment_id, requester=requester)
    results = at_once(
        [lambda: deadlines.sweep(now=due)] * 3 + [lambda: assignments.reject(row, now=due, feedback="")]
    )
    assert results[:3] == [None] * 3
    status = Assignment.objects.values_list("status", flat=True).get()
    assert (status, results[3] is None) in {("Approved", False), ("Rejected", True)}
    assert audit.report()["is_sound"]


def test_a_token_sent_twice_at_once_makes_one_hit(requester):
    results = at_once([lambda: publish(requester, token="create:1")] * 4)
    assert sum(isinstance(result, HIT) for result in results) == 1
    assert HIT.objects.count() == 1


def test_the_same_money_is_not_spent_twice(requester):
    results = at_once([lambda: publish(requester, max_assignments=900)] * 4)
    # One costs 900 * (0.38 + 0.15) = $477 of $1,000.
    assert sum(isinstance(result, HIT) for result in results) == 2
    assert audit.report()["is_sound"]


def test_publishing_and_deciding_at_once_do_not_lock_each_other_out(requester):
    now = timezone.now()
    rows = []
    for _ in range(4):
        assignment = assignments.accept(publish(requester), worker=keys.create_worker()[0], now=now)
        assignments.submit(assignment, answer="-", now=now)
        rows.append(assignments.find_assignment(assignment.assignment_id, requester=requester))
    results = at_once(
        [lambda row=row: assignments.reject(row, now=now, feedback="") for row in rows]
        + [lambda n=n: publish(requester, token=f"create:{n}") for n in range(4)]
    )
    assert [type(result) for result in results] == [type(None)] * 4 + [HIT] * 4
    assert audit.report()["is_sound"]


@pytest.fixture
def submitted(requester):
    hit, now = publish(requester), timezone.now()
    assignment = assignments.accept(hit, worker=keys.create_worker()[0], now=now)
    assignments.submit(assignment, answer="-", now=now)
    return assignments.find_assignment(assignment.assignment_id, requester=requester)


def bonus_call(assignment, *, token):
    worker_id, now = assignment.worker.worker_id, timezone.now()
    return lambda: ledger.send_bonus(
        assignment, worker_id=worker_id, cents=100, reason="", token=token, now=now
    )


def test_a_token_pays_one_bonus_of_six(requester, submitted):
    results = at_once([bonus_call(submitted, token="b")] * 6)
    assert sum(isinstance(result, Bonus) for result in results) == 1
    assert {result.code for result in results if isinstance(result, Refusal)} == {"RequestAlreadyProcessed"}
    assert audit.report()["is_sound"]


def test_bonuses_never_spend_more_than_there_is(requester, submitted):
    spare = ledger.balance_of(requester).available_cents - 300
    ledger.book(requester, source="available", target="outside", cents=spare, now=timezone.now())
    Balance.objects.update(available_cents=300)
    results = at_once([bonus_call(submitted, token=None)] * 5)
    assert sum(isinstance(result, Bonus) for result in results) == 2
    assert Balance.objects.get().available_cents == 60
    assert audit.report()["is_sound"]


def test_a_message_is_told_by_one_of_four(requester, settings, tmp_path):
    settings.DATA_DIR, settings.MARKETPLACE_NOTIFICATION_TARGETS = tmp_path, {"q": "q.jsonl"}
    now = timezone.now()
    told = {"destination": "q", "transport": "SQS", "version": "2014-08-15", "due_at": now}
    Event.objects.bulk_create(Event(requester=requester, body={"n": n}, **told) for n in range(20))
    results = at_once([lambda: delivery.deliver(now=now)] * 4)
    documents = [json.loads(line)["Body"] for line in (tmp_path / "q.jsonl").read_text().splitlines()]
    numbers = [event["n"] for document in documents for event in json.loads(document)["Events"]]
    assert (sum(results), sorted(numbers)) == (len(documents), list(range(20)))
    assert Event.objects.count() == 0


def test_a_worker_has_one_value_and_one_waiting_request(requester):
    worker, now = keys.create_worker()[0], timezone.now()
    settings = qualification_types.Settings(description="d", status="Active")
    first, second = [
        qualification_types.create(requester, name=name, keywords="", settings=settings, now=now)
        for name in ("First", "Second")
    ]
    at_once(
        [lambda: qualification_types.grant(first, worker=worker, value=5, notify=True, now=now)] * 4
        + [lambda: qualification_requests.submit(second, worker=worker, now=now)] * 4
    )
    assert Qualification.objects.values_list("value").get() == (5,)
    assert QualificationRequest.objects.count() == 1


def test_work_given_back_in_two_windows_is_given_back_once(requester):
    hit, now = publish(requester, max_assignments=2), timezone.now()
    mine, _ = (assignments.accept(hit, worker=keys.create_worker()[0], now=now) for _ in range(2))
    assignments.give_back(mine, now=now)
    with pytest.raises(WorkerRefusal, match="not open any more"):
        assignments.give_back(mine, now=now)
    assert assignments.abandon(mine, now=now) is False
    assert HIT.objects.values_list("pending", flat=True).get() == 1
    assert Assignment.objects.get(pk=mine.pk).status == "Returned"
