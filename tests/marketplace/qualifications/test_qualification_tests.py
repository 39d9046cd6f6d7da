"""Qualification tests end to end: boto3 makes the type, a worker takes the test, a key or the requester decides."""

import re

import pytest

from marketplace.models import Qualification, QualificationRequest
from tests.marketplace.qualifications.granting import requests, score
from tests.marketplace.question_documents import OPENING
from tests.marketplace.questions.form_documents import (
    BIRDS,
    BIRDS_KEY,
    SECRET,
    answer_key,
    free_text,
    key_question,
    question,
    question_form,
    selection,
)
from tests.marketplace.refusals import refusal

VALUES = {
    "Name": "Knows birds",
    "Description": "Two of them.",
    "QualificationTypeStatus": "Active",
    "Test": BIRDS,
    "TestDurationInSeconds": 600,
}
RIGHT = {"q1": "1", "q2": ["1", "2"]}


@pytest.fixture
def make(mturk):
    def make(**changes):
        return mturk.create_qualification_type(**VALUES | changes)["QualificationType"]["QualificationTypeId"]

    return make


def start(browser, type_id):
    """Press the button; return the page that comes."""
    return browser.client.post(f"/qualifications/{type_id}", follow=True).content.decode()


def hand_in(browser, type_id, form=RIGHT):
    response = browser.client.post(f"/qualifications/{type_id}/test", form, follow=True)
    return response.status_code, response.content.decode()


def take(browser, type_id, form=RIGHT):
    start(browser, type_id)
    return hand_in(browser, type_id, form)[1]


def test_the_page_says_what_comes_before_the_time_runs(make, new_worker):
    page = new_worker().client.get(f"/qualifications/{make(AnswerKey=BIRDS_KEY)}").content.decode()
    facts = dict(re.findall(r"<dt>(\w+)</dt><dd>(.*?)</dd>", page))
    assert facts == {"Questions": "2", "Time": "10 minutes", "Result": "at once", "Again": "no, once only"}
    assert "The first bird" not in page
    assert QualificationRequest.objects.count() == 0


def test_a_key_gives_the_value_at_once(mturk, make, new_worker, new_hit):
    type_id, browser = make(AnswerKey=BIRDS_KEY), new_worker()
    asked = {"QualificationTypeId": type_id, "Comparator": "GreaterThan", "IntegerValues": [4000]}
    hit_type = mturk.get_hit(HITId=new_hit(QualificationRequirements=[asked]))["HIT"]["HITTypeId"]
    assert browser.accept(hit_type) is None
    page = start(browser, type_id)
    assert ("The first bird" in page, 'data-seconds="599"' in page or 'data-seconds="600"' in page) == (
        True,
        True,
    )
    assert "Your result is 4721." in hand_in(browser, type_id)[1]
    assert (score(mturk, type_id, browser), requests(mturk)) == (4721, [])
    assert browser.accept(hit_type) is not None


MARKS = [
    ({"q1": "1", "q2": ["2", "1"]}, 4721),
    ({"q1": "2", "q2": ["1"]}, 5),
    ({"q1": "2", "q2": ["2"]}, -1),
    ({"q1": "2", "q2": ["1", "3"]}, -1),
]


@pytest.mark.parametrize(("form", "value"), MARKS, ids=range(len(MARKS)))
def test_only_exactly_the_named_choices_earn_a_score(mturk, make, new_worker, form, value):
    type_id, browser = make(AnswerKey=BIRDS_KEY), new_worker()
    take(browser, type_id, form)
    assert score(mturk, type_id, browser) == value


def test_without_a_key_the_requester_reads_test_and_answers(mturk, make, new_worker):
    type_id, browser = make(), new_worker()
    assert "The requester will see your answers and decide." in take(browser, type_id)
    (listed,) = requests(mturk)
    assert listed["Test"] == BIRDS
    assert listed["Answer"] == (
        f"{OPENING}<Answer><QuestionIdentifier>first</QuestionIdentifier>"
        "<SelectionIdentifier>wren</SelectionIdentifier></Answer>"
        "<Answer><QuestionIdentifier>second</QuestionIdentifier><SelectionIdentifier>jay</SelectionIdentifier>"
        "<SelectionIdentifier>owl</SelectionIdentifier></Answer></QuestionFormAnswers>"
    )
    assert "has not answered yet" in start(browser, type_id)
    mturk.accept_qualification_request(
        QualificationRequestId=listed["QualificationRequestId"], IntegerValue=88
    )
    assert score(mturk, type_id, browser) == 88


