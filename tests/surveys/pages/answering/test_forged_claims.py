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


def said(assignment: str = TRUE) -> list[str]:
    answers = task_answers(Assignment.objects.get(assignment_id=assignment))
    return [entry["answer"] for entry in json.loads(answers)]


def confirm(questionnaire: Questionnaire, copy: str) -> Assignment:
    """The marketplace tells that the worker submitted `copy`, as a sync writes it down."""
    Assignment.objects.filter(assignment_id=TRUE).update(answer_xml=answer_xml(copy))
    assignment = Assignment.objects.get(assignment_id=TRUE)
    recover(assignment, questionnaire=questionnaire)
    return assignment


def test_what_was_saved_under_an_invented_id_is_no_receipt_for_the_worker(
    client: Client, questionnaire: Questionnaire
) -> None:
    submit(client, questionnaire, open_page(client, questionnaire, FORGED), last=False)
    forged = said(FORGED)
    page = open_page(client, questionnaire, TRUE)
    assert 'id="hit"' in page
    assert "Your answers are saved" in submit(client, questionnaire, page, last=False)
    assert said() != forged  # drawn as somebody else's would be: another choice comes first
    assert said(FORGED) == forged
    assert AnswerRevision.objects.count() == 0


def test_a_page_opened_with_another_id_can_only_leave_answers_of_its_own(
    client: Client, questionnaire: Questionnaire
) -> None:
    forged_page = open_page(client, questionnaire, FORGED)
    open_page(client, questionnaire, TRUE)
    assert "Your answers are saved" in submit(client, questionnaire, forged_page, last=False)
    assignment = Assignment.objects.get(assignment_id=TRUE)
    assert (assignment.saved_at, [item.draft for item in assignment.responses.all()]) == (None, [{}] * 5)


def test_where_the_copies_differ_the_submitted_one_counts(
    client: Client, questionnaire: Questionnaire
) -> None:
    submit(client, questionnaire, open_page(client, questionnaire, TRUE), last=True)
    answers = said()
    submit(client, questionnaire, open_page(client, questionnaire, FORGED), last=False)
    submitted = task_answers(Assignment.objects.get(assignment_id=FORGED))
    assert said() == answers != said(FORGED)
    confirm(questionnaire, submitted)
    assert said() == said(FORGED)
    assert confirm(questionnaire, submitted).revisions.count() == 1


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
