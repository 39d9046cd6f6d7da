"""Appeals as researchers see them."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from surveys.models import Appeal, Decision, Inclusion
from surveys.review import decisions, errors
from tests.appeals import appealed, rejected, replaced
from tests.factories import submitted
from tests.people import client_of
from tests.surveys.pages.pages import decide, detail_url, queries_of, text_of

pytestmark = pytest.mark.django_db
OPEN = "/appeals/open/"


def answer(client: Client, appeal: Appeal, **data: str):
    return client.post(
        f"/appeals/{appeal.pk}/answer", {"outcome": "upheld", "answer": "Two of five.", **data}
    )


def shown(client: Client) -> list[Appeal]:
    return list(client.get(OPEN).context["page"])


def test_open_appeals_are_listed_the_oldest_first(assistant, questionnaire):
    new, old = appealed(questionnaire), appealed(questionnaire, hours_ago=30)
    rejected(questionnaire)
    assert shown(assistant) == [old, new]
    assert assistant.get(OPEN).content.decode().count('class="urgent"') == 1


def test_the_list_leads_to_the_assignment(assistant, questionnaire):
    appeal = appealed(questionnaire, text="I <i>looked</i>.")
    html = assistant.get(OPEN).content.decode()
    assert f'href="{detail_url(questionnaire, appeal.assignment)}#appeal"' in html
    assert "I &lt;i&gt;looked&lt;/i&gt;." in html


def test_the_list_opens_in_constant_queries(assistant, questionnaire):
    appealed(questionnaire)
    n = queries_of(assistant, OPEN)
    appealed(questionnaire)
    appealed(questionnaire)
    assert queries_of(assistant, OPEN) == n


def test_the_start_page_counts_them(assistant, questionnaire):
    assert "wait for an answer" not in text_of(assistant.get("/admin/"))
    appealed(questionnaire)
    assert "1 appeal waits for an answer" in text_of(assistant.get("/admin/"))


def test_the_batchs_page_counts_its_own(assistant, questionnaire):
    appealed(questionnaire)
    assert "1 appeal waits for an answer" in text_of(assistant.get(questionnaire.batch.get_absolute_url()))


def test_an_answer_is_recorded_and_the_appeal_closed(assistant, questionnaire):
    appeal = appealed(questionnaire)
    response = answer(assistant, appeal)
    assert (response.status_code, response.headers["Location"]) == (
        302,
        detail_url(questionnaire, appeal.assignment),
    )
    appeal.refresh_from_db()
    assert (appeal.outcome, appeal.answer, appeal.answered_by.username) == (
        "upheld",
        "Two of five.",
        "assistant",
    )
    assert shown(assistant) == []


def test_overturning_takes_the_rejection_back(assistant, questionnaire):
    appeal = appealed(questionnaire)
    answer(assistant, appeal, outcome="overturned", answer="Our mistake.")
    assert Decision.objects.get().overturn_reason == "Our mistake."


def test_the_appeal_is_the_one_place_to_overturn(assistant, questionnaire):
    appeal = appealed(questionnaire)
    page = assistant.get(detail_url(questionnaire, appeal.assignment)).content.decode()
    assert ("Overturn and pay" in page, 'value="overturn"' in page) == (True, False)
    answer(assistant, appeal)
    page = assistant.get(detail_url(questionnaire, appeal.assignment)).content.decode()
    assert ("Overturn and pay" in page, 'value="overturn"' in page) == (False, True)


def test_answers_are_used_too_where_that_is_ticked(assistant, questionnaire):
    appeal = appealed(questionnaire)
    address = detail_url(questionnaire, appeal.assignment)
    assert "Use its answers too" not in text_of(assistant.get(address))
    replaced(appeal.assignment)
    assert "Use its answers too" in text_of(assistant.get(address))
    assert "Use its answers too" in text_of(answer(assistant, appeal, answer=""))
    answer(assistant, appeal, outcome="overturned", use_answers="on")
    assert Inclusion.objects.count() == 0


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"answer": ""}, "Write an answer"),
        ({"answer": "x" * 1025}, "at most 1024 characters"),
        ({"answer": "a\x00b"}, "Some characters could not be kept"),
        ({"outcome": "nonsense"}, "not one of the available choices"),
    ],
)
def test_what_cannot_be_recorded_is_said_and_stays(assistant, questionnaire, data, said):
    appeal = appealed(questionnaire)
    response = answer(assistant, appeal, **data)
    assert response.status_code == 422
    assert said in text_of(response)
    assert data.get("answer", "Two of five.").replace("\x00", "") in response.content.decode().replace(
        "\x00", ""
    )
    appeal.refresh_from_db()
    assert appeal.answered_at is None


def test_too_late_to_overturn_is_said_before_and_after(assistant, questionnaire):
    appeal = appealed(questionnaire, days_ago=31)
    page = assistant.get(detail_url(questionnaire, appeal.assignment))
    assert "It can't be overturned any more" in text_of(page).replace("&#x27;", "'")
    assert 'value="overturned"' not in page.content.decode()
    response = answer(assistant, appeal, outcome="overturned")
    assert response.status_code == 409
    assert "within 30 days" in text_of(response)
    assert "Two of five." in text_of(response)


def test_a_second_answer_is_refused_and_not_lost(assistant, questionnaire):
    appeal = appealed(questionnaire)
    answer(assistant, appeal)
    response = answer(assistant, appeal, answer="On second thoughts.")
    assert response.status_code == 409
    assert "has answered this appeal already" in text_of(response)
    assert "On second thoughts." in text_of(response)


def test_the_assignments_page_shows_the_appeal_and_its_answer(assistant, questionnaire):
    appeal = appealed(questionnaire, text="I did look, twice.")
    page = text_of(assistant.get(detail_url(questionnaire, appeal.assignment)))
    assert "I did look, twice." in page
    assert "Overturn and pay" in page
    answer(assistant, appeal)
    page = text_of(assistant.get(detail_url(questionnaire, appeal.assignment)))
    assert "The rejection stays , answered by assistant" in page
    assert "Overturn and pay" not in page


def test_where_nobody_appealed_nothing_is_shown(assistant, questionnaire):
    appeal = rejected(questionnaire)
    page = assistant.get(detail_url(questionnaire, appeal.assignment)).content.decode()
    assert 'id="appeal"' not in page


def test_an_appeal_overturned_by_itself_asks_for_no_answer(assistant, questionnaire):
    appeal = appealed(questionnaire)
    Decision.objects.update(overturned_at=timezone.now() - timedelta(hours=1), overturn_reason="Sorry.")
    page = text_of(assistant.get(detail_url(questionnaire, appeal.assignment)))
    assert "The worker reads your reason on the page of their appeal." in page
    assert "The rejection stays" not in page


def test_a_rejection_leaves_room_for_the_way_to_appeal(assistant, questionnaire):
    assignment = submitted(questionnaire)
    response = decide(assistant, questionnaire, assignment, action="reject", reason="x" * 801)
    assert response.status_code == 422
    assert "A rejection has room for 800 characters" in text_of(response)
    with pytest.raises(errors.CannotDecide, match="800 characters"):
        decisions.reject(assignment, by=User.objects.get(), reason="x" * 801)
    assert decide(assistant, questionnaire, assignment, action="reject", reason="x" * 800).status_code == 302


@pytest.mark.parametrize("role", ["", "stranger"])
def test_only_reviewers_read_and_answer(questionnaire, role):
    appeal = appealed(questionnaire)
    client = Client() if role == "stranger" else client_of()
    expected = 302 if role == "stranger" else 403
    assert client.get(OPEN).status_code == expected
    assert answer(client, appeal).status_code == expected
    appeal.refresh_from_db()
    assert appeal.answered_at is None


def test_answers_are_posted_with_a_csrf_token(assistant, questionnaire):
    appeal = appealed(questionnaire)
    assistant.handler.enforce_csrf_checks = True
    assert answer(assistant, appeal).status_code == 403


def test_nobody_answers_what_was_never_asked(assistant, questionnaire):
    assert answer(assistant, rejected(questionnaire)).status_code == 404