def test_a_test_under_way_is_not_listed(mturk, make, new_worker):
    start(new_worker(), make())
    assert requests(mturk) == []


def test_gaps_are_named_and_the_time_goes_on(make, new_worker):
    type_id, browser = make(AnswerKey=BIRDS_KEY), new_worker()
    start(browser, type_id)
    status, page = hand_in(browser, type_id, {"q2": ["1", "2", "3"]})
    assert status == 422
    assert re.findall(r'id="(q\d)-errors">(.*?) </p>', page) == [
        ("q1", "This question needs an answer."),
        ("q2", "Choose 1 to 2; you chose 3."),
    ]
    assert "Your result is 4721." in hand_in(browser, type_id)[1]


def test_a_late_test_is_refused_and_counts_as_taken(make, new_worker, later):
    type_id, browser = make(AnswerKey=BIRDS_KEY), new_worker()
    start(browser, type_id)
    later(seconds=601)
    assert "The time for this test is over" in hand_in(browser, type_id)[1]
    assert Qualification.objects.count() == 0
    assert "can be requested once" in start(browser, type_id)


def test_leaving_and_coming_back_does_not_stop_the_time(make, new_worker, later):
    type_id, browser = make(AnswerKey=BIRDS_KEY), new_worker()
    start(browser, type_id)
    later(seconds=300)
    assert "Go on with the test" in browser.client.get(f"/qualifications/{type_id}").content.decode()
    assert re.search(r'data-seconds="(299|300)"', start(browser, type_id))
    assert QualificationRequest.objects.count() == 1


def test_a_test_is_handed_in_once(mturk, make, new_worker):
    type_id, browser = make(AnswerKey=BIRDS_KEY), new_worker()
    take(browser, type_id)
    hand_in(browser, type_id, {"q1": "2", "q2": ["1"]})
    assert score(mturk, type_id, browser) == 4721


def test_a_test_that_was_not_begun_cannot_be_handed_in(make, new_worker):
    type_id, browser = make(AnswerKey=BIRDS_KEY), new_worker()
    hand_in(browser, type_id)
    assert (Qualification.objects.count(), QualificationRequest.objects.count()) == (0, 0)


def test_with_a_retry_delay_a_better_result_replaces_the_first(mturk, make, new_worker, later):
    type_id, browser = make(AnswerKey=BIRDS_KEY, RetryDelayInSeconds=3600), new_worker()
    take(browser, type_id, {"q1": "2", "q2": ["1"]})
    assert "again on" in start(browser, type_id)
    later(seconds=3601)
    assert "You have it with the value" in browser.client.get(f"/qualifications/{type_id}").content.decode()
    take(browser, type_id)
    assert score(mturk, type_id, browser) == 4721


def test_after_a_late_test_the_delay_lets_the_worker_try_again(make, new_worker, later):
    type_id, browser = make(AnswerKey=BIRDS_KEY, RetryDelayInSeconds=60), new_worker()
    start(browser, type_id)
    later(seconds=601)
    assert "Your result is 4721." in take(browser, type_id)
    statuses = QualificationRequest.objects.order_by("pk").values_list("status", flat=True)
    assert list(statuses) == ["Late", "Granted"]


def test_what_was_shown_is_what_is_marked(mturk, make, new_worker):
    type_id, browser = make(AnswerKey=BIRDS_KEY), new_worker()
    start(browser, type_id)
    other = question_form(question("third", selection("x"), required=True))
    mturk.update_qualification_type(QualificationTypeId=type_id, Test=other, TestDurationInSeconds=60)
    assert "Your result is 4721." in hand_in(browser, type_id)[1]


def test_deleting_the_type_ends_a_test_under_way(mturk, make, new_worker):
    type_id, browser = make(AnswerKey=BIRDS_KEY), new_worker()
    start(browser, type_id)
    mturk.delete_qualification_type(QualificationTypeId=type_id)
    assert browser.client.post(f"/qualifications/{type_id}/test", RIGHT).status_code == 404
    assert QualificationRequest.objects.get().status == "Rejected"


