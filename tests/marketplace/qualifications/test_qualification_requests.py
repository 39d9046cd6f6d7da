"""Workers ask for qualifications on the site; requesters answer through boto3."""

import pytest

from tests.marketplace.qualifications.granting import requests, score
from tests.marketplace.refusals import refusal

VALUES = {"Name": "Reads German", "Description": "Fluently.", "QualificationTypeStatus": "Active"}


@pytest.fixture
def make(mturk):
    def make(**changes):
        return mturk.create_qualification_type(**VALUES | changes)["QualificationType"]["QualificationTypeId"]

    return make


def ask(browser, type_id):
    """Press the button; return what the page says then."""
    return browser.client.post(f"/qualifications/{type_id}", follow=True).content.decode()


def test_a_request_is_listed_and_granted_once(mturk, make, new_worker):
    type_id, browser = make(), new_worker()
    assert "The requester will see your request." in ask(browser, type_id)
    (listed,) = requests(mturk)
    assert requests(mturk, QualificationTypeId=type_id) == [listed]
    assert listed.pop("SubmitTime").tzinfo is not None
    request_id = listed.pop("QualificationRequestId")
    assert listed == {"QualificationTypeId": type_id, "WorkerId": browser.worker.worker_id}
    mturk.accept_qualification_request(QualificationRequestId=request_id, IntegerValue=90)
    assert score(mturk, type_id, browser) == 90
    assert requests(mturk) == []
    for call in (mturk.accept_qualification_request, mturk.reject_qualification_request):
        assert refusal(call, QualificationRequestId=request_id)[2] == "InvalidQualificationRequestState"
    assert "You have this qualification." in ask(browser, type_id)


def test_a_rejection_is_told_with_its_reason(mturk, make, new_worker):
    type_id, browser = make(), new_worker()
    ask(browser, type_id)
    (listed,) = requests(mturk)
    request_id = listed["QualificationRequestId"]
    mturk.reject_qualification_request(QualificationRequestId=request_id, Reason="Please learn more.")
    page = browser.client.get("/work").content.decode()
    assert "Your request for “Reads German” was not granted" in page
    assert "Please learn more." in page
    assert "can be requested once" in ask(browser, type_id)
    assert requests(mturk) == []


def test_a_request_waits_for_its_answer_and_for_the_retry_delay(mturk, make, new_worker, later):
    type_id, browser = make(RetryDelayInSeconds=3600), new_worker()
    ask(browser, type_id)
    assert "has not answered yet" in ask(browser, type_id)
    (listed,) = requests(mturk)
    mturk.reject_qualification_request(QualificationRequestId=listed["QualificationRequestId"])
    assert "again on" in ask(browser, type_id)
    later(seconds=3601)
    assert "The requester will see your request." in ask(browser, type_id)


def test_an_auto_granted_type_is_given_at_once(mturk, make, new_worker, new_hit):
    type_id, browser = make(AutoGranted=True, AutoGrantedValue=7), new_worker()
    asked = {"QualificationTypeId": type_id, "Comparator": "EqualTo", "IntegerValues": [7]}
    hit = mturk.get_hit(HITId=new_hit(QualificationRequirements=[asked]))["HIT"]
    preview = browser.client.get(f"/projects/{hit['HITTypeId']}/tasks").content.decode()
    assert f'<a href="/qualifications/{type_id}">Request</a>' in preview
    assert browser.accept(hit["HITTypeId"]) is None
    assert "The qualification is yours." in ask(browser, type_id)
    assert (score(mturk, type_id, browser), requests(mturk)) == (7, [])
    assert browser.accept(hit["HITTypeId"]) is not None


def test_an_inactive_or_deleted_type_cannot_be_requested(mturk, make, new_worker):
    type_id, browser = make(QualificationTypeStatus="Inactive"), new_worker()
    assert "cannot be requested at present" in ask(browser, type_id)
    mturk.delete_qualification_type(QualificationTypeId=type_id)
    assert browser.client.get(f"/qualifications/{type_id}").status_code == 404


def test_deleting_a_type_rejects_what_waits(mturk, make, new_worker):
    type_id = make()
    ask(new_worker(), type_id)
    mturk.delete_qualification_type(QualificationTypeId=type_id)
    assert requests(mturk) == []


def test_requests_of_another_requester_are_not_seen(mturk, demo, make, new_worker):
    ask(new_worker(), make())
    (listed,) = requests(mturk)
    assert requests(demo) == []
    request_id = listed["QualificationRequestId"]
    said = refusal(demo.accept_qualification_request, QualificationRequestId=request_id)
    assert said[2] == "QualificationRequestDoesNotExist"
