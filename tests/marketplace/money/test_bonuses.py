"""Bonuses through boto3: money, tokens, and what the worker sees."""

import pytest

from marketplace.models import Bonus
from marketplace.money import audit
from tests.marketplace.refusals import refusal


@pytest.fixture
def done(mturk, new_hit, new_worker):
    """A submitted assignment: (HITId, AssignmentId, the worker's browser)."""
    hit_id, worker = new_hit(), new_worker()
    assignment_id = worker.accept(mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"])
    worker.submit(assignment_id)
    return hit_id, assignment_id, worker


def bonus(done, **changes):
    _, assignment_id, browser = done
    call = {"AssignmentId": assignment_id, "WorkerId": browser.worker.worker_id, "BonusAmount": "0.52"}
    return {**call, "Reason": "Careful work.", **changes}


def test_a_bonus_costs_its_amount_and_a_fifth(mturk, done):
    before = mturk.get_account_balance()
    assert mturk.send_bonus(**bonus(done))["ResponseMetadata"]["HTTPStatusCode"] == 200
    after = mturk.get_account_balance()
    assert (before["AvailableBalance"], after["AvailableBalance"]) == ("997.70", "997.08")
    assert before["OnHoldBalance"] == after["OnHoldBalance"] == "2.30"
    mturk.approve_assignment(AssignmentId=done[1])
    (statement,) = audit.report()["requesters"]
    assert (statement["rewards"], statement["bonuses"], statement["fees"]) == ("0.38", "0.52", "0.18")
    assert (statement["charged"], statement["problems"]) == ("1.08", [])


def test_bonuses_are_listed_by_hit_and_by_assignment(mturk, done):
    for amount in ("0.50", "1"):
        mturk.send_bonus(**bonus(done, BonusAmount=amount))
    by_hit = mturk.list_bonus_payments(HITId=done[0])
    by_assignment = mturk.list_bonus_payments(AssignmentId=done[1])
    assert by_hit["BonusPayments"] == by_assignment["BonusPayments"]
    assert [row.pop("GrantTime").tzinfo is not None for row in by_hit["BonusPayments"]] == [True, True]
    same = {"WorkerId": done[2].worker.worker_id, "AssignmentId": done[1], "Reason": "Careful work."}
    assert by_hit["BonusPayments"] == [same | {"BonusAmount": "0.50"}, same | {"BonusAmount": "1.00"}]


def test_a_token_pays_once_in_24_hours(mturk, done, later):
    call = bonus(done, UniqueRequestToken="bonus:1")
    mturk.send_bonus(**call)
    said = refusal(mturk.send_bonus, **call)
    assert said[1:3] == ("RequestError", "RequestAlreadyProcessed")
    assert said[3].startswith('The idempotency token "bonus:1" has already been processed. (')
    assert Bonus.objects.count() == 1
    later(seconds=86_401)
    mturk.send_bonus(**call)
    assert Bonus.objects.count() == 2


def test_without_a_token_a_repeat_pays_again(mturk, done):
    mturk.send_bonus(**bonus(done))
    mturk.send_bonus(**bonus(done))
    assert Bonus.objects.count() == 2


def test_a_bonus_nobody_can_pay_changes_nothing(mturk, done):
    said = refusal(mturk.send_bonus, **bonus(done, BonusAmount="900", UniqueRequestToken="much"))
    assert said[2] == "InsufficientFunds"
    assert (Bonus.objects.count(), mturk.get_account_balance()["AvailableBalance"]) == (0, "997.70")
    mturk.send_bonus(**bonus(done, BonusAmount="0.01", UniqueRequestToken="much"))
    assert mturk.get_account_balance()["AvailableBalance"] == "997.68"


WRONG = [
    ({"AssignmentId": "3NO"}, "RequestError", "Assignment 3NO does not exist. ("),
    ({"WorkerId": "A1SOMEBODYELSE"}, "RequestError", "Assignment "),
    ({"BonusAmount": "0.00"}, "ParameterValidationError", 'The value "0.00" is not valid'),
    ({"BonusAmount": "0.125"}, "ParameterValidationError", 'The value "0.125" is not valid'),
    ({"BonusAmount": "9999999999"}, "ParameterValidationError", 'The value "9999999999" is not valid'),
]


@pytest.mark.parametrize(("changes", "code", "message"), WRONG, ids=[str(row[0]) for row in WRONG])
def test_bonuses_that_are_refused(mturk, done, changes, code, message):
    said = refusal(mturk.send_bonus, **bonus(done, **changes))
    assert said[1] == code
    assert said[3].startswith(message)
    assert Bonus.objects.count() == 0


def test_work_in_progress_gets_no_bonus(mturk, new_hit, new_worker):
    worker = new_worker()
    assignment_id = worker.accept(mturk.get_hit(HITId=new_hit())["HIT"]["HITTypeId"])
    assert refusal(mturk.send_bonus, **bonus((None, assignment_id, worker)))[2] == "AssignmentDoesNotExist"


def test_a_list_of_bonuses_needs_a_hit_or_an_assignment(mturk, done):
    assert refusal(mturk.list_bonus_payments)[1] == "ParameterValidationError"
    assert refusal(mturk.list_bonus_payments, HITId="3NO")[2] == "HITDoesNotExist"


def test_the_worker_sees_the_bonus(mturk, done):
    mturk.approve_assignment(AssignmentId=done[1])
    mturk.send_bonus(**bonus(done))
    page = done[2].client.get("/work").content.decode()
    assert '<dd class="money" id="earned">$0.90</dd>' in page
    assert 'Bonus <span class="money">$0.52</span>: Careful work.' in page
