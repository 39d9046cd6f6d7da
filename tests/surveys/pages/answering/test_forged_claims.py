"""Who knows a WorkerId and a HIT's address can open that worker's page; they can't speak for the worker."""

import json
import re

from django.test import Client

from annotators.models import Assignment
from surveys.answering.collection import recover, task_answers
from surveys.models import AnswerRevision, Questionnaire
from tests.builders import frame_query
from tests.factories import answer_xml

FORGED, TRUE = "3FORGED", "3TRUE"


def open_page(client: Client, questionnaire: Questionnaire, assignment: str) -> str:
    return client.get(
        f"/hits/{questionnaire.pk}/", frame_query(questionnaire, assignment=assignment)
    ).content.decode()


def submit(client: Client, questionnaire: Questionnaire, page: str, *, last: bool) -> str:
    """Answer every question of the page with its first or its last choice."""
    inputs = re.findall(r'<input type="(?:radio|checkbox)" name="([^"]+)" value="([^"]+)"', page)
    answers = dict(inputs if last else reversed(inputs))
    token = re.search(r'name="token" value="([^"]+)"', page)[1]
    response = client.post(f"/hits/{questionnaire.pk}/", answers | {"token": token})
    return response.content.decode()


def said() -> list[str]:
    return [entry["answer"] for entry in json.loads(task_answers(Assignment.objects.get()))]


def confirm(questionnaire: Questionnaire, copy: str) -> Assignment:
    """The marketplace tells that the worker submitted `copy`, as a sync writes it down."""
    Assignment.objects.update(assignment_id=TRUE, answer_xml=answer_xml(copy))
    assignment = Assignment.objects.get()
    recover(assignment, questionnaire=questionnaire)
    return assignment


def test_what_was_saved_under_an_invented_id_is_no_receipt_for_the_worker(
    client: Client, questionnaire: Questionnaire
) -> None:
    submit(client, questionnaire, open_page(client, questionnaire, FORGED), last=False)
    forged = said()
    page = open_page(client, questionnaire, TRUE)
    assert 'id="hit"' in page
    assert "Your answers are saved" in submit(client, questionnaire, page, last=True)
    assert said() != forged
    kept = AnswerRevision.objects.get()
    assert [entry["answer"] for entry in kept.data["answers"]] == forged


def test_a_page_opened_with_an_id_that_is_outdated_can_only_leave_a_draft(
    client: Client, questionnaire: Questionnaire
) -> None:
    forged_page = open_page(client, questionnaire, FORGED)
    open_page(client, questionnaire, TRUE)
    assert "This page has expired" in submit(client, questionnaire, forged_page, last=False)
    assignment = Assignment.objects.get()
    assert (assignment.assignment_id, assignment.saved_at) == (TRUE, None)


def test_where_the_copies_differ_the_submitted_one_counts(
    client: Client, questionnaire: Questionnaire
) -> None:
    page = open_page(client, questionnaire, TRUE)
    submit(client, questionnaire, page, last=True)
    submitted, answers = task_answers(Assignment.objects.get()), said()
    submit(client, questionnaire, open_page(client, questionnaire, FORGED), last=False)
    assert said() != answers
    confirm(questionnaire, submitted)
    assert said() == answers
    assert confirm(questionnaire, submitted).revisions.count() == 2


def test_equal_copies_change_nothing(client: Client, questionnaire: Questionnaire) -> None:
    submit(client, questionnaire, open_page(client, questionnaire, TRUE), last=True)
    before = Assignment.objects.get()
    after = confirm(questionnaire, task_answers(before))
    assert (after.saved_at, after.revisions.count()) == (before.saved_at, 0)


def test_a_damaged_copy_leaves_ours_alone(client: Client, questionnaire: Questionnaire) -> None:
    submit(client, questionnaire, open_page(client, questionnaire, TRUE), last=True)
    answers = said()
    confirm(questionnaire, "[{}]")
    assert said() == answers