def test_the_answer_key_reaches_the_owner_and_no_browser(mturk, demo, make, new_worker, new_hit):
    type_id, browser = make(AnswerKey=BIRDS_KEY, RetryDelayInSeconds=0), new_worker()
    asked = {"QualificationTypeId": type_id, "Comparator": "Exists"}
    hit_type = mturk.get_hit(HITId=new_hit(QualificationRequirements=[asked]))["HIT"]["HITTypeId"]
    get = lambda path: browser.client.get(path).content.decode()  # noqa: E731
    pages = [get("/"), get(f"/projects/{hit_type}/tasks"), get(f"/qualifications/{type_id}")]
    pages += [start(browser, type_id), hand_in(browser, type_id, {})[1]]
    pages += [hand_in(browser, type_id, {"q1": "2", "q2": ["3"]})[1], get("/work")]
    for page in pages:
        assert (SECRET in page, "AnswerKey" in page, "AnswerScore" in page) == (False, False, False)
    assert (
        mturk.get_qualification_type(QualificationTypeId=type_id)["QualificationType"]["AnswerKey"]
        == BIRDS_KEY
    )
    for reader in (demo.get_qualification_type(QualificationTypeId=type_id)["QualificationType"],):
        assert ("AnswerKey" in reader, "Test" in reader) == (False, False)


PARTS = {"Test": BIRDS, "TestDurationInSeconds": 600}
MISFITS = [
    ({"Test": BIRDS}, "TestDurationInSeconds"),
    ({"AnswerKey": BIRDS_KEY}, "Test"),
    ({"TestDurationInSeconds": 60}, "Test"),
    ({"AutoGranted": True}, "AutoGranted"),
]


@pytest.mark.parametrize(("changes", "parameter"), MISFITS, ids=[next(iter(row[0])) for row in MISFITS])
def test_the_parts_of_a_test_change_together(mturk, make, changes, parameter):
    type_id = make(AnswerKey=BIRDS_KEY)
    said = refusal(mturk.update_qualification_type, QualificationTypeId=type_id, **changes)
    assert said[1] == "ParameterValidationError"
    assert f"is not valid for the parameter {parameter}." in said[3]


def test_a_new_test_without_a_key_has_none(mturk, make):
    type_id = make(AnswerKey=BIRDS_KEY)
    changed = mturk.update_qualification_type(QualificationTypeId=type_id, **PARTS)["QualificationType"]
    assert (changed["Test"], "AnswerKey" in changed) == (BIRDS, False)


def test_a_type_without_a_test_can_be_given_one(mturk, make):
    bare = {name: VALUES[name] for name in ("Name", "Description", "QualificationTypeStatus")}
    type_id = mturk.create_qualification_type(**bare)["QualificationType"]["QualificationTypeId"]
    changed = mturk.update_qualification_type(QualificationTypeId=type_id, **PARTS, AnswerKey=BIRDS_KEY)
    kind = changed["QualificationType"]
    assert (kind["Test"], kind["AnswerKey"], kind["TestDurationInSeconds"]) == (BIRDS, BIRDS_KEY, 600)


BAD = [
    ({"Test": question_form()}, "Line 1: Element 'QuestionForm': Missing child element(s)."),
    ({"AnswerKey": answer_key()}, "Line 1: Element 'AnswerKey': Missing child element(s)."),
    (
        {"AnswerKey": answer_key(key_question("third", (1, "wren")))},
        'Line 1: The Test has no question "third", or it is marked twice.',
    ),
    (
        {"AnswerKey": answer_key(key_question("first", (1, "eagle")))},
        'Line 1: The question "first" has no selection "eagle".',
    ),
    (
        {"AnswerKey": BIRDS_KEY, "Test": question_form(question("first", free_text()))},
        'Line 1: The question "first" takes text, which no AnswerKey can mark.',
    ),
    (
        {"AnswerKey": BIRDS_KEY, "Test": question_form(question("first", selection("wren", other=True)))},
        'Line 1: The question "first" takes text, which no AnswerKey can mark.',
    ),
]


@pytest.mark.parametrize(("changes", "message"), BAD, ids=range(len(BAD)))
def test_bad_documents_are_refused_with_their_line(mturk, make, changes, message):
    said = refusal(make, **changes)
    assert said[1] == "ParameterValidationError"
    assert message in said[3]
    assert mturk.list_qualification_types(MustBeRequestable=False)["NumResults"] == 0
