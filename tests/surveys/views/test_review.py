"""Reviewing: the list, one assignment, and decisions by people."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.db.models import Q
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment, Call
from surveys import review
from surveys.models import Decision, Questionnaire
from tests.factories import (
    answer,
    make_assignment,
    make_hit,
    make_published,
    make_questionnaire,
    open_for,
    submitted,
)
from tests.people import client_of
from tests.surveys.views.test_batches import enqueued, queries_of, text_of

pytestmark = pytest.mark.django_db

REASON = "You answered 2 of 5 questions correctly; at least 3 are needed."


@pytest.fixture
def questionnaire() -> Questionnaire:
    return make_published()


@pytest.fixture
def reviewer() -> Client:
    return client_of("Assistant")


def list_url(questionnaire: Questionnaire, query: str = "") -> str:
    return reverse("assignments", args=[questionnaire.batch_id]) + query


def detail_url(questionnaire: Questionnaire, assignment: Assignment, name: str = "assignment") -> str:
    return reverse(name, args=[questionnaire.batch_id, assignment.pk])


def decide(client: Client, questionnaire: Questionnaire, assignment: Assignment, **data: str):
    return client.post(detail_url(questionnaire, assignment, "decide"), data)


def verdict_of(assignment: Assignment) -> tuple[str, str, str | None]:
    decision = Decision.objects.get(assignment=assignment)
    return decision.verdict, decision.reason, decision.decided_by and decision.decided_by.get_username()


def rejected(questionnaire: Questionnaire) -> Assignment:
    assignment = submitted(questionnaire, n_correct=2)
    review.record_decision(assignment, batch=questionnaire.batch)
    Assignment.objects.filter(pk=assignment.pk).update(
        status="Rejected", rejected_at=timezone.now(), feedback=REASON
    )
    assignment.refresh_from_db()
    return assignment


def shown(client: Client, questionnaire: Questionnaire, query: str = "") -> list[Assignment]:
    return list(client.get(list_url(questionnaire, query)).context["page"])


def test_the_list_shows_the_most_urgent_first(reviewer, questionnaire):
    now = timezone.now()
    approved = make_assignment(questionnaire.hit, status="Approved")
    late, soon = (
        make_assignment(questionnaire.hit, status="Submitted", auto_approval_at=now + timedelta(hours=h))
        for h in (9, 1)
    )
    assert shown(reviewer, questionnaire) == [soon, late, approved]


def test_the_list_counts_right_answers(reviewer, questionnaire):
    submitted(questionnaire, n_correct=2)
    row = shown(reviewer, questionnaire)[0]
    assert (row.n_right, row.n_graded) == (2, 5)


def test_the_list_can_be_filtered(reviewer, questionnaire):
    flagged = submitted(questionnaire, worker="AONE")
    Decision.objects.create(assignment=flagged, verdict="flag", decided_at=timezone.now())
    other = make_questionnaire(questionnaire.batch, items=list(questionnaire.items.all()), hit=make_hit())
    done = make_assignment(other.hit, status="Approved")
    assert shown(reviewer, questionnaire, "?status=Submitted") == [flagged]
    assert shown(reviewer, questionnaire, "?verdict=flag") == [flagged]
    assert shown(reviewer, questionnaire, "?verdict=undecided") == [done]
    assert shown(reviewer, questionnaire, "?worker=aone") == [flagged]
    assert shown(reviewer, questionnaire, f"?hit={other.hit.hit_id}") == [done]
    assert shown(reviewer, questionnaire, "?status=Nonsense") == [flagged, done]


def test_the_list_has_only_this_batch(reviewer, questionnaire):
    submitted(make_published())
    assert shown(reviewer, questionnaire) == []


def test_queries_do_not_grow_with_the_list(reviewer, questionnaire, django_assert_num_queries):
    submitted(questionnaire)
    n = queries_of(reviewer, list_url(questionnaire))
    for _ in range(4):
        assignment = submitted(questionnaire)
        review.record_decision(assignment, batch=questionnaire.batch)
    with django_assert_num_queries(n):
        reviewer.get(list_url(questionnaire))


def test_queries_do_not_grow_with_the_items(reviewer, django_assert_num_queries):
    never = {"kind": "never"}
    small, large = (make_published(n_items=n, review_policy=never) for n in (2, 6))
    n = queries_of(reviewer, detail_url(small, submitted(small)))
    address = detail_url(large, submitted(large))
    with django_assert_num_queries(n):
        reviewer.get(address)


def test_one_assignment_shows_answers_beside_gold(reviewer, questionnaire):
    assignment = submitted(questionnaire, n_correct=4)
    response = reviewer.get(detail_url(questionnaire, assignment))
    items = response.context["items"]
    assert [(item.answer, item.gold, item.is_correct) for item in items] == [
        *[("Yes", "Yes", True)] * 4,
        ("No", "Yes", False),
    ]
    assert "✗ Wrong: No (right: Yes)" in text_of(response)


def test_outputs_stand_in_the_order_they_were_shown(reviewer, questionnaire):
    assignment = submitted(questionnaire)
    for item, kept in zip(
        reviewer.get(detail_url(questionnaire, assignment)).context["items"],
        assignment.responses.select_related("item"),
        strict=True,
    ):
        systems = {output.pk: output.system for output in kept.item.outputs.all()}
        first, second = item.outputs
        assert [first.system, second.system] == [systems[pk] for pk in kept.shown["outputs"]]
        assert first.judgements == (
            ("Does the explanation justify the answer?", "Weak no"),
            ("What is wrong with it?", "Incorrect description of the image, Insufficient justification"),
        )
        assert second.judgements[1] == ("What is wrong with it?", "None")
        assert (first.is_preferred, second.is_preferred) == (False, True)
        assert item.preference == f"Explanation 2 ({second.system})"


def test_what_workers_type_is_escaped(reviewer, questionnaire):
    assignment = open_for(questionnaire)
    answer(assignment, comment="<script>alert(1)</script>\nBye")
    page = reviewer.get(detail_url(questionnaire, assignment)).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;<br>Bye" in page


def test_the_history_tells_facts_decisions_and_calls(reviewer, questionnaire):
    assignment = rejected(questionnaire)
    Call.objects.create(
        token="reject:1", operation="RejectAssignment", endpoint="embedded", assignment=assignment,
        state="done", sent_at=timezone.now(), finished_at=timezone.now(),
    )  # fmt: skip
    events = reviewer.get(detail_url(questionnaire, assignment)).context["timeline"]
    assert sorted((event.what, event.source) for event in events) == [
        ("Accepted", "marketplace"),
        ("Answers complete and saved", "our page"),
        ("Call Reject: Done", "ledger"),
        ("Decided: Reject", "the batch's rule"),
        ("First opened", "our page"),
        ("Rejected", "marketplace"),
        ("Submitted", "marketplace"),
    ]
    assert [event.at for event in events] == sorted(event.at for event in events)


def test_another_batchs_assignment_is_404(reviewer, questionnaire):
    elsewhere = submitted(make_published())
    assert reviewer.get(detail_url(questionnaire, elsewhere)).status_code == 404
    assert decide(reviewer, questionnaire, elsewhere, action="approve").status_code == 404
    assert Decision.objects.count() == 0


@pytest.mark.parametrize("action", ["approve", "reject"])
def test_a_person_decides(reviewer, questionnaire, action, django_capture_on_commit_callbacks):
    assignment = submitted(questionnaire)
    with django_capture_on_commit_callbacks() as callbacks:
        decide(reviewer, questionnaire, assignment, action=action, reason="Because.")
    assert verdict_of(assignment) == (action, "Because.", "assistant")
    assert enqueued(callbacks) == [("surveys.tasks.sync_hit", (assignment.hit_id,))]


@pytest.mark.parametrize("reason", ["", "   "])
def test_a_rejection_needs_a_reason(reviewer, questionnaire, reason):
    assignment = submitted(questionnaire)
    response = decide(reviewer, questionnaire, assignment, action="reject", reason=reason)
    assert response.status_code == 422
    assert "Give a reason: the worker reads it." in text_of(response)
    assert Decision.objects.count() == 0


def test_a_reason_longer_than_mturk_takes_is_refused(reviewer, questionnaire):
    assignment = submitted(questionnaire)
    assert decide(reviewer, questionnaire, assignment, action="reject", reason="x" * 1025).status_code == 422
    assert Decision.objects.count() == 0


def test_the_reason_is_prefilled_with_the_count(reviewer, questionnaire):
    bad, good = submitted(questionnaire, n_correct=2), submitted(questionnaire, n_correct=4)
    assert reviewer.get(detail_url(questionnaire, bad)).context["suggested_reason"] == REASON
    assert reviewer.get(detail_url(questionnaire, good)).context["suggested_reason"] == ""


def test_what_is_decided_is_not_decided_again(reviewer, questionnaire):
    assignment = make_assignment(questionnaire.hit, status="Approved")
    response = reviewer.post(
        detail_url(questionnaire, assignment, "decide"), {"action": "reject", "reason": "Late."}, follow=True
    )
    assert "This assignment is Approved already." in text_of(response)
    assert Decision.objects.count() == 0


def test_a_rejection_is_overturned(reviewer, questionnaire, django_capture_on_commit_callbacks):
    assignment = rejected(questionnaire)
    assert "Overturn the rejection" in text_of(reviewer.get(detail_url(questionnaire, assignment)))
    with django_capture_on_commit_callbacks() as callbacks:
        decide(reviewer, questionnaire, assignment, action="overturn", reason="We were wrong.")
    decision = Decision.objects.get(assignment=assignment)
    assert (decision.verdict, decision.reason) == ("reject", REASON)
    assert (decision.overturn_reason, decision.overturned_by) == ("We were wrong.", User.objects.get())
    shown_then = text_of(reviewer.get(detail_url(questionnaire, assignment)))
    assert f"Reject , by the batch's rule. 2 of 5 right. {REASON}" in shown_then
    assert "Overturned , by assistant. We were wrong." in shown_then
    assert enqueued(callbacks) == [("surveys.tasks.sync_hit", (assignment.hit_id,))]


def test_only_a_rejection_can_be_overturned(reviewer, questionnaire):
    assignment = submitted(questionnaire)
    assert "Overturn" not in text_of(reviewer.get(detail_url(questionnaire, assignment)))
    decide(reviewer, questionnaire, assignment, action="overturn", reason="Why not.")
    assert Decision.objects.count() == 0


def test_after_30_days_a_rejection_stands(reviewer, questionnaire):
    assignment = rejected(questionnaire)
    long_ago = timezone.now() - timedelta(days=31)
    Assignment.objects.filter(pk=assignment.pk).update(accepted_at=long_ago, submitted_at=long_ago)
    assert "Overturn" not in text_of(reviewer.get(detail_url(questionnaire, assignment)))
    decide(reviewer, questionnaire, assignment, action="overturn", reason="Too late.")
    assert Decision.objects.get().overturned_at is None


def bulk(client: Client, questionnaire: Questionnaire, *selected: Assignment, query: str = "", **data: str):
    address = reverse("decide_many", args=[questionnaire.batch_id]) + query
    return client.post(address, {"selected": [a.pk for a in selected], **data}, follow=True)


def test_many_are_rejected_each_with_their_own_count(
    reviewer, questionnaire, django_capture_on_commit_callbacks
):
    none, two = submitted(questionnaire, n_correct=0), submitted(questionnaire, n_correct=2)
    with django_capture_on_commit_callbacks() as callbacks:
        response = bulk(reviewer, questionnaire, none, two, action="reject", reason="")
    assert verdict_of(none)[:2] == ("reject", REASON.replace("2 of 5", "0 of 5"))
    assert verdict_of(two)[:2] == ("reject", REASON)
    assert "2 decided." in text_of(response)
    assert enqueued(callbacks) == [("surveys.tasks.sync_hit", (two.hit_id,))]


def test_what_cant_be_decided_is_named_and_the_rest_is_done(reviewer, questionnaire):
    good, bad = submitted(questionnaire, n_correct=5), submitted(questionnaire, n_correct=1)
    response = bulk(reviewer, questionnaire, good, bad, action="reject")
    assert not Decision.objects.filter(assignment=good).exists()
    assert verdict_of(bad)[0] == "reject"
    assert "1 decided." in text_of(response)
    assert f"1 could not be decided. {good.worker}: A rejection needs a reason" in text_of(response)


def test_a_bulk_decision_returns_to_the_same_filter(reviewer, questionnaire):
    response = bulk(
        reviewer, questionnaire, submitted(questionnaire), query="?status=Submitted", action="approve"
    )
    assert response.redirect_chain[-1][0] == list_url(questionnaire, "?status=Submitted")


def test_a_bulk_decision_takes_only_this_batch(reviewer, questionnaire):
    elsewhere = submitted(make_published())
    bulk(reviewer, questionnaire, elsewhere, action="approve")
    assert Decision.objects.count() == 0


def test_nothing_selected_is_said(reviewer, questionnaire):
    assert "Select assignments first." in text_of(bulk(reviewer, questionnaire, action="approve"))


def test_who_may_only_look_sees_no_buttons(questionnaire, django_user_model):
    looker = django_user_model.objects.create_user("looker", is_staff=True)
    seen = Q(codename="view_batch") | Q(codename="view_assignment", content_type__app_label="annotators")
    looker.user_permissions.set(Permission.objects.filter(seen))
    client = Client()
    client.force_login(looker)
    assignment = submitted(questionnaire)
    page = client.get(detail_url(questionnaire, assignment)).content.decode()
    assert 'name="action"' not in page
    assert 'name="selected"' not in client.get(list_url(questionnaire)).content.decode()
    assert decide(client, questionnaire, assignment, action="approve").status_code == 403
    assert bulk(client, questionnaire, assignment, action="approve").status_code == 403


def test_decisions_need_the_token_of_the_form(questionnaire):
    assistant = client_of("Assistant")
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = assistant.cookies
    assignment = submitted(questionnaire)
    assert decide(strict, questionnaire, assignment, action="approve").status_code == 403
    assert Decision.objects.count() == 0
