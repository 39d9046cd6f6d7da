"""A batch's money on its page, raising its budget, and stopping it with what remains in flight."""

import random
from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from annotators.crowds.mturk.gateway import Unreachable
from annotators.models import HIT, Call
from surveys.models import AuditEntry, Batch, Decision, Questionnaire
from surveys.publishing import budget, questionnaires
from tests.factories import (
    make_assignment,
    make_draft,
    make_hit,
    make_published,
    make_questionnaire,
    make_survey,
)
from tests.people import client_of
from tests.surveys.api.asking import Asking, token_of
from tests.surveys.pages.pages import enqueued, text_of, url
from tests.surveys.publishing.test_money_adds_up import random_batch

pytestmark = pytest.mark.django_db
D = Decimal


def rejected(hit: HIT):
    found = make_assignment(hit, status="Rejected")
    Decision.objects.create(assignment=found, verdict="reject", reason="No.", decided_at=timezone.now())
    return found


def test_a_study_writes_the_money_of_each_batch_and_of_all(researcher):
    first = make_published()
    make_assignment(first.hit, status="Approved")
    second = make_published()
    Batch.objects.filter(pk=second.batch_id).update(survey=first.batch.survey)
    bonus(make_assignment(second.hit, status="Approved"), amount="0.12")
    text = text_of(researcher.get(f"/studies/{first.batch.survey.slug}/"))
    assert "$0.46 paid · $1.84 to come" in text
    assert "$0.46 paid · $0.12 in bonuses · $1.84 to come" in text
    assert "All batches: $0.92 paid · $0.12 in bonuses · $3.68 to come · $4.72 together" in text
    assert "$0.92 paid · $0.12 in bonuses · $3.68 to come" in text_of(researcher.get("/admin/"))


@pytest.mark.parametrize("seed", range(6))
def test_every_page_and_the_api_write_the_same_money_of_a_mixed_batch(seed):
    chance = random.Random(seed)
    batch, client = random_batch(chance), client_of("Researcher")
    money = budget.money(batch)
    parts = [f"${money.paid:,.2f} paid", *([f"${money.bonuses:,.2f} in bonuses"] if money.bonuses else [])]
    line = " · ".join([*parts, f"${money.to_come:,.2f} to come"])
    study = text_of(client.get(reverse("study", args=[batch.survey.slug])))
    assert (study.count(line), f"{line} · ${money.committed:,.2f} together" in study) == (2, True)
    assert line in text_of(client.get(reverse("admin:index")))
    page = text_of(client.get(url("batch", batch)))
    work = "paid for work" if batch.has_market else "accepted work"
    figures = [f"{work} ${money.paid:,.2f}", f"open or undecided ${money.to_come:,.2f}",
               f"together ${money.committed:,.2f}"]  # fmt: skip
    assert [one for one in figures if one not in page] == []
    assert ("is paid by you" in page) == (batch.takes_links or not batch.has_market)
    spent = Asking(token_of(User.objects.get())).get(f"/batches/{batch.pk}/progress").json()["money"]
    told = [Decimal(spent[name]["amount"]) for name in ("paid", "bonuses", "committed")]
    assert told == [money.paid, money.bonuses, money.committed]


def bonus(assignment, *, amount: str) -> None:
    Call.objects.create(
        token="bonus:1", operation="SendBonus", endpoint="embedded", assignment=assignment, amount=D(amount)
    )


def entries(batch: Batch) -> list[tuple]:
    found = AuditEntry.objects.filter(batch=batch).order_by("pk")
    return [(e.kind, e.outcome, e.actor and e.actor.get_username(), e.details) for e in found]


def test_page_shows_the_money_without_a_budget(researcher):
    questionnaire = make_published()
    make_assignment(questionnaire.hit, status="Approved")
    text = text_of(researcher.get(questionnaire.batch.get_absolute_url()))
    assert "$0.46 paid of the $2.30 it can come to cost as things stand; no budget is set" in text
    assert "fees (of this server’s marketplace, as MTurk’s was) included" in text
    assert (
        "paid for work $0.46 to come: planned, open or undecided $1.84 bonuses $0.00 together $2.30" in text
    )
    assert "Set a budget, in dollars" in text


def test_page_shows_what_is_left_of_a_budget(researcher):
    questionnaire = make_published(budget=D("3.00"))
    bonus(make_assignment(questionnaire.hit, status="Approved"), amount="0.12")
    text = text_of(researcher.get(questionnaire.batch.get_absolute_url()))
    assert "$2.42 committed of the budget of $3.00" in text
    assert "bonuses $0.12 together $2.42 left $0.58" in text
    assert "Raise the budget to, in dollars" in text


def test_progress_tells_the_money_too(researcher):
    questionnaire = make_published(budget=D("3.00"))
    counts = researcher.get(url("batch_progress", questionnaire.batch)).json()
    assert {key: value for key, value in counts.items() if key.startswith("money")} == {
        "money_committed": "$2.30",
        "money_paid": "$0.00",
        "money_to_come": "$2.30",
        "money_bonuses": "$0.00",
        "money_left": "$0.70",
        "money_cents": 230,
        "money_of_cents": 300,
    }


