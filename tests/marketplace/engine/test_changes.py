"""UpdateHITReviewStatus and UpdateHITTypeOfHIT through boto3."""

import pytest

from tests.marketplace.refusals import refusal


def expired(mturk, new_hit):
    hit_id = new_hit()
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    return hit_id


def listed(mturk, **call):
    return [row["HITId"] for row in mturk.list_reviewable_hits(**call)["HITs"]]


def test_a_hit_is_reviewed_and_put_back(mturk, new_hit):
    hit_id = expired(mturk, new_hit)
    assert (listed(mturk), listed(mturk, Status="Reviewing")) == ([hit_id], [])
    mturk.update_hit_review_status(HITId=hit_id)
    assert mturk.get_hit(HITId=hit_id)["HIT"]["HITStatus"] == "Reviewing"
    assert (listed(mturk), listed(mturk, Status="Reviewing")) == ([], [hit_id])
    said = refusal(mturk.update_hit_review_status, HITId=hit_id)
    assert said[2] == "InvalidHITState"
    assert "currently in the state 'Reviewing'" in said[3]
    mturk.update_hit_review_status(HITId=hit_id, Revert=True)
    assert mturk.get_hit(HITId=hit_id)["HIT"]["HITStatus"] == "Reviewable"


def test_a_hit_on_offer_is_not_reviewed(mturk, new_hit):
    assert refusal(mturk.update_hit_review_status, HITId=new_hit())[2] == "InvalidHITState"


def test_a_hit_under_review_can_be_deleted(mturk, new_hit):
    hit_id = expired(mturk, new_hit)
    mturk.update_hit_review_status(HITId=hit_id)
    mturk.delete_hit(HITId=hit_id)
    assert mturk.get_hit(HITId=hit_id)["HIT"]["HITStatus"] == "Disposed"


def test_an_extended_hit_is_not_under_review_any_more(mturk, new_hit, new_worker):
    hit_id = new_hit(MaxAssignments=1)
    worker = new_worker()
    worker.submit(worker.accept(mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"]))
    mturk.update_hit_review_status(HITId=hit_id)
    mturk.create_additional_assignments_for_hit(HITId=hit_id, NumberOfAdditionalAssignments=1)
    assert mturk.get_hit(HITId=hit_id)["HIT"]["HITStatus"] == "Assignable"
    mturk.update_expiration_for_hit(HITId=hit_id, ExpireAt=0)
    assert listed(mturk) == [hit_id]


@pytest.fixture
def dearer(mturk, values):
    names = ("Title", "Description", "Keywords", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds")
    return mturk.create_hit_type(**{name: values[name] for name in names}, Reward="1.00")["HITTypeId"]


def test_another_type_changes_the_money_held(mturk, new_hit, dearer):
    hit_id = new_hit()
    assert mturk.get_account_balance()["OnHoldBalance"] == "2.30"
    mturk.update_hit_type_of_hit(HITId=hit_id, HITTypeId=dearer)
    hit = mturk.get_hit(HITId=hit_id)["HIT"]
    assert (hit["HITTypeId"], hit["Reward"]) == (dearer, "1.00")
    balance = mturk.get_account_balance()
    assert (balance["AvailableBalance"], balance["OnHoldBalance"]) == ("994.00", "6.00")


def test_the_reward_of_accepted_work_stays(mturk, new_hit, new_worker, dearer):
    hit_id = new_hit()
    old = mturk.get_hit(HITId=hit_id)["HIT"]
    new_worker().accept(old["HITTypeId"])
    before = mturk.get_hit(HITId=hit_id)["HIT"]
    assert refusal(mturk.update_hit_type_of_hit, HITId=hit_id, HITTypeId=dearer)[2] == "InvalidHITState"
    assert mturk.get_hit(HITId=hit_id)["HIT"] == before


def test_another_type_with_the_same_reward_suits_accepted_work(mturk, new_hit, new_worker):
    hit_id, model = new_hit(), new_hit(Title="A better title")
    new_worker().accept(mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"])
    mturk.update_hit_type_of_hit(HITId=hit_id, HITTypeId=mturk.get_hit(HITId=model)["HIT"]["HITTypeId"])
    assert mturk.get_hit(HITId=hit_id)["HIT"]["Title"] == "A better title"
    assert mturk.get_account_balance()["OnHoldBalance"] == "4.60"


def test_the_new_type_must_exist_and_be_affordable(mturk, new_hit, dearer, values):
    hit_id = new_hit()
    assert refusal(mturk.update_hit_type_of_hit, HITId=hit_id, HITTypeId="3NO")[2] == "HITTypeDoesNotExist"
    rich = mturk.create_hit_type(Title="t", Description="d", Reward="900", AssignmentDurationInSeconds=60)[
        "HITTypeId"
    ]
    assert refusal(mturk.update_hit_type_of_hit, HITId=hit_id, HITTypeId=rich)[2] == "InsufficientFunds"
    assert mturk.get_account_balance()["OnHoldBalance"] == "2.30"


def test_no_hit_has_a_review_policy(mturk, new_hit):
    hit_id = new_hit()
    answer = mturk.list_review_policy_results_for_hit(HITId=hit_id)
    answer.pop("ResponseMetadata")
    assert answer == {"HITId": hit_id}
