"""Answers to a QuestionForm that come twice, late, from elsewhere or in the wrong place."""

import pytest
from django.test import Client

from marketplace.models import Assignment
from tests.marketplace.question_documents import html_question
from tests.marketplace.questions.form_documents import EXAMPLE, GOOD, accepted, answer, send


@pytest.fixture
def work(mturk, new_hit, new_worker):
    """A function that publishes the example and has a worker accept it: (browser, AssignmentId)."""
    return lambda: accepted(mturk.get_hit(HITId=new_hit(Question=EXAMPLE))["HIT"], new_worker())


def test_the_second_submission_changes_nothing(mturk, work):
    job = work()
    send(job, GOOD)
    before = answer(mturk, job)
    assert "reached the requester" in send(job, GOOD | {"q3": "2"})[1]
    assert answer(mturk, job) == before


def test_late_answers_are_not_taken(work, later):
    job = work()
    later(seconds=3601)
    assert "The time for" in send(job, GOOD)[1]
    assert Assignment.objects.get().status == "Abandoned"


def test_answers_of_another_worker_are_not_taken(work, new_worker):
    _, assignment_id = work()
    assert new_worker().client.post(f"/assignments/{assignment_id}/answers", GOOD).status_code == 404


def test_answers_need_the_token_of_the_page(work):
    browser, assignment_id = work()
    strict = Client(headers={"host": "localhost"}, enforce_csrf_checks=True)
    strict.cookies = browser.client.cookies
    assert strict.post(f"/assignments/{assignment_id}/answers", GOOD).status_code == 403


TOO_MUCH = [{"q7": "x" * 3_000_000}, {f"field-{number}": "" for number in range(5001)}]


@pytest.mark.parametrize("form", TOO_MUCH, ids=["bytes", "fields"])
def test_too_large_answers_are_refused_in_words(work, form):
    job = work()
    browser, assignment_id = job
    response = browser.client.post(f"/assignments/{assignment_id}/answers", form)
    assert response.status_code == 400
    assert "The answers are too large to be recorded." in response.content.decode()
    assert send(job, GOOD)[0] == 200


def test_external_submit_does_not_pass_by_the_checks(work):
    browser, assignment_id = work()
    assert browser.submit(assignment_id, q1="anything") == 400
    assert Assignment.objects.get().status == "Open"


def test_a_hit_in_a_frame_has_no_form_to_answer(mturk, new_hit, new_worker):
    hit = mturk.get_hit(HITId=new_hit(Question=html_question("<p>x</p>")))["HIT"]
    browser = new_worker()
    assignment_id = browser.accept(hit["HITTypeId"])
    assert browser.client.post(f"/assignments/{assignment_id}/answers", {}).status_code == 404
