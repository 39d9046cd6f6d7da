"""Planned faults, met by boto3 as it comes: throttles and faults are retried, and a lost answer may cost twice."""

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError

from marketplace.accounts import keys
from marketplace.api import dispatch
from marketplace.models import Bonus, Fault
from marketplace.money import audit
from surveys.operations.processes.stack import addresses, free_port, web
from tests.services_site import database_environment, settle, supervise


@pytest.fixture
def bonus(mturk, new_hit, new_worker):
    """The values of a SendBonus call for submitted work."""
    worker = new_worker()
    assignment_id = worker.accept(mturk.get_hit(HITId=new_hit())["HIT"]["HITTypeId"])
    worker.submit(assignment_id)
    return {
        "WorkerId": worker.worker.worker_id,
        "AssignmentId": assignment_id,
        "BonusAmount": "1.00",
        "Reason": "Careful work.",
    }


def attempts(answer):
    return answer["ResponseMetadata"]["RetryAttempts"]


def test_a_short_throttle_storm_is_weathered(control, ordinary, new_hit):
    hit_id = new_hit()
    control("POST", "faults", {"operation": "GetHIT", "kind": "throttle", "times": 2})
    answer = ordinary.get_hit(HITId=hit_id)
    assert (attempts(answer), answer["HIT"]["HITId"]) == (2, hit_id)
    assert control("GET", "faults") == []


def test_a_longer_throttle_storm_is_told(control, ordinary):
    control("POST", "faults", {"operation": "ListHITs", "kind": "throttle", "times": 4})
    with pytest.raises(ClientError, match="Rate exceeded") as caught:
        ordinary.list_hits()
    assert caught.value.response["Error"]["Code"] == "ThrottlingException"
    assert "reached max retries: 2" in str(caught.value)
    assert control("GET", "faults")[0]["times"] == 1


def test_a_service_fault_is_retried(control, ordinary):
    control("POST", "faults", {"operation": "GetAccountBalance", "kind": "service-fault"})
    assert attempts(ordinary.get_account_balance()) == 1


def test_a_service_fault_is_boto3s_own_exception(control, mturk):
    control("POST", "faults", {"kind": "service-fault"})
    with pytest.raises(mturk.exceptions.ServiceFault) as caught:
        mturk.get_account_balance()
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500


def test_nothing_is_done_by_a_call_that_faults(control, mturk, values):
    for kind in ("throttle", "service-fault"):
        control("POST", "faults", {"operation": "CreateHIT", "kind": kind})
        with pytest.raises(ClientError):
            mturk.create_hit(**values)
    assert mturk.list_hits()["NumResults"] == 0


def test_a_lost_answer_without_a_token_pays_twice(control, ordinary, bonus):
    control("POST", "faults", {"operation": "SendBonus", "kind": "timeout"})
    assert attempts(ordinary.send_bonus(**bonus)) == 1
    assert Bonus.objects.count() == 2
    assert audit.report()["is_sound"]


def test_a_lost_answer_with_a_token_pays_once(control, ordinary, bonus):
    control("POST", "faults", {"operation": "SendBonus", "kind": "timeout"})
    with pytest.raises(ordinary.exceptions.RequestError, match='token "b:1" has already been processed'):
        ordinary.send_bonus(**bonus, UniqueRequestToken="b:1")
    assert Bonus.objects.count() == 1
    assert audit.report()["is_sound"]


def test_lag_keeps_the_caller_waiting_and_then_works(control, mturk, monkeypatch):
    waited = []
    monkeypatch.setattr(dispatch.time, "sleep", waited.append)
    control("POST", "faults", {"operation": "GetAccountBalance", "kind": "lag", "seconds": 2.5})
    assert mturk.get_account_balance()["AvailableBalance"] == "1000.00"
    assert waited == [2.5]


def test_faults_are_for_one_operation_and_one_requester(control, mturk, demo, requester):
    plan = {"operation": "ListHITs", "kind": "throttle", "requester": requester.name, "times": 1}
    assert control("POST", "faults", plan) == plan | {"seconds": 0}
    mturk.get_account_balance()
    demo.list_hits()
    assert control("GET", "faults") == [plan | {"seconds": 0}]
    with pytest.raises(ClientError):
        mturk.list_hits()
    mturk.list_hits()


def test_plans_are_cleared(control, mturk):
    control("POST", "faults", {"kind": "throttle", "times": 100})
    assert control("DELETE", "faults") == {"cleared": 1}
    mturk.list_hits()


def test_plans_count_only_while_the_control_api_is_open(control, mturk, settings):
    control("POST", "faults", {"kind": "service-fault", "times": 100})
    settings.MARKETPLACE_CONTROL_TOKEN = ""
    mturk.list_hits()
    assert Fault.objects.get().remaining == 100


@pytest.fixture
def served(transactional_db, collected_static, settings, tmp_path):
    """The address of the marketplace under gunicorn, with planned faults in force."""
    port = free_port()
    site = settle(settings, port=port)
    opened = {**addresses(port), **database_environment(), "MARKETPLACE_CONTROL_TOKEN": "let-me"}
    with supervise([web(port=port, environment=opened, workers=1)], folder=tmp_path):
        yield site.marketplace_url


@pytest.mark.processes
def test_under_gunicorn_the_connection_is_cut_once_the_work_is_done(served, bonus, requester, connect):
    Fault.objects.create(operation="SendBonus", kind=Fault.Kind.TIMEOUT, remaining=1)
    key, secret = keys.create_key(requester)
    client = connect(key.key_id, secret, endpoint_url=served)
    with pytest.raises(ConnectionClosedError):
        client.send_bonus(**bonus, UniqueRequestToken="b:1")
    with pytest.raises(client.exceptions.RequestError, match='token "b:1" has already been processed'):
        client.send_bonus(**bonus, UniqueRequestToken="b:1")
    assert Bonus.objects.count() == 1
