"""Reviewing: the list of assignments, and one of them."""

from datetime import timedelta

import pytest
from django.test import Client
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
from tests.surveys.views.pages import (
    decide,
    detail_url,
    list_url,
    queries_of,
    rejected,
    text_of,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def questionnaire() -> Questionnaire:
    return make_published()


@pytest.fixture
def reviewer() -> Client:
    return client_of("Assistant")


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
