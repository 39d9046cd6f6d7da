"""The three decisions on the page of an assignment, and what is proposed in the list."""

from decimal import Decimal

import pytest
from django.contrib.auth.models import Permission
from django.db.models import Q
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment, Call
from surveys.models import AuditEntry, Batch, Decision, Inclusion, Questionnaire, Replacement
from surveys.review import analysis_use, decisions
from tests.factories import make_assignment, make_published, submitted
from tests.surveys.pages.pages import (
    REASON,
    decide,
    detail_url,
    enqueued,
    list_url,
    queries_of,
    refuse_overturn,
    rejected,
    text_of,
    verdict_of,
)

pytestmark = pytest.mark.django_db
NONE_RIGHT = REASON.replace("2 of 5", "0 of 5")


@pytest.fixture
def wary() -> Questionnaire:
    """Its rule proposes, a person decides."""
    return make_published(rejects_automatically=False)


def use(client: Client, questionnaire: Questionnaire, assignment: Assignment, **data: str):
    return client.post(detail_url(questionnaire, assignment, "use"), data)


def page_of(client: Client, questionnaire: Questionnaire, assignment: Assignment) -> str:
    return text_of(client.get(detail_url(questionnaire, assignment)))


def proposed(questionnaire: Questionnaire, *, n_correct: int = 2) -> Assignment:
    assignment = submitted(questionnaire, n_correct=n_correct)
    decisions.record_decision(assignment, batch=questionnaire.batch)
    return assignment


def approved(questionnaire: Questionnaire) -> Assignment:
    assignment = submitted(questionnaire)
    decisions.record_decision(assignment, batch=questionnaire.batch)
    Assignment.objects.filter(pk=assignment.pk).update(status="Approved", approved_at=timezone.now())
    return assignment


def replaced(assignment: Assignment, questionnaire: Questionnaire) -> Assignment:
    Replacement.objects.create(
        replaces=assignment, questionnaire=questionnaire, opened_by="extend", opened_at=timezone.now()
    )
    return assignment


def test_the_three_decisions_stand_apart(assistant, published):
    shown = page_of(assistant, published, approved(published))
    assert "Payment Approve , by the batch's rule. 5 of 5 right." in shown
    assert "Use in the analysis Used." in shown
    assert "Worker's standing May work." in shown


def test_answers_are_left_out_and_collected_once_more(
    assistant, published, django_capture_on_commit_callbacks
):
    assignment = approved(published)
    assert "Collect them once more" in page_of(assistant, published, assignment)
    with django_capture_on_commit_callbacks() as callbacks:
        use(assistant, published, assignment, action="exclude", reason="Only letters.", replace="on")
    inclusion = Inclusion.objects.get()
    assert (inclusion.is_included, inclusion.is_replaced, inclusion.reason) == (False, True, "Only letters.")
    assert inclusion.decided_by.username == "assistant"
    assert enqueued(callbacks) == [("surveys.sync.sync_hit", (assignment.hit_id,))]
    shown = page_of(assistant, published, assignment)
    assert "Left out, and collected once more. Only letters. Decided by assistant" in shown
    assert "Use in the analysis: left out" in shown


def test_left_out_without_another_and_used_again(assistant, published):
    assignment = approved(published)
    use(assistant, published, assignment, action="exclude", reason="Only letters.")
    assert Inclusion.objects.get().is_replaced is False
    use(assistant, published, assignment, action="include", reason="They meant it.")
    shown = page_of(assistant, published, assignment)
    assert "Use in the analysis Used. They meant it. Decided by assistant" in shown
    assert [e.outcome for e in AuditEntry.objects.filter(kind="inclusion")] == ["include", "exclude"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"action": "exclude", "reason": "  "}, "Give a reason: it stays in the record of the study."),
        ({"action": "include"}, "Give a reason: it stays in the record of the study."),
        ({"action": "exclude", "reason": "x" * 1025}, "at most 1024 characters"),
        ({"action": "burn", "reason": "So."}, "burn is not one of the available choices"),
    ],
)
def test_what_makes_no_sense_is_said_and_changes_nothing(assistant, published, data, message):
    response = use(assistant, published, approved(published), **data)
    assert response.status_code == 422
    assert message in text_of(response)
    assert Inclusion.objects.count() == 0


