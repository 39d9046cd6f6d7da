"""The bonus form: what it will cost is shown before it is paid."""

import re
import uuid
from decimal import Decimal

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from annotators.models import Assignment, Call, Channel
from surveys.models import AuditEntry, Batch, Questionnaire
from tests.factories import make_assignment, make_published
from tests.people import client_of
from tests.surveys.pages.pages import detail_url, enqueued, text_of

pytestmark = pytest.mark.django_db
GIVEN = {"nonce": str(uuid.UUID(int=7)), "amount": "2.50", "reason": "Careful work."}
CONFIRMED = {**GIVEN, "confirmed": "1"}


@pytest.fixture
def questionnaire() -> Questionnaire:
    return make_published()


@pytest.fixture
def done(questionnaire) -> Assignment:
    return make_assignment(questionnaire.hit, status="Approved")


@pytest.fixture
def reviewer() -> Client:
    return client_of("Researcher")


def send(client: Client, assignment: Assignment, data: dict[str, str]):
    return client.post(detail_url(assignment.hit.questionnaire, assignment, "give_bonus"), data)


def page(client: Client, assignment: Assignment):
    return client.get(detail_url(assignment.hit.questionnaire, assignment))


def test_every_form_has_a_nonce_of_its_own(reviewer, done):
    nonces = [
        re.findall(r'name="nonce" value="([0-9a-f-]{36})"', page(reviewer, done).content.decode())
        for _ in range(2)
    ]
    assert [len(found) for found in nonces] == [1, 1]
    assert nonces[0] != nonces[1]


def test_it_is_asked_with_the_fee_before_anything_is_paid(reviewer, done):
    response = send(reviewer, done, GIVEN)
    assert (response.status_code, Call.objects.count()) == (200, 0)
    assert "With the fee of this server’s marketplace, as MTurk’s was $3.00" in text_of(response)
    assert "Pay $3.00" in text_of(response)
    assert f'name="nonce" value="{GIVEN["nonce"]}"' in response.content.decode()


def test_it_can_be_changed_before(reviewer, done):
    response = send(reviewer, done, {**GIVEN, "change": "1"})
    html = response.content.decode()
    assert (response.status_code, Call.objects.count()) == (200, 0)
    assert ('value="2.50"' in html, "Careful work.</textarea>" in html) == (True, True)


def test_confirmed_it_is_written_down_and_sent(reviewer, done, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks() as callbacks:
        response = send(reviewer, done, CONFIRMED)
    call = Call.objects.get()
    assert (call.state, call.arguments) == ("planned", {"amount": "2.50", "reason": "Careful work."})
    assert enqueued(callbacks) == [("surveys.sync.settle_call", (call.pk,))]
    assert response.headers["Location"] == detail_url(done.hit.questionnaire, done)


def test_sent_twice_it_is_one_bonus(reviewer, done):
    send(reviewer, done, CONFIRMED)
    send(reviewer, done, CONFIRMED)
    assert (Call.objects.count(), AuditEntry.objects.count()) == (1, 1)


def test_the_page_lists_what_was_given_and_what_became_of_it(reviewer, done):
    send(reviewer, done, CONFIRMED)
    Call.objects.update(state="unknown", error="<Read timed out>")
    shown = text_of(page(reviewer, done))
    assert "No answer came; the marketplace is asked whether it was paid. &lt;Read timed out&gt;" in shown
    assert re.search(r"\$2\.50 \(\$3\.00 with the fee, .*\) .* Careful work\.", shown)


@pytest.mark.parametrize(
    "changes",
    [
        {"amount": "0"},
        {"amount": "-1"},
        {"amount": "0.005"},
        {"amount": "NaN"},
        {"amount": "1e9"},
        {"amount": "2,50"},
        {"amount": ""},
        {"reason": "  "},
        {"reason": "x" * 1025},
        {"reason": "a\x00b"},
        {"nonce": ""},
        {"nonce": "7"},
    ],
)
def test_what_makes_no_sense_is_said_and_nothing_is_paid(reviewer, done, changes):
    response = send(reviewer, done, {**CONFIRMED, **changes})
    assert (response.status_code, Call.objects.count()) == (422, 0)
    assert 'class="bad"' in response.content.decode()


def test_over_the_budget_is_said(reviewer, done):
    Batch.objects.update(budget=Decimal("0.01"))
    response = reviewer.post(detail_url(done.hit.questionnaire, done, "give_bonus"), CONFIRMED, follow=True)
    assert "It could cost $3.00, but" in text_of(response)
    assert Call.objects.count() == 0


def test_over_the_budget_is_said_before_it_is_confirmed(reviewer, done):
    Batch.objects.update(budget=Decimal("0.01"))
    response = send(reviewer, done, GIVEN)
    assert response.status_code == 422
    assert "It could cost $3.00, but" in text_of(response)
    assert "Pay $3.00" not in text_of(response)


def test_who_came_by_link_has_no_marketplace_that_could_pay(reviewer, questionnaire):
    linked = make_assignment(questionnaire.hit, status="Approved", channel=Channel.LINK)
    shown = page(reviewer, linked)
    assert "there is no marketplace that could pay a bonus" in text_of(shown)
    assert 'name="nonce"' not in shown.content.decode()
    send(reviewer, linked, CONFIRMED)
    assert Call.objects.count() == 0


def test_who_may_not_decide_sees_no_form_and_cannot_pay(done):
    reader = client_of()
    seeing = Permission.objects.filter(codename__in=["view_batch", "view_assignment"])
    User.objects.get().user_permissions.set(seeing)
    assert 'name="nonce"' not in page(reader, done).content.decode()
    assert (send(reader, done, CONFIRMED).status_code, Call.objects.count()) == (403, 0)


def test_an_assignment_of_another_batch_is_not_found(reviewer, done):
    other = make_published()
    address = detail_url(other, done, "give_bonus")
    assert (reviewer.post(address, CONFIRMED).status_code, Call.objects.count()) == (404, 0)
    assert reviewer.get(detail_url(done.hit.questionnaire, done, "give_bonus")).status_code == 405
