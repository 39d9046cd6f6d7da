"""Reviewing: the list of assignments, and one of them."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotators.models import Assignment, Call
from surveys.models import Decision, Questionnaire
from surveys.review import analysis_use, decisions
from tests.factories import (
    answer,
    make_assignment,
    make_hit,
    make_published,
    make_questionnaire,
    open_for,
    submitted,
)
from tests.policy_data import NEVER
from tests.surveys.pages.pages import REASON, decide, detail_url, list_url, queries_of, rejected, text_of

pytestmark = pytest.mark.django_db


def shown(client: Client, published: Questionnaire, query: str = "") -> list[Assignment]:
    return list(client.get(list_url(published, query)).context["page"])


def test_the_list_shows_the_most_urgent_first(assistant, published):
    now = timezone.now()
    approved = make_assignment(published.hit, status="Approved")
    late, soon = (
        make_assignment(published.hit, status="Submitted", auto_approval_at=now + timedelta(hours=h))
        for h in (9, 1)
    )
    assert shown(assistant, published) == [soon, late, approved]


def test_what_is_never_approved_by_itself_comes_after_what_is(assistant, published):
    by_link = make_assignment(published.hit, status="Submitted", auto_approval_at=None)
    soon = make_assignment(
        published.hit, status="Submitted", auto_approval_at=timezone.now() + timedelta(hours=1)
    )
    assert shown(assistant, published) == [soon, by_link]


def test_many_are_decided_only_where_one_can_be_selected(assistant, published):
    rejected(published)
    assert "The selected ones" not in text_of(assistant.get(list_url(published)))
    make_assignment(published.hit, status="Submitted")
    make_assignment(published.hit, status="Approved")
    assert "Approve Reject Hold Leave out of the analysis" in text_of(assistant.get(list_url(published)))
    assert "The selected ones" not in text_of(assistant.get(list_url(published, "?status=Rejected")))


def test_what_is_paid_can_only_be_left_out(assistant, published, person):
    used, left_out = (make_assignment(published.hit, status="Approved") for _ in range(2))
    analysis_use.exclude(left_out, by=person, reason="So.", replace=False)
    page = assistant.get(list_url(published))
    assert [one.pk for one in page.context["page"] if one.can_select] == [used.pk]
    assert "The selected ones Leave out of the analysis" in text_of(page)


def test_the_list_counts_right_answers(assistant, published):
    submitted(published, n_correct=2)
    row = shown(assistant, published)[0]
    assert (row.n_right, row.n_graded) == (2, 5)


def test_the_list_can_be_filtered(assistant, published):
    flagged = submitted(published, worker="AONE")
    Decision.objects.create(assignment=flagged, verdict="flag", decided_at=timezone.now())
    other = make_questionnaire(published.batch, items=list(published.items.all()), hit=make_hit())
    done = make_assignment(other.hit, status="Approved")
    assert shown(assistant, published, "?status=Submitted") == [flagged]
    assert shown(assistant, published, "?verdict=flag") == [flagged]
    assert shown(assistant, published, "?verdict=undecided") == [done]
    assert shown(assistant, published, "?worker=aone") == [flagged]
    assert shown(assistant, published, f"?hit={other.hit.hit_id}") == [done]
    assert shown(assistant, published, "?status=Nonsense") == [flagged, done]


def test_the_list_has_only_this_batch(assistant, published):
    submitted(make_published())
    assert shown(assistant, published) == []


def test_queries_do_not_grow_with_the_list(assistant, published, django_assert_num_queries):
    submitted(published)
    n = queries_of(assistant, list_url(published))
    for _ in range(4):
        assignment = submitted(published)
        decisions.record_decision(assignment, batch=published.batch)
    with django_assert_num_queries(n):
        assistant.get(list_url(published))


def test_queries_do_not_grow_with_the_items(assistant, django_assert_num_queries):
    small, large = (make_published(n_items=n, review_policy=NEVER) for n in (2, 6))
    n = queries_of(assistant, detail_url(small, submitted(small)))
    address = detail_url(large, submitted(large))
    with django_assert_num_queries(n):
        assistant.get(address)


def test_one_assignment_shows_answers_beside_gold(assistant, published):
    assignment = submitted(published, n_correct=4)
    response = assistant.get(detail_url(published, assignment))
    items = response.context["items"]
    assert [(item.answer, item.gold, item.is_correct) for item in items] == [
        *[("Yes", "Yes", True)] * 4,
        ("No", "Yes", False),
    ]
    assert "✗ Wrong: No (right: Yes)" in text_of(response)


def test_outputs_stand_in_the_order_they_were_shown(assistant, published):
    assignment = submitted(published)
    for item, kept in zip(
        assistant.get(detail_url(published, assignment)).context["items"],
        assignment.responses.select_related("item"),
        strict=True,
    ):
        systems = {output.pk: output.system for output in kept.item.outputs.all()}
        first, second = item.outputs
        assert [first.system, second.system] == [systems[pk] for pk in kept.shown["outputs"]]
        assert first.judgements == (
            ("Does the explanation justify the answer given above?", "Weak no"),
            ("What is wrong with it?", "Incorrect description of the image, Insufficient justification"),
        )
        assert second.judgements[1] == ("What is wrong with it?", "None ticked")
        assert (first.is_preferred, second.is_preferred) == (False, True)
        assert item.preference == f"Explanation 2 ({second.system})"


def test_what_workers_type_is_escaped(assistant, published):
    assignment = open_for(published)
    answer(assignment, comment="<script>alert(1)</script>\nBye")
    page = assistant.get(detail_url(published, assignment)).content.decode()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;<br>Bye" in page


def test_the_history_tells_facts_decisions_and_calls(assistant, published):
    assignment = rejected(published)
    Call.objects.create(
        token="reject:1", operation="RejectAssignment", endpoint="embedded", assignment=assignment,
        state="done", sent_at=timezone.now(), finished_at=timezone.now(),
    )  # fmt: skip
    events = assistant.get(detail_url(published, assignment)).context["timeline"]
    assert sorted((event.what, event.source) for event in events) == [
        ("Answers complete and saved", "our page"),
        ("Begun", "marketplace"),
        ("Call Reject: Done", "outbox"),
        ("First opened", "our page"),
        ("Payment: rejected", "the batch's rule"),
        ("Rejected", "marketplace"),
        ("Submitted", "marketplace"),
    ]
    assert [event.at for event in events] == sorted(event.at for event in events)


def test_the_reason_is_told_once(assistant, published):
    assignment = submitted(published, n_correct=2)
    Assignment.objects.filter(pk=assignment.pk).update(status="Approved", approved_at=timezone.now())
    assignment.refresh_from_db()
    decisions.record_decision(assignment, batch=published.batch)
    page = text_of(assistant.get(detail_url(published, assignment)))
    payment = page[page.index("Payment") : page.index("Use in the analysis")]
    assert payment.count(REASON) == 1
    assert "Too few right answers" in payment


def test_another_batchs_assignment_is_404(assistant, published):
    elsewhere = submitted(make_published())
    assert assistant.get(detail_url(published, elsewhere)).status_code == 404
    assert decide(assistant, published, elsewhere, action="approve").status_code == 404
    assert Decision.objects.count() == 0


def test_two_assignments_of_one_person_are_told_apart_when_they_are_selected(assistant, published):
    first = submitted(published, worker="AANN")
    other = make_questionnaire(published.batch, items=list(published.items.all()), hit=make_hit(), position=7)
    make_assignment(other.hit, worker=first.worker, status="Submitted")
    page = assistant.get(list_url(published)).content.decode()
    named = [f'aria-label="Select HIT #{n} of AANN"' in page for n in (published.position, 7)]
    assert named == [True, True]