def test_what_was_typed_is_still_there(assistant, published):
    assignment = approved(published)
    once_more = 'name="replace" checked>'
    assert once_more in assistant.get(detail_url(published, assignment)).content.decode()
    page = use(assistant, published, assignment, action="exclude", reason="y" * 1025).content.decode()
    assert f">{'y' * 1025}</textarea>" in page
    assert 'name="replace">' in page
    given = {"action": "exclude", "reason": " ", "replace": "on"}
    assert once_more in use(assistant, published, assignment, **given).content.decode()


def test_rejected_work_is_not_used_and_the_page_says_so(assistant, published):
    assignment = rejected(published)
    assert "Use in the analysis Not used: it is rejected." in page_of(assistant, published, assignment)
    response = assistant.post(
        detail_url(published, assignment, "use"), {"action": "include", "reason": "Why not."}, follow=True
    )
    assert "Rejected work is not used. Overturn the rejection first." in text_of(response)


def test_what_is_not_handed_in_has_nothing_to_decide(assistant, published):
    assignment = make_assignment(published.hit)
    page = assistant.get(detail_url(published, assignment))
    assert "Not used: it is not handed in." in text_of(page)
    assert b'name="action"' not in page.content


def test_where_nothing_is_collected_any_more_that_is_not_offered(assistant):
    stopped = make_published(status="stopped")
    assert "Collect them once more" not in page_of(assistant, stopped, approved(stopped))


def test_and_is_not_promised(assistant, person):
    stopped = make_published()
    assignment = approved(stopped)
    analysis_use.exclude(assignment, by=person, reason="So.", replace=True)
    stopped.batch.status = "stopped"
    stopped.batch.save()
    assert "Use in the analysis Left out. So." in page_of(assistant, stopped, assignment)


def test_an_overturned_rejection_whose_place_is_taken(assistant, published):
    assignment = replaced(rejected(published), published)
    shown = page_of(assistant, published, assignment)
    assert "Its place has been given again" in shown
    assert "Use its answers too" in shown
    decide(assistant, published, assignment, action="overturn", reason="We were wrong.")
    assert Inclusion.objects.get().is_included is False


def test_and_its_answers_used_too(assistant, published):
    assignment = replaced(rejected(published), published)
    decide(assistant, published, assignment, action="overturn", reason="Sorry.", use_answers="on")
    assert (Inclusion.objects.count(), Decision.objects.get().overturn_reason) == (0, "Sorry.")


def test_what_was_typed_stays_where_the_budget_has_no_room(assistant, published):
    assignment = replaced(rejected(published), published)
    Batch.objects.update(budget=Decimal("0.01"))
    ticked = 'name="use_answers" checked>'
    assert ticked not in assistant.get(detail_url(published, assignment)).content.decode()
    given = {"action": "overturn", "reason": "We were wrong.", "use_answers": "on"}
    response = decide(assistant, published, assignment, **given)
    assert response.status_code == 422
    assert "It could cost $" in text_of(response)
    assert ">We were wrong.</textarea>" in response.content.decode()
    assert ticked in response.content.decode()
    assert Decision.objects.get().overturned_at is None


def test_a_refused_overturn_is_said_and_asked_for_again(assistant, published):
    assignment = rejected(published)
    decide(assistant, published, assignment, action="overturn", reason="We were wrong.")
    assert "Ask the marketplace again" not in page_of(assistant, published, assignment)
    refuse_overturn(assignment)
    page = page_of(assistant, published, assignment)
    assert "Not paid: the marketplace refused to take the rejection back. No money." in page
    assert "Ask the marketplace again" in page
    decide(assistant, published, assignment, action="overturn", reason="Once more.")
    assert (Call.objects.get().state, Decision.objects.get().overturn_reason) == ("planned", "Once more.")
    assert "Not paid:" not in page_of(assistant, published, assignment)


def test_an_overturned_rejection_nobody_replaced(assistant, published):
    shown = page_of(assistant, published, rejected(published))
    assert "Its place has not been given again, so the answers are used." in shown
    assert "Use its answers too" not in shown


