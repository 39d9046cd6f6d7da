"""Starting over: what happened is forgotten, accounts and deposits are not."""

import pytest

from marketplace.models import AccessKey, Entry, HITType, Requester, Worker
from marketplace.money import audit, ledger
from marketplace.rehearsing import reset


@pytest.fixture
def busy(mturk, demo, new_hit, new_worker, values, watched, control):
    """Two requesters with HITs, decided work, bonuses, blocks, qualifications, messages, events and calls."""
    for client in (mturk, demo):
        hit = client.create_hit(**values, UniqueRequestToken="t")["HIT"]
        worker = new_worker()
        given = {"WorkerId": worker.worker.worker_id}
        assignment_id = worker.accept(hit["HITTypeId"])
        worker.submit(assignment_id)
        client.approve_assignment(AssignmentId=assignment_id)
        client.send_bonus(**given, AssignmentId=assignment_id, BonusAmount="1", Reason="r")
        client.create_worker_block(**given, Reason="r")
        client.notify_workers(Subject="s", MessageText="m", WorkerIds=[worker.worker.worker_id])
        kind = client.create_qualification_type(
            Name="Trusted", Description="d", QualificationTypeStatus="Active"
        )["QualificationType"]["QualificationTypeId"]
        client.associate_qualification_with_worker(**given, QualificationTypeId=kind)
        new_worker().client.post(f"/qualifications/{kind}")
        guard = [{"QualificationTypeId": kind, "Comparator": "Exists"}]
        client.create_hit(**values | {"Title": "Guarded", "QualificationRequirements": guard})
    watched(Title="Watched")
    control("POST", "faults", {"kind": "throttle", "operation": "DeleteHIT"})


def rows():
    """Return how many rows each of the marketplace's tables has, empty ones left out."""
    counts = {model.__name__: model._default_manager.count() for model in reset._children_first()}
    return {name: number for name, number in counts.items() if number}


def test_one_requester_starts_over(busy, control, mturk, demo, requester):
    before = demo.list_hits()["HITs"]
    deleted = control("POST", "reset", {"requester": requester.name})["deleted"]
    assert deleted > 10
    assert mturk.list_hits()["HITs"] == []
    assert mturk.get_account_balance()["AvailableBalance"] == "1000.00"
    assert demo.list_hits()["HITs"] == before
    assert audit.report()["is_sound"]
    assert Entry.objects.filter(requester=requester).count() == 1
    assert HITType.objects.filter(requester=requester).count() == 0
    assert Worker.objects.count() == 4
    assert (
        mturk.create_qualification_type(Name="Trusted", Description="d", QualificationTypeStatus="Active")[
            "QualificationType"
        ]["Name"]
        == "Trusted"
    )


def test_everything_starts_over(busy, control, later):
    later(seconds=5)
    kept = (Requester.objects.count(), AccessKey.objects.count())
    control("POST", "reset", {"everything": True})
    assert rows() == {"Requester": kept[0], "AccessKey": kept[1], "Entry": 2}
    assert kept == (2, 2)
    assert audit.report()["is_sound"]
    assert ledger.balance_of(Requester.objects.get(name="Vision Lab")).available_cents == 100_000


def test_what_belongs_to_nobody_stays_with_one_requester_reset(busy, control, requester):
    control("POST", "reset", {"requester": requester.name})
    assert {"Worker", "Fault"} <= rows().keys()


def test_every_table_has_its_way_or_belongs_to_nobody():
    names = {model.__name__ for model in reset._owned()}
    assert {"HIT", "HITType", "Assignment", "Bonus", "Token", "Entry", "Event", "Message"} <= names
    assert {"Worker", "ClockOffset", "Requester", "AccessKey"} & names == set()