def test_held_back_replacement_is_said(researcher):
    questionnaire = make_published(budget=D("2.30"))
    bonus(rejected(questionnaire.hit), amount="0.24")
    text = text_of(researcher.get(questionnaire.batch.get_absolute_url()))
    assert (
        "1 replacement waits for money: one can cost $0.46, and $0.22 of the budget is left. "
        "Raise the budget and it goes on by itself." in text
    )


def test_nothing_is_left_of_a_budget_that_is_exceeded(researcher):
    batch = make_published(budget=D("1.00")).batch
    text = text_of(researcher.get(batch.get_absolute_url()))
    assert "left $0.00" in text
    assert "$1.30 more than the budget can still be asked for." in text
    assert researcher.get(url("batch_progress", batch)).json()["money_left"] == "$0.00"


def test_nothing_is_held_back_while_the_budget_covers_it(researcher):
    questionnaire = make_published(budget=D("2.30"))
    rejected(questionnaire.hit)
    assert "for money" not in text_of(researcher.get(questionnaire.batch.get_absolute_url()))


def test_raising_the_budget_lets_it_go_on(researcher, django_capture_on_commit_callbacks):
    batch = make_published(budget=D("2.30")).batch
    with django_capture_on_commit_callbacks() as callbacks:
        page = researcher.post(url("batch_budget", batch), {"budget": "5.5"}, follow=True)
    assert "The budget is $5.50 now." in text_of(page)
    assert Batch.objects.get().budget == D("5.50")
    assert enqueued(callbacks) == [("surveys.sync.sync_batch", (batch.pk,))]
    details = {"before": "2.30", "after": "5.50"}
    assert [(kind, outcome, found) for kind, outcome, _, found in entries(batch)] == [
        ("budget", "raise", details)
    ]
    assert AuditEntry.objects.get().actor is not None


@pytest.mark.parametrize(
    ("before", "asked", "sentence"),
    [
        ("3.00", "2.99", "The budget is $3.00; it can only be raised."),
        ("3.00", "3.00", "The budget is $3.00; it can only be raised."),
        (None, "2.29", "$2.30 are committed already; the budget can&#x27;t be less."),
        ("1.00", "2.29", "$2.30 are committed already; the budget can&#x27;t be less."),
        (None, "", "Say how many dollars."),
        (None, "lots", "A budget is an amount like 120.50."),
        (None, "-1", "A budget is at least one cent."),
        (None, "0", "A budget is at least one cent."),
        (None, "NaN", "A budget is an amount like 120.50."),
        (None, "3.001", "Ensure that there are no more than 2 decimal places."),
    ],
)
def test_what_cannot_be_the_budget(researcher, before, asked, sentence):
    batch = make_published(budget=before and D(before)).batch
    page = researcher.post(url("batch_budget", batch), {"budget": asked}, follow=True)
    assert sentence in text_of(page)
    assert Batch.objects.get().budget == (before and D(before))
    assert entries(batch) == []


def test_budget_of_a_draft_is_not_changed_here(researcher):
    draft = make_draft(make_survey(n_items=5))
    researcher.post(url("batch_budget", draft), {"budget": "9"})
    assert Batch.objects.get().budget is None


def test_budget_takes_the_permission_to_publish(assistant):
    batch = make_published().batch
    assert assistant.post(url("batch_budget", batch), {"budget": "9"}).status_code == 403
    assert "Set a budget" not in text_of(assistant.get(batch.get_absolute_url()))


def test_budget_is_changed_by_post_only(researcher):
    assert researcher.get(url("batch_budget", make_published().batch)).status_code == 405


def test_draft_proposes_a_budget(researcher):
    text = text_of(researcher.get(make_draft(make_survey(n_items=5)).get_absolute_url()))
    assert "none set: no limit. $2.53 would cover it and the replacements to expect" in text


def test_draft_beyond_its_budget_is_not_published(researcher, balance):
    draft = make_draft(make_survey(n_items=5), budget=D("2.29"))
    assert "Publishing it costs $2.30, but its budget is $2.29." in text_of(
        researcher.post(url("batch_publish", draft), follow=True)
    )
    assert Batch.objects.get().status == "draft"


def test_account_with_too_little_stands_in_the_way(researcher, balance):
    balance["dollars"] = D("2.29")
    draft = make_draft(make_survey(n_items=5))
    page = text_of(researcher.post(url("batch_publish", draft), follow=True))
    assert "The account holds $2.29; this batch may need $2.30." in page
    assert Batch.objects.get().status == "draft"


def test_unreachable_account_is_said_where_no_money_is_real(researcher, balance):
    balance["dollars"] = Unreachable("No answer.")
    draft = make_draft(make_survey(n_items=5))
    page = text_of(researcher.post(url("batch_publish", draft), follow=True))
    assert "The marketplace did not say what the account holds: No answer." in page
    assert Batch.objects.get().status == "publishing"


