"""Money, to the cent."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.db.models import F

from marketplace import clock
from marketplace.engine import deadlines
from marketplace.models import HIT, Assignment, Balance, Entry, Requester
from marketplace.money import audit, ledger
from tests.marketplace.batches.batches_made import published


@pytest.mark.parametrize(
    ("reward", "assignments", "fee"),
    [
        (38, 5, 8),
        (42, 9, 8),
        (65, 9, 13),
        (38, 10, 15),
        (1, 1, 1),
        (0, 1, 1),
        (2, 1, 1),
        (12, 1, 2),
        (13, 1, 3),
        (100, 10, 40),
    ],
)
def test_the_fee_is_rounded_half_up_and_at_least_a_cent(reward, assignments, fee):
    assert ledger.fee_cents(reward, max_assignments=assignments) == fee


def money(mturk):
    balance = mturk.get_account_balance()
    return balance["AvailableBalance"], balance["OnHoldBalance"]


def run(new_hit, new_worker, mturk, *, workers, **changes):
    hit_id = new_hit(**changes)
    type_id = mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"]
    held = []
    for worker in [new_worker() for _ in range(workers)]:
        held.append(worker.accept(type_id))
        worker.submit(held[-1])
    return hit_id, held


def test_money_is_held_charged_and_released(mturk, new_hit, new_worker):
    hit_id, (first, second, third) = run(new_hit, new_worker, mturk, workers=3)
    assert money(mturk) == ("997.70", "2.30")
    mturk.approve_assignment(AssignmentId=first)
    assert money(mturk) == ("997.70", "1.84")
    mturk.reject_assignment(AssignmentId=second, RequesterFeedback="One of five.")
    assert money(mturk) == ("998.16", "1.38")
    mturk.create_additional_assignments_for_hit(HITId=hit_id, NumberOfAdditionalAssignments=1)
    assert money(mturk) == ("997.70", "1.84")
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    assert money(mturk) == ("999.08", "0.46")
    mturk.approve_assignment(AssignmentId=second, OverrideRejection=True)
    assert money(mturk) == ("998.62", "0.46")
    mturk.approve_assignment(AssignmentId=third)
    assert money(mturk) == ("998.62", "0.00")
    mturk.delete_hit(HITId=hit_id)
    assert audit.report() == {
        "is_sound": True,
        "requesters": [
            {
                "requester": "Vision Lab",
                "deposited": "1000.00",
                "available": "998.62",
                "held": "0.00",
                "bonuses": "0.00",
                "rewards": "1.14",
                "fees": "0.24",
                "charged": "1.38",
                "approved": 3,
                "problems": [],
            }
        ],
    }


def test_ten_assignments_cost_the_higher_fee(mturk, new_hit):
    new_hit(MaxAssignments=10)
    assert money(mturk) == ("994.70", "5.30")


def test_expiry_releases_only_what_nobody_is_working_on(mturk, new_hit, new_worker, later):
    hit_id = new_hit(AssignmentDurationInSeconds=200_000)
    new_worker().accept(mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"])
    later(seconds=86_401)
    assert money(mturk) == ("999.54", "0.46")
    later(seconds=200_000)
    assert money(mturk) == ("1000.00", "0.00")


def test_approval_by_time_is_charged(mturk, new_hit, new_worker, later):
    run(new_hit, new_worker, mturk, workers=2, MaxAssignments=2)
    later(seconds=259_201)
    assert money(mturk) == ("999.08", "0.00")


@pytest.mark.parametrize("call", ["extend", "reopen", "override"])
def test_what_cannot_be_paid_for_changes_nothing(mturk, requester, new_hit, new_worker, call):
    hit_id, (first,) = run(new_hit, new_worker, mturk, workers=1, MaxAssignments=9)
    mturk.reject_assignment(AssignmentId=first, RequesterFeedback="One of five.")
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    Balance.objects.update(available_cents=45)
    calls = {
        "extend": lambda: new_hit(MaxAssignments=1),
        "reopen": lambda: mturk.update_expiration_for_hit(
            HITId=hit_id, ExpireAt=clock.now().timestamp() + 3600
        ),
        "override": lambda: mturk.approve_assignment(AssignmentId=first, OverrideRejection=True),
    }
    before = mturk.get_hit(HITId=hit_id)["HIT"]
    with pytest.raises(mturk.exceptions.RequestError) as caught:
        calls[call]()
    assert caught.value.response["TurkErrorCode"] == "AWS.MechanicalTurk.InsufficientFunds"
    assert mturk.get_hit(HITId=hit_id)["HIT"] == before
    assert money(mturk) == ("0.45", "0.00")


def test_a_sweep_done_twice_changes_nothing(mturk, new_hit, new_worker, later):
    run(new_hit, new_worker, mturk, workers=2)
    now = later(seconds=400_000)
    deadlines.sweep(now=now)
    entries = Entry.objects.count()
    deadlines.sweep(now=now)
    assert Entry.objects.count() == entries
    assert audit.report()["is_sound"]


def test_what_is_wrong_with_ones_hits_is_said_of_nobody_else(requester):
    other = Requester.objects.create(name="Speech Lab")
    ledger.deposit(other, cents=100_000, now=clock.now())
    for one in (requester, other):
        published(one)
    HIT.objects.filter(requester=other).update(is_open=False)
    found = {one["requester"]: one["problems"] for one in audit.report()["requesters"]}
    assert found == {
        "Vision Lab": [],
        "Speech Lab": [
            "A HIT is open that is not, or the other way round.",
            "A HIT type's open HITs are miscounted.",
        ],
    }


def test_the_command_prints_the_statement(mturk, new_hit):
    new_hit()
    out = StringIO()
    call_command("marketplace_ledger", "--json", stdout=out)
    statement = json.loads(out.getvalue())["requesters"][0]
    assert (statement["available"], statement["held"], statement["charged"]) == ("997.70", "2.30", "0.00")
    out = StringIO()
    call_command("marketplace_ledger", stdout=out)
    assert out.getvalue().splitlines()[1].split() == [
        "Vision", "Lab", "1000.00", "997.70", "2.30", "0.00", "0.00", "0.00", "0.00", "0"
    ]  # fmt: skip


BREAKAGES = [
    (
        "The kept balance differs from the entries.",
        lambda: Balance.objects.update(available_cents=F("available_cents") + 1),
    ),
    (
        "The money held differs from what open HITs need.",
        lambda: HIT.objects.update(held_slots=F("held_slots") - 1),
    ),
    (
        "The money charged differs from the approved work and the bonuses.",
        lambda: HIT.objects.update(approved=0, rejected=1),
    ),
    ("A HIT's counts differ from its assignments.", lambda: HIT.objects.update(submitted=0, pending=1)),
]


@pytest.mark.parametrize(("sentence", "break_it"), BREAKAGES, ids=[row[0] for row in BREAKAGES])
def test_the_command_finds_what_is_broken(mturk, new_hit, new_worker, sentence, break_it):
    _, held = run(new_hit, new_worker, mturk, workers=2)
    mturk.approve_assignment(AssignmentId=held[0])
    break_it()
    out = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("marketplace_ledger", stdout=out)
    assert caught.value.returncode == 1
    assert sentence in out.getvalue()


IMPOSSIBLE = [
    lambda: HIT.objects.update(pending=6),
    lambda: HIT.objects.update(held_slots=6),
    lambda: Balance.objects.update(available_cents=-1),
    lambda: Entry.objects.update(cents=0),
    lambda: Entry.objects.update(target=F("source")),
    lambda: Assignment.objects.update(status="Approved"),
    lambda: Assignment.objects.update(status="Rejected"),
    lambda: Assignment.objects.update(submitted_at=None),
    lambda: Assignment.objects.update(assignment_id="3SAME"),
]


@pytest.mark.parametrize("break_it", IMPOSSIBLE, ids=range(len(IMPOSSIBLE)))
def test_the_database_refuses_the_impossible(mturk, new_hit, new_worker, break_it):
    run(new_hit, new_worker, mturk, workers=2)
    with pytest.raises(IntegrityError), transaction.atomic():
        break_it()
