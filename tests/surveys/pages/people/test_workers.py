"""One worker's page: their work, the decisions about it, their standing."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment, Call, Worker
from surveys import audit
from surveys.models import AuditEntry, Decision, Inclusion, Questionnaire
from surveys.results.frames.pseudonyms import Pseudonyms
from tests import factories
from tests.appeals import appealed
from tests.people import client_of
from tests.surveys.pages.pages import detail_url, queries_of, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker(questionnaire: Questionnaire) -> Worker:
    """Somebody with one answered assignment, four of five right."""
    return factories.submitted(questionnaire, n_correct=4, worker="A1WORKER").worker


def address(worker: Worker, name: str = "") -> str:
    return f"/workers/{worker.pk}/{name}"


def change(client: Client, worker: Worker, **data: str):
    data = {"standing": "watch", "reason": "Very fast.", "was": "ok", **data}
    return client.post(address(worker, "standing"), data)


def facts(client: Client, worker: Worker):
    return client.get(address(worker)).context["facts"]


def test_the_page_adds_up_the_workers_work(researcher, questionnaire, worker):
    factories.submitted(questionnaire)
    found = facts(researcher, worker)
    assert (found.n_assignments, found.accuracy, found.median_seconds) == (1, 0.8, 62.5)
    (part,) = found.batches
    assert (part.batch, part.share, part.accuracy, part.median_seconds) == (
        questionnaire.batch,
        0.5,
        0.8,
        62.5,
    )
    assert "50.0 % of what was handed in · 80.0 % right · active 1 min 2 s" in text_of(
        researcher.get(address(worker))
    )


def test_medians_and_shares_are_over_assignments(researcher, worker):
    other = factories.make_published()
    slow = factories.submitted(other, n_correct=0, worker="A1WORKER")
    slow.responses.update(active_seconds=20)
    found = facts(researcher, worker)
    assert (found.n_assignments, found.accuracy, found.median_seconds) == (2, 0.4, 81.25)
    assert [part.share for part in found.batches] == [1.0, 1.0]


def test_the_three_decisions_stand_side_by_side(researcher, questionnaire, worker):
    now = timezone.now()
    assignment = worker.assignments.get()
    flags = [{"kind": "too_fast", "sentence": "Answered in 9 s."}]
    Decision.objects.create(assignment=assignment, verdict="approve", flags=flags, decided_at=now)
    Inclusion.objects.create(
        assignment=assignment, is_included=False, is_replaced=True, reason="Straight lines.", decided_at=now
    )
    Worker.objects.update(standing="watch")
    page = text_of(researcher.get(address(worker)))
    for text in (
        "Approve by rule",
        "Left out, and collected once more. Straight lines.",
        "Answered in 9 s.",
        "Watched",
    ):
        assert text in page
    assert facts(researcher, worker).n_flagged == 1


def test_appeals_and_bonuses_are_listed(researcher, questionnaire):
    appeal = appealed(questionnaire)
    assignment = appeal.assignment
    for token, state, amount in (("a", "done", "0.50"), ("b", "unknown", "2.00")):
        Call.objects.create(
            token=token,
            operation="SendBonus",
            endpoint="embedded",
            assignment=assignment,
            amount=Decimal(amount) * Decimal("1.2"),
            state=state,
            finished_at=timezone.now(),
            arguments={"amount": amount, "reason": "Thanks."},
        )
    found = facts(researcher, assignment.worker)
    assert (found.appeals, len(found.bonuses), found.bonus_total) == ([appeal], 2, Decimal("0.50"))
    page = text_of(researcher.get(address(assignment.worker)))
    assert "waits for an answer" in page
    assert "$0.50 Paid Thanks." in page
    assert "$2.00 No answer came; the marketplace is asked whether it was paid Thanks." in page


@pytest.mark.parametrize(
    ("status", "inclusion", "words"),
    [
        ("Rejected", {}, "Not used: it is rejected."),
        ("Accepted", {}, "Not used: it is not handed in."),
        ("Approved", {}, "Used."),
        ("Approved", {"is_included": False}, "Left out."),
        ("Approved", {"is_included": False, "is_replaced": True}, "Left out, and collected once more."),
        ("Approved", {"is_included": True}, "Used."),
    ],
)
def test_both_pages_say_in_the_same_words_whether_answers_are_used(
    researcher, questionnaire, worker, status, inclusion, words
):
    now = timezone.now()
    Assignment.objects.update(status=status, approved_at=now, rejected_at=now)
    assignment = worker.assignments.get()
    if inclusion:
        Inclusion.objects.create(assignment=assignment, reason="So.", decided_at=timezone.now(), **inclusion)
    assert f">{words}<" in researcher.get(address(worker)).content.decode()
    assert (
        f"<strong>{words}</strong>" in researcher.get(detail_url(questionnaire, assignment)).content.decode()
    )


def test_somebody_without_work_has_a_page(researcher):
    worker = factories.make_worker()
    found = facts(researcher, worker)
    assert (found.n_assignments, found.accuracy, found.median_seconds, found.batches) == (0, None, None, [])
    assert "No work in the surveys you see." in text_of(researcher.get(address(worker)))


def test_what_is_begun_counts_as_nothing_handed_in(researcher, questionnaire):
    worker = factories.open_for(questionnaire).worker
    (part,) = facts(researcher, worker).batches
    assert (part.share, part.accuracy, part.median_seconds) == (None, None, None)


def test_the_page_opens_in_constant_queries(researcher, questionnaire, worker):
    n = queries_of(researcher, address(worker))
    for _ in range(3):
        factories.submitted(factories.make_published(), worker="A1WORKER")
    appeal = appealed(factories.make_published(), worker=worker)
    audit.record(audit.Kind.PAYMENT, "reject", assignment=appeal.assignment)
    assert queries_of(researcher, address(worker)) == n


def test_the_assignments_page_leads_here(researcher, questionnaire, worker):
    page = researcher.get(detail_url(questionnaire, worker.assignments.get())).content.decode()
    assert f'href="{address(worker)}"' in page


def test_a_change_of_standing_is_recorded(researcher, worker):
    response = change(researcher, worker)
    assert (response.status_code, response.headers["Location"]) == (302, address(worker))
    assert Worker.objects.get().standing == "watch"
    entries = AuditEntry.objects.values_list("outcome", "actor__username", "reason")
    assert list(entries) == [("watch", "researcher", "Very fast.")]
    assert "Very fast." in text_of(researcher.get(address(worker)))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"reason": " "}, "Give a reason"),
        ({"reason": "x" * 1001}, "at most 1000 characters"),
        ({"reason": "a\x00b"}, "Null characters are not allowed"),
        ({"standing": "blocked"}, "not one of the available choices"),
        ({"was": ""}, "This field is required"),
    ],
)
def test_what_makes_no_sense_changes_nothing(researcher, worker, data, said):
    response = change(researcher, worker, **data)
    assert response.status_code == 422
    assert said in text_of(response)
    assert Worker.objects.get().standing == "ok"
    assert not AuditEntry.objects.exists()


def test_what_somebody_else_changed_is_not_overwritten(researcher, worker):
    Worker.objects.update(standing="excluded")
    response = change(researcher, worker)
    assert response.status_code == 409
    assert "Meanwhile somebody set it to “Excluded from our HITs”" in text_of(response)
    assert "Very fast." in text_of(response)
    assert Worker.objects.get().standing == "excluded"


def test_assistants_look_but_do_not_decide_who_works(assistant, worker):
    response = assistant.get(address(worker))
    assert response.status_code == 200
    assert "May they go on?" not in text_of(response)
    assert "Audit trail" not in text_of(response)
    assert change(assistant, worker).status_code == 403


@pytest.mark.parametrize(("client", "status"), [(Client, 302), (client_of, 403)])
def test_nobody_else_looks(worker, client, status):
    assert client().get(address(worker)).status_code == status


def test_there_is_no_page_of_nobody(researcher):
    assert researcher.get("/workers/99999/").status_code == 404
    assert researcher.get("/workers/99999999999999999999/").status_code == 404


def test_assignments_of_hits_that_are_none_of_ours_are_left_out(researcher, worker):
    factories.make_assignment(factories.make_hit(), worker=worker, status="Submitted")
    assert facts(researcher, worker).n_assignments == 1


def test_late_work_is_shown_as_it_is(researcher, worker):
    then = timezone.now() - timedelta(days=31)
    Assignment.objects.update(submitted_at=then, accepted_at=then)
    assert researcher.get(address(worker)).status_code == 200


def test_all_that_somebody_has_waiting_is_held_and_released_from_their_page(
    researcher, questionnaire, worker
):
    other = factories.submitted(questionnaire, worker="AOTHER")
    name = Pseudonyms()(worker.worker_id)
    batch = questionnaire.batch
    waiting = worker.assignments.filter(status="Submitted", hit__questionnaire__batch=batch)
    n = waiting.count()
    page = researcher.get(address(worker))
    decide = f"{reverse('decide_many', args=[batch.pk])}?worker={name}&status=Submitted"
    assert f'action="{decide.replace("&", "&amp;")}"' in page.content.decode()
    assert f"{n} handed in and not paid: Approve Reject Hold" in text_of(page)
    data = {"everything": "on", "action": "hold"}
    assert f"Hold {n} assignment" in text_of(researcher.post(decide, data))
    researcher.post(decide, {**data, "reason": "Ask them.", "confirm": "yes"})
    assert set(waiting.values_list("decision__verdict", "decision__reason")) == {("flag", "Ask them.")}
    assert f"Release {n}" in text_of(researcher.get(address(worker)))
    researcher.post(decide, {"everything": "on", "action": "release", "confirm": "yes"})
    assert set(waiting.values_list("decision__decided_by")) == {(None,)}
    assert not Decision.objects.filter(assignment=other).exists()


def test_much_work_and_a_long_trail_are_folded_and_nothing_of_them_is_lost(researcher, worker):
    batch = worker.assignments.get().hit.questionnaire.batch
    for _ in range(12):
        hit = factories.make_questionnaire(batch, items=[], hit=factories.make_hit()).hit
        one = factories.make_assignment(hit, worker=worker, status="Submitted")
        audit.record(audit.Kind.PAYMENT, "flag", assignment=one, reason="Look.")
    page = researcher.get(address(worker))
    text = text_of(page)
    assert ("The other 3 assignments" in text, "2 earlier" in text) == (True, True)
    (part,) = page.context["facts"].batches
    shown = re.findall(rf'href="/batches/{batch.pk}/assignments/([0-9]+)/">HIT', page.content.decode())
    assert shown == [str(one.pk) for one in part.assignments]
    assert len(re.findall(r">#[0-9]+</a>", page.content.decode())) == 12


def test_a_superuser_takes_what_is_kept_for_the_person(admin_client, worker):
    assert "Download what is kept about them" in text_of(admin_client.get(address(worker)))
    answer = admin_client.post(address(worker, "data"))
    assert answer.json()["person"]["id"] == "A1WORKER"
    name = Pseudonyms()("A1WORKER")
    assert answer["Content-Disposition"] == f'attachment; filename="data-of-{name}.json"'
    assert AuditEntry.objects.get().outcome == "own_data"


def test_a_researcher_is_offered_neither(researcher, worker):
    assert "If they ask for their data" not in text_of(researcher.get(address(worker)))


def test_a_superuser_deletes_a_person_after_reading_what_goes(admin_client, worker):
    Assignment.objects.update(status="Approved", approved_at=timezone.now())
    page = text_of(admin_client.get(address(worker, "delete")))
    assert "Delete for good" in page
    assert Worker.objects.get().worker_id == "A1WORKER"
    answer = admin_client.post(address(worker, "delete"), follow=True)
    assert "Deleted. Their answers stay." in text_of(answer)
    assert Worker.objects.get().worker_id == f"purged:{Pseudonyms()('A1WORKER')}"
    entry = AuditEntry.objects.get()
    assert (entry.outcome, entry.actor.is_superuser) == ("forget_for", True)


def test_the_page_says_what_is_in_the_way(admin_client, questionnaire, worker):
    for answer, status in (
        (admin_client.get(address(worker, "delete")), 200),
        (admin_client.post(address(worker, "delete")), 409),
    ):
        page = text_of(answer)
        assert answer.status_code == status
        assert f"has work in {questionnaire.batch.name} that nobody has decided on" in page
        assert "Delete for good" not in page
    assert Worker.objects.get().worker_id == "A1WORKER"