def test_unreachable_account_stops_publishing_where_money_is_real(researcher, balance, settings):
    settings.APP_URL = "https://assent.example"
    balance["dollars"] = Unreachable("No answer.")
    survey = make_survey(n_items=5)
    draft = make_draft(survey, endpoint="production")
    survey.items.all()
    page = text_of(researcher.post(url("batch_publish", draft), {"confirmation": draft.name}, follow=True))
    assert "The marketplace did not say what the account holds: No answer. Nothing was published." in page
    assert Batch.objects.get().status == "draft"


def test_publishing_is_recorded(researcher, balance):
    draft = make_draft(make_survey(n_items=5), budget=D("4.00"))
    for _ in range(2):
        researcher.post(url("batch_publish", draft))
        questionnaires.write(draft)
    [(kind, outcome, actor, details)] = entries(draft)
    design = details.pop("design")
    assert (kind, outcome, details) == ("publishing", "publish", {"total": "2.30", "budget": "4.00"})
    assert design.startswith(
        "Items were assigned to one HIT at random (seed 7). No HIT shows a subject twice."
    )
    assert actor is not None


def in_flight_study(**values):
    questionnaire = make_published(**values)
    make_assignment(questionnaire.hit)
    make_assignment(questionnaire.hit, status="Submitted")
    make_assignment(questionnaire.hit, status="Approved")
    return questionnaire


def test_stop_page_says_what_remains_in_flight(researcher):
    text = text_of(researcher.get(url("batch_stop", in_flight_study().batch)))
    assert "All its HITs expire now (1): nobody new can accept one" in text
    assert "1 at work: accepted and opened, not handed in." in text
    assert "Up to 2 more may have been accepted without being opened" in text
    assert "1 handed in and not decided" in text
    assert "$1.84 for work that may still come in or is undecided, and at most $2.30" in text


def test_stopping_is_recorded_once_and_asked_for_again_each_time(
    researcher, django_capture_on_commit_callbacks
):
    batch = in_flight_study().batch
    with django_capture_on_commit_callbacks() as callbacks:
        first = researcher.post(url("batch_stop", batch), follow=True)
        second = researcher.post(url("batch_stop", batch), follow=True)
    assert "The batch is stopped." in text_of(first)
    assert "This batch is not running." in text_of(second)
    assert [(kind, outcome) for kind, outcome, _, _ in entries(batch)] == [("publishing", "stop")]
    assert enqueued(callbacks) == [("surveys.sync.expire_batch", (batch.pk,))] * 2


def test_stopped_batch_says_how_far_expiring_is(researcher):
    questionnaire = in_flight_study(status="stopped")
    make_questionnaire(questionnaire.batch, items=[], hit=make_hit(expires_at=timezone.now()))
    page = researcher.get(questionnaire.batch.get_absolute_url())
    text = text_of(page)
    assert "1 of 2 HITs expired" in text
    assert "The rest is expired as soon as the marketplace answers; nothing is to be done here." in text
    assert "progress.js" in page.content.decode()
    counts = researcher.get(url("batch_progress", questionnaire.batch)).json()
    assert (counts["n_expired"], counts["n_hits"]) == (1, 2)


def test_stopped_batch_says_why_a_hit_does_not_expire(researcher):
    questionnaire = in_flight_study(status="stopped")
    Call.objects.create(
        token="expire:1",
        operation="UpdateExpirationForHIT",
        endpoint="embedded",
        hit=questionnaire.hit,
        state="unknown",
        sent_at=timezone.now(),
        error="Rate exceeded.",
    )
    text = text_of(researcher.get(questionnaire.batch.get_absolute_url()))
    assert "The marketplace does not do it at the moment: Rate exceeded." in text
    assert "1 call to the marketplace whose outcome is not known yet" in text


def test_nothing_more_can_come_in_after_the_last_deadline(researcher):
    questionnaire = in_flight_study(status="stopped")
    now = timezone.now()
    HIT.objects.update(expires_at=now - timedelta(hours=2), synced_at=now)
    text = text_of(researcher.get(questionnaire.batch.get_absolute_url()))
    assert "1 of 1 HITs expired" in text
    assert "more may have been accepted" not in text
    assert "nothing is to be done here" not in text


def test_hit_table_names_the_maximum(researcher):
    text = text_of(researcher.get(make_published().batch.get_absolute_url()))
    assert "Rejected At most" in text
    assert "Room for" not in text


def test_viewer_sees_no_budget_form():
    batch = make_published().batch
    page = client_of("Assistant").get(batch.get_absolute_url())
    assert 'name="budget"' not in page.content.decode()


def test_surplus_work_is_marked_in_the_list_and_counted(researcher):
    questionnaire = make_published()
    Questionnaire.objects.update(target_assignments=1)
    now = timezone.now()
    for minutes in (3, 1):
        submitted_at = now - timedelta(minutes=minutes)
        make_assignment(questionnaire.hit, status="Approved", submitted_at=submitted_at)
    page = text_of(researcher.get(questionnaire.batch.get_absolute_url()))
    assert "surplus: came when its place was filled, and is paid 1" in page
    listed = text_of(researcher.get(url("assignments", questionnaire.batch)))
    assert listed.count("surplus") == 1
    assert researcher.get(url("batch_progress", questionnaire.batch)).json()["n_surplus"] == 1