def test_a_proposed_rejection_is_filled_in_and_confirmed(assistant, wary):
    assignment = proposed(wary)
    page = assistant.get(detail_url(wary, assignment))
    assert "Rejection proposed , by the batch's rule. 2 of 5 right." in text_of(page)
    assert f">{REASON}</textarea>" in page.content.decode()
    assert "Confirm the rejection" in text_of(page)
    decide(assistant, wary, assignment, action="reject", reason=REASON)
    assert verdict_of(assignment) == ("reject", REASON, "assistant")


def test_proposed_rejections_are_found_and_confirmed_together(assistant, wary):
    none, two, good = (proposed(wary, n_correct=n) for n in (0, 2, 5))
    assert "2 rejections proposed" in text_of(assistant.get(list_url(wary)))
    listed = assistant.get(list_url(wary, "?status=Submitted&verdict=propose")).context["page"]
    assert set(listed) == {none, two}
    Decision.objects.filter(assignment=two).update(reason="Your own sentence.")
    data = {"selected": [none.pk, two.pk], "action": "reject", "reason": "", "confirm": "yes"}
    assistant.post(reverse("decide_many", args=[wary.batch_id]), data)
    assert verdict_of(none) == ("reject", NONE_RIGHT, "assistant")
    assert verdict_of(two) == ("reject", "Your own sentence.", "assistant")
    assert verdict_of(good) == ("approve", "", None)
    assert "rejections proposed" not in text_of(assistant.get(list_url(wary)))


def test_the_list_shows_what_the_rules_noticed_and_what_is_left_out(assistant, wary, person):
    assignment = proposed(wary)
    analysis_use.exclude(assignment, by=person, reason="So.", replace=False)
    used = approved(wary)
    shown = text_of(assistant.get(list_url(wary)))
    assert "Submitted left out" in shown
    assert "Rejection proposed Too few right answers" in shown
    for query, expected in (("?use=left_out", [assignment]), ("?use=used", [used])):
        assert list(assistant.get(list_url(wary, query)).context["page"]) == expected


def test_what_the_marketplace_approved_by_itself_is_shown_as_that(assistant, published):
    assignment = submitted(published, n_correct=0)
    Assignment.objects.filter(pk=assignment.pk).update(status="Approved", approved_at=timezone.now())
    assignment.refresh_from_db()
    decisions.record_decision(assignment, batch=published.batch)
    shown = page_of(assistant, published, assignment)
    assert "Payment Approved by the marketplace . 0 of 5 right." in shown
    assert "Left out, and collected once more. The marketplace approved it before we decided." in shown
    assert "by the marketplace" in text_of(assistant.get(list_url(published)))


def test_queries_do_not_grow_with_what_is_left_out(assistant, published, person, django_assert_num_queries):
    first = approved(published)
    n = queries_of(assistant, list_url(published))
    analysis_use.exclude(first, by=person, reason="So.", replace=False)
    for _ in range(3):
        approved(published)
    with django_assert_num_queries(n):
        assistant.get(list_url(published))


def test_who_may_only_look_changes_nothing(published, django_user_model):
    looker = django_user_model.objects.create_user("looker", is_staff=True)
    seen = Q(codename="view_batch") | Q(codename="view_assignment", content_type__app_label="annotators")
    looker.user_permissions.set(Permission.objects.filter(seen))
    client = Client()
    client.force_login(looker)
    assignment = approved(published)
    assert use(client, published, assignment, action="exclude", reason="So.").status_code == 403
    assert b'name="action"' not in client.get(detail_url(published, assignment)).content
    assert use(Client(), published, assignment, action="exclude", reason="So.").status_code == 302
    assert client.get(detail_url(published, assignment, "use")).status_code == 405
    assert Inclusion.objects.count() == 0


def test_use_needs_the_token_of_the_form_and_an_assignment_of_this_batch(assistant, published):
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = assistant.cookies
    assignment = approved(published)
    assert use(strict, published, assignment, action="exclude", reason="So.").status_code == 403
    elsewhere = approved(make_published())
    assert use(assistant, published, elsewhere, action="exclude", reason="So.").status_code == 404
    assert Inclusion.objects.count() == 0
