"""Who knows a WorkerId and a HIT's public address can open a page: their own, which takes nothing from the worker."""

import json

import pytest
from django.test import Client
from django.utils import timezone

from annotators.crowds.mturk.gateway import AssignmentRecord
from annotators.crowds.mturk.mirror import mirror_assignment
from annotators.models import Assignment
from surveys.answering import claiming, collection
from surveys.models import Questionnaire
from tests.factories import answer_xml, make_hit, make_questionnaire
from tests.surveys.pages.hit_pages import draft, full_answers, open_page, post, token_of

MINE, INVENTED = {"assignmentId": "3TRUE"}, {"assignmentId": "3INVENTED"}
WORKER = "A1WORKER"


def named(questionnaire: Questionnaire, *, assignment_id: str, copy: str, worker: str = WORKER) -> Assignment:
    """The marketplace names who submitted what, as a sync writes it down."""
    now = timezone.now()
    record = AssignmentRecord(
        assignment_id=assignment_id,
        worker_id=worker,
        hit_id=questionnaire.hit.hit_id,
        status="Submitted",
        accepted_at=now,
        submitted_at=now,
        auto_approval_at=now,
        approved_at=None,
        rejected_at=None,
        feedback="",
        answer_xml=answer_xml(copy),
    )
    assignment = mirror_assignment(questionnaire.hit, record)
    collection.recover(assignment, questionnaire=questionnaire)
    claiming.confirm(questionnaire.hit)
    return assignment


def row(assignment_id: str) -> dict[str, object]:
    return Assignment.objects.values().get(assignment_id=assignment_id)


def test_a_stranger_sees_no_draft_and_no_comment(visitor: Client, questionnaire: Questionnaire) -> None:
    mine = open_page(visitor, questionnaire, **MINE)
    incomplete = {**full_answers(mine), "comment": "My comment"}
    incomplete.pop("i1-answer")
    assert post(visitor, questionnaire, incomplete).status_code == 422
    before = row("3TRUE")
    blank = open_page(visitor, questionnaire, workerId="A9NOBODY", assignmentId="3BLANK").content.decode()
    stranger = open_page(visitor, questionnaire, **INVENTED).content.decode()
    assert stranger.count(" checked") == blank.count(" checked")
    assert "My comment" not in stranger
    assert row("3TRUE") == before
    kept = open_page(visitor, questionnaire, **MINE).content.decode()
    assert ">My comment</textarea>" in kept


def test_the_workers_page_goes_on_after_a_stranger_came(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    mine = open_page(visitor, questionnaire, **MINE)
    open_page(visitor, questionnaire, **INVENTED)
    assert draft(visitor, questionnaire, token=token_of(mine)).json() == {"saved": True, "why": ""}
    done = post(visitor, questionnaire, full_answers(mine))
    assert (done.status_code, b"Your answers are saved" in done.content) == (200, True)
    assert Assignment.objects.get(saved_at__isnull=False).assignment_id == "3TRUE"


def test_the_worker_comes_after_a_stranger_and_starts_empty(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    stranger = open_page(visitor, questionnaire, **INVENTED)
    assert post(visitor, questionnaire, full_answers(stranger)).status_code == 200
    mine = open_page(visitor, questionnaire, **MINE)
    assert (mine.status_code, b'id="hit"' in mine.content) == (200, True)
    assert post(visitor, questionnaire, full_answers(mine) | {"comment": "Mine"}).status_code == 200
    assert row("3TRUE")["comment"] == "Mine"


def test_a_stranger_reads_no_answers_after_submission(visitor: Client, questionnaire: Questionnaire) -> None:
    mine = open_page(visitor, questionnaire, **MINE)
    post(visitor, questionnaire, full_answers(mine) | {"comment": "My comment"})
    stranger = open_page(visitor, questionnaire, **INVENTED)
    assert (b"taskAnswers" in stranger.content, b"My comment" in stranger.content) == (False, False)


def test_the_marketplace_decides_which_claim_was_true(visitor: Client, questionnaire: Questionnaire) -> None:
    stranger = open_page(visitor, questionnaire, **INVENTED)
    post(visitor, questionnaire, full_answers(stranger) | {"comment": "Forged"})
    mine = open_page(visitor, questionnaire, **MINE)
    post(visitor, questionnaire, full_answers(mine) | {"comment": "Mine"})
    ours = Assignment.objects.get(assignment_id="3TRUE")
    confirmed = named(questionnaire, assignment_id="3TRUE", copy=collection.task_answers(ours))
    assert (confirmed.pk, confirmed.status, confirmed.comment) == (ours.pk, "Submitted", "Mine")
    assert list(confirmed.responses.values_list("is_claim", flat=True)) == [False] * 5
    assert row("3INVENTED")["status"] == "Accepted"


def test_once_the_worker_is_known_no_other_claim_opens_their_hit(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    mine = open_page(visitor, questionnaire, **MINE)
    post(visitor, questionnaire, full_answers(mine) | {"comment": "My comment"})
    ours = Assignment.objects.get()
    named(questionnaire, assignment_id="3TRUE", copy=collection.task_answers(ours))
    stranger = open_page(visitor, questionnaire, **INVENTED)
    assert (stranger.status_code, b"My comment" in stranger.content) == (403, False)
    receipt = open_page(visitor, questionnaire, **MINE)
    assert (receipt.status_code, b"The marketplace has confirmed your work" in receipt.content) == (200, True)


def test_what_the_marketplace_names_under_an_id_we_never_saw_takes_over_no_claim(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    """Else the stranger's page would be a receipt with the worker's answers."""
    stranger = open_page(visitor, questionnaire, **INVENTED)
    post(visitor, questionnaire, full_answers(stranger) | {"comment": "Forged"})
    forged = Assignment.objects.get()
    confirmed = named(questionnaire, assignment_id="3TRUE", copy=collection.task_answers(forged))
    assert (confirmed.pk == forged.pk, confirmed.comment) == (False, "")
    again = post(visitor, questionnaire, full_answers(stranger))
    assert json.dumps(str(confirmed.nonce)) not in again.content.decode()


def sibling_of(questionnaire: Questionnaire) -> Questionnaire:
    return make_questionnaire(
        questionnaire.batch, items=list(questionnaire.items.all()), hit=make_hit(), sibling_of=questionnaire
    )


def test_a_claim_from_elsewhere_closes_no_other_hit_to_the_worker(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    stranger = Client(enforce_csrf_checks=True, REMOTE_ADDR="203.0.113.9")
    assert open_page(stranger, sibling_of(questionnaire), **INVENTED).status_code == 200
    assert open_page(visitor, questionnaire, **MINE).status_code == 200


@pytest.mark.parametrize("address", ["127.0.0.1", "203.0.113.9"])
def test_after_a_return_the_worker_begins_anew(
    visitor: Client, questionnaire: Questionnaire, address: str
) -> None:
    """Nothing tells a worker who accepted a HIT twice from a stranger who says so: both keep what is theirs."""
    again = Client(enforce_csrf_checks=True, REMOTE_ADDR=address)
    first = open_page(visitor, questionnaire, assignmentId="3FIRST")
    second = open_page(again, questionnaire, assignmentId="3SECOND")
    for page, comment in ((first, "First"), (second, "Second")):
        assert post(visitor, questionnaire, full_answers(page) | {"comment": comment}).status_code == 200
    assert (row("3FIRST")["comment"], row("3SECOND")["comment"]) == ("First", "Second")
