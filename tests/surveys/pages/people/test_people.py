"""The page of people: who may see and change what, codes shown once, links taken back, a panel set up."""

import csv
import io
import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotators.crowds.links import work
from annotators.models import Assignment, Worker
from surveys import sync
from surveys.answering.admissions import NotAdmitted, admit, admit_by_code, admit_panel
from surveys.answering.invitations import address
from surveys.models import AnnotationSlot, Batch, Invitation, Outcome, Panel
from tests.factories import make_batch as make_market_batch
from tests.factories import make_draft, make_survey
from tests.link_people import answered, from_prolific, invite_one, make_batch, make_panel, take, take_number
from tests.policy_data import NEVER
from tests.surveys.pages.pages import queries_of, text_of, url

pytestmark = pytest.mark.django_db
TOMORROW = (timezone.localtime() + timedelta(days=1)).strftime("%Y-%m-%d")


def token_of(invitation: Invitation) -> str:
    return address(invitation).rstrip("/").rsplit("/", 1)[1]


def post_people(client: Client, batch: Batch, people: str = "Ann,ann@example.org\nBob", **data: str):
    return client.post(url("invite_people", batch), {"people": people, "expires_at": TOMORROW, **data})


def link_url(name: str, invitation: Invitation) -> str:
    return reverse(name, args=[invitation.batch_id, invitation.pk])


def test_links_are_made_and_their_codes_shown_once(researcher):
    batch = make_batch()
    response = post_people(researcher, batch, max_assignments="2")
    codes = [i.access_code for i in response.context["invited"]]
    assert response.status_code == 200
    assert all(code in text_of(response) for code in codes)
    assert "no-store" in response["Cache-Control"]
    assert admit_by_code(batch.pk, name="Ann", access_code=codes[0]).limit == 2
    page = text_of(researcher.get(url("people", batch)))
    assert "Ann ann@example.org opened 0 of 2" in page
    assert not any(code in page for code in codes)


def test_who_made_and_took_back_a_link_is_written_down(researcher):
    batch = make_batch()
    post_people(researcher, batch, people="Ann")
    invitation = Invitation.objects.get()
    researcher.post(link_url("revoke_link", invitation))
    researcher.post(link_url("renew_link", invitation), {"expires_at": TOMORROW})
    log = LogEntry.objects.order_by("pk").values_list("user__username", "object_id", "change_message")
    pk = str(invitation.pk)
    assert list(log) == [
        ("researcher", pk, "Invited."),
        ("researcher", pk, "Link taken back."),
        ("researcher", pk, "Link renewed."),
    ]
    assert invitation.created_by.username == "researcher"


def test_links_are_made_and_downloaded_in_one_step(researcher):
    batch = make_batch(name="A study: 1")
    response = post_people(researcher, batch, people="=cmd(),\nBob", **{"as": "csv"})
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert response["Content-Disposition"] == 'attachment; filename="a-study-1-links.csv"'
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert [row["name"] for row in rows] == ["'=cmd()", "Bob"]
    assert admit_by_code(batch.pk, name="Bob", access_code=rows[1]["access_code"]).name == "Bob"


def test_the_download_holds_valid_links_without_codes(researcher):
    batch = make_batch()
    names = ["Ann", "Bob", "Cy"]
    ann, bob, cy = (invite_one(batch, name).invitation for name in names)
    researcher.post(link_url("revoke_link", bob))
    Invitation.objects.filter(pk=cy.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    response = researcher.get(url("links_csv", batch))
    rows = list(csv.DictReader(io.StringIO(response.content.decode())))
    assert [(row["name"], row["address"], row["access_code"]) for row in rows] == [("Ann", address(ann), "")]
    assert "no-store" in response["Cache-Control"]


def test_what_was_earned_by_link_is_what_was_accepted(researcher):
    batch = make_batch(n_items=5, reward="0.38")
    ann = invite_one(batch, "Ann").invitation
    invite_one(batch, "Bob")
    works = [answered(take(batch, ann.worker)) for _ in range(3)]
    take(batch, ann.worker)
    for one, status in zip(works, ("Approved", "Approved", "Rejected"), strict=True):
        at = {"approved_at" if status == "Approved" else "rejected_at": timezone.now()}
        Assignment.objects.filter(pk=one.pk).update(status=status, **at)
    market = answered(take(batch, ann.worker))  # which pays for it
    Assignment.objects.filter(pk=market.pk).update(
        status="Approved", approved_at=timezone.now(), channel="marketplace"
    )
    answer = researcher.get(url("earned_csv", batch))
    assert answer.content.decode() == (
        "name,email,accepted,dollars,undecided\nAnn,,2,0.76,0\nBob,,0,0.00,0\n"
    )
    assert "no-store" in answer["Cache-Control"]
    assert url("earned_csv", batch) in researcher.get(url("people", batch)).content.decode()


@pytest.mark.parametrize(
    ("people", "problem"),
    [
        ("", "Name at least one person."),
        ("Ann,x", "Line 1: Enter a valid email address."),
        ("Zoe", "Zoe is invited already"),
    ],
)
def test_a_list_with_a_mistake_makes_no_link(researcher, people, problem):
    batch = make_batch()
    invite_one(batch, "Zoe")
    response = post_people(researcher, batch, people=people)
    assert (response.status_code, Invitation.objects.count()) == (422, 1)
    assert problem in text_of(response)


def test_a_link_is_taken_back(researcher):
    invitation = invite_one(make_batch()).invitation
    token = token_of(invitation)
    for said in ("is void. What they answered stays.", "is void already."):
        response = researcher.post(link_url("revoke_link", invitation), follow=True)
        assert f"The link of Ann {said}" in text_of(response)
    with pytest.raises(NotAdmitted):
        admit(token)
    assert "Ann revoked" in text_of(researcher.get(url("people", invitation.batch)))


def test_a_renewed_link_is_another_and_the_old_one_void(researcher):
    invitation = invite_one(make_batch()).invitation
    old = token_of(invitation)
    response = researcher.post(link_url("renew_link", invitation), {"expires_at": TOMORROW})
    invitation.refresh_from_db()
    assert admit(token_of(invitation)).name == "Ann"
    assert token_of(invitation) in response.content.decode()
    with pytest.raises(NotAdmitted):
        admit(old)


def test_a_link_is_not_renewed_for_the_past(researcher):
    invitation = invite_one(make_batch()).invitation
    before = token_of(invitation)
    response = researcher.post(link_url("renew_link", invitation), {"expires_at": "2020-01-01"}, follow=True)
    invitation.refresh_from_db()
    assert "Not renewed: This day is over." in text_of(response)
    assert token_of(invitation) == before


def test_somebody_elses_batch_does_not_reach_an_invitation(researcher):
    invitation, other = invite_one(make_batch()).invitation, make_batch()
    for name in ("revoke_link", "renew_link"):
        address_there = reverse(name, args=[other.pk, invitation.pk])
        assert researcher.post(address_there, {"expires_at": TOMORROW}).status_code == 404
    assert Invitation.objects.get().revoked_at is None


def test_the_table_says_who_has_done_what(researcher):
    batch = make_batch(n_items=3)
    ann = invite_one(batch, "Ann", max_assignments=2).invitation
    invite_one(batch, "Bob")
    admit(token_of(ann))
    assert "Ann opened 0 of 2" in text_of(researcher.get(url("people", batch)))
    answered(take(batch, ann.worker))
    assert "Ann has worked 1 of 2" in text_of(researcher.get(url("people", batch)))
    take(batch, ann.worker)
    page = text_of(researcher.get(url("people", batch)))
    assert "Ann at work 1 of 2" in page
    assert "Bob not opened 0" in page


def test_the_page_asks_as_often_for_many_people_as_for_one(researcher):
    batch = make_batch()
    invite_one(batch, "P0")
    researcher.get(url("people", batch))
    one = queries_of(researcher, url("people", batch))
    for n in range(1, 8):
        invite_one(batch, f"P{n}")
    assert queries_of(researcher, url("people", batch)) == one


NOT_KNOWN = "can’t be told from people of before"
BEFOREHAND = "Without an e-mail address or a worker id nobody is known again"


def test_a_batch_of_new_people_warns_of_who_is_not_known_again(researcher):
    batch = make_batch(only_new_people=True)
    page = text_of(researcher.get(url("people", batch)))
    assert (BEFOREHAND in page, NOT_KNOWN in page) == (True, False)
    assert NOT_KNOWN not in text_of(post_people(researcher, batch, people="Ann,ann@example.org"))
    warning = "1 of the invited can’t be told from people of before. This batch leaves out who worked in an earlier one"
    assert warning in text_of(post_people(researcher, batch, people="Bob"))
    post_people(researcher, batch, people="Cem", **{"as": "csv"})
    page = text_of(researcher.get(url("people", batch)))
    assert "2 of the invited can’t be told from people of before." in page
    assert "and these have neither." in page


def test_the_rest_of_a_pilot_warns_too(researcher):
    pilot = make_batch()
    batch = make_batch(follows=pilot)
    page = text_of(post_people(researcher, batch, people="Bob"))
    assert f"This batch leaves out who worked in {pilot};" in page


@pytest.mark.parametrize("values", [{}, {"only_new_people": True, "is_simulated": True}])
def test_where_nobody_is_left_out_nothing_is_warned_of(researcher, values):
    batch = make_batch(**values)
    invite_one(batch, "Bob")
    page = text_of(researcher.get(url("people", batch)))
    assert (BEFOREHAND in page, NOT_KNOWN in page) == (False, False)


PANEL = {
    "completion_code": "C1A2",
    "completion_url": "https://app.prolific.com/submissions/complete?cc={code}",
    "assignments_per_worker": "3",
    "provider": "prolific",
    "worker_parameter": "PROLIFIC_PID",
    "study_parameter": "STUDY_ID",
    "session_parameter": "SESSION_ID",
}


def test_a_panel_is_set_up_and_its_address_shown(researcher):
    batch = make_batch()
    response = researcher.post(url("save_panel", batch), PANEL, follow=True)
    panel = Panel.objects.get()
    assert (panel.batch, panel.completion_code, panel.assignments_per_worker) == (batch, "C1A2", 3)
    assert (
        f"/panel/{panel.code}/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&amp;STUDY_ID=" in response.content.decode()
    )
    researcher.post(url("save_panel", batch), {**PANEL, "completion_code": "C9"})
    assert Panel.objects.get().completion_code == "C9"
    assert list(LogEntry.objects.order_by("pk").values_list("action_flag", flat=True)) == [1, 2]


def test_the_way_back_is_filled_in_before_a_panel_is_set_up(researcher):
    page = researcher.get(url("people", make_batch())).content.decode()
    assert 'value="https://app.prolific.com/submissions/complete?cc={code}"' in page


def test_a_panel_that_sends_nobody_back_is_told_of(researcher):
    batch = make_batch()
    make_panel(batch, completion_url="")
    assert "Nobody is sent back by itself" in text_of(researcher.get(url("people", batch)))


def test_whom_to_approve_can_be_copied(researcher):
    batch = make_batch(n_items=1)
    person = admit_panel(make_panel(batch).code, from_prolific("aa")).worker
    work.approve(answered(take(batch, person, channel="panel")), feedback="")
    page = researcher.get(url("people", batch)).content.decode()
    assert re.search(r'<textarea [^>]*id="to-approve"[^>]*>aa</textarea>', page)


def test_a_panel_sends_nobody_to_an_insecure_address(researcher):
    batch = make_batch()
    response = researcher.post(
        url("save_panel", batch), {**PANEL, "completion_url": "http://p.example/{code}"}
    )
    assert (response.status_code, Panel.objects.count()) == (422, 0)
    assert "Only https addresses." in text_of(response)


def test_visits_are_listed_with_their_state(researcher):
    batch = make_batch(n_items=2)
    panel = make_panel(batch)
    workers = [admit_panel(panel.code, from_prolific(pid)).worker for pid in ("aa", "bb")]
    answered(take(batch, workers[0], channel="panel"))
    page = text_of(researcher.get(url("people", batch)))
    assert "prolific:aa study1 session1 finished 1 of 1" in page
    assert "prolific:bb study1 session1 came 0 of 1" in page


def test_the_place_of_who_has_left_is_given_to_the_next(researcher):
    batch = make_batch(n_items=1)
    panel = make_panel(batch)
    gone = admit_panel(panel.code, from_prolific("aa")).worker
    draft = take(batch, gone, channel="panel")
    with pytest.raises(NotAdmitted, match="All places in this study are taken"):
        admit_panel(panel.code, from_prolific("bb"))
    free = reverse("free_places", args=[batch.pk, gone.pk])
    assert free in researcher.get(url("people", batch)).content.decode()
    page = text_of(researcher.post(free, follow=True))
    assert "1 place is free for others." in page
    assert "prolific:aa study1 session1 left 0 of 1" in page
    assert "Nothing was held for them any more." in text_of(researcher.post(free, follow=True))
    punctual = take(batch, admit_panel(panel.code, from_prolific("bb")).worker, channel="panel")
    assert (punctual.worker != gone, take(batch, gone, channel="panel")) == (True, draft)


@pytest.mark.parametrize(
    ("limit", "n", "text"),
    [
        (
            "0.75",
            1,
            "1 place is free for others as far as the budget covers a second try. It could cost $0.38, but $0.37 of "
            "the batch's budget is left. What was typed",
        ),
        ("0.76", 1, "1 place is free for others. What was typed"),
        (None, 1, "1 place is free for others. What was typed"),
        (
            "1.14",
            2,
            "2 places are free for others as far as the budget covers a second try. It could cost $0.76, but $0.38 of "
            "the batch's budget is left. What was typed",
        ),
        ("1.52", 2, "2 places are free for others. What was typed"),
    ],
)
def test_who_frees_a_place_is_told_whether_the_budget_covers_it_twice(researcher, limit, n, text):
    batch = make_batch(n_items=n, reward=Decimal("0.38"), budget=limit and Decimal(limit))
    ann = invite_one(batch, "Ann").invitation
    for number in range(1, n + 1):
        take_number(batch, number, ann.worker)
    page = text_of(researcher.post(reverse("free_places", args=[batch.pk, ann.worker_id]), follow=True))
    assert text in unescape(page)


def test_who_was_purged_and_came_back_is_at_work(researcher):
    batch = make_batch(n_items=1)
    ann = invite_one(batch, "Ann").invitation
    Worker.objects.filter(pk=ann.worker_id).update(purged_at=timezone.now() - timedelta(days=9))
    take(batch, ann.worker)
    assert "Ann at work 0" in text_of(researcher.get(url("people", batch)))
    Worker.objects.filter(pk=ann.worker_id).update(purged_at=timezone.now())
    assert "Ann left 0" in text_of(researcher.get(url("people", batch)))


def test_nobody_frees_what_is_handed_in_or_of_another_batch(researcher):
    batch, other = make_batch(n_items=2), make_batch(n_items=1)
    ann = invite_one(batch, "Ann").invitation
    answered(take(batch, ann.worker))
    researcher.post(reverse("free_places", args=[batch.pk, ann.worker_id]))
    assert AnnotationSlot.objects.get(assignment__worker=ann.worker).leased_until > timezone.now()
    assert researcher.post(reverse("free_places", args=[other.pk, ann.worker_id])).status_code == 404


def test_a_code_of_the_completed_is_given_no_other_type(researcher):
    batch = make_batch()
    page = text_of(researcher.post(url("save_panel", batch), PANEL, follow=True))
    assert "Completed C1A2 Prolific’s type COMPLETED" in page
    assert "Checks failed C1A2 that of the completed; one of its own is of Prolific’s type FAILED_ATT" in page
    assert "No consent no code one of its own is of Prolific’s type NO_CONSENT" in page
    assert ("0 sent by Prolific" in page, "address to give to Prolific:" in page) == (True, True)


def test_each_outcome_has_a_code_of_its_own(researcher):
    batch = make_batch()
    codes = {"checks_failed_code": "C2", "nothing_left_code": "C3", "no_consent_code": "C4"}
    page = text_of(researcher.post(url("save_panel", batch), PANEL | codes, follow=True))
    assert "Checks failed C2 Prolific’s type FAILED_ATTENTION_CHECK" in page
    panel = Panel.objects.get()
    assert [panel.code_of(outcome) for outcome in Outcome.values] == ["C1A2", "C2", "C3", "C4"]
    response = researcher.post(url("save_panel", batch), PANEL | codes | {"no_consent_code": "C2"})
    assert "Each outcome needs a code of its own." in text_of(response)
    researcher.post(url("save_panel", batch), PANEL | {"checks_failed_code": "C5"})
    assert [Panel.objects.get().code_of(outcome) for outcome in Outcome.values] == ["C1A2", "C5", "", ""]


def test_connect_is_filled_in_as_it_calls_things(researcher):
    batch = make_batch()
    page = researcher.get(url("people", batch) + "?panel=connect").content.decode()
    back = "https://connect.cloudresearch.com/participant/project/{code}/complete"
    assert [f'value="{value}"' in page for value in ("participantId", "assignmentId", back)] == [True] * 3
    make_panel(batch, provider="connect", worker_parameter="participantId", completion_url=back)
    page = researcher.get(url("people", batch)).content.decode()
    assert "PROLIFIC_PID" not in page


def test_only_a_batch_that_takes_links_has_people(researcher):
    batch = make_market_batch(make_survey(n_items=1))
    assert researcher.get(url("people", batch)).status_code == 404
    assert url("people", batch) not in researcher.get(url("batch", batch)).content.decode()
    draft = make_draft(make_survey(n_items=1), takes_links=True)
    assert "Links can be made and mailed now." in text_of(researcher.get(url("people", draft)))
    assert url("people", draft) in researcher.get(url("batch", draft)).content.decode()


def test_assistants_see_and_change_no_links(assistant):
    batch = make_batch()
    invitation = invite_one(batch).invitation
    assert assistant.get(url("people", batch)).status_code == 403
    assert assistant.get(url("links_csv", batch)).status_code == 403
    assert post_people(assistant, batch).status_code == 403
    assert assistant.post(url("save_panel", batch), PANEL).status_code == 403
    assert assistant.post(link_url("revoke_link", invitation)).status_code == 403
    assert assistant.post(link_url("renew_link", invitation), {"expires_at": TOMORROW}).status_code == 403
    assert url("people", batch) not in assistant.get(url("batch", batch)).content.decode()
    assert (Invitation.objects.get().revoked_at, Panel.objects.count()) == (None, 0)


def test_strangers_are_sent_to_the_login():
    batch = make_batch()
    response = Client().get(url("people", batch))
    assert (response.status_code, response["Location"].split("?")[0]) == (302, "/admin/login/")


def test_nothing_changes_by_looking(researcher):
    invitation = invite_one(make_batch()).invitation
    for name in ("revoke_link", "renew_link"):
        assert researcher.get(link_url(name, invitation)).status_code == 405
    for name in ("invite_people", "save_panel"):
        assert researcher.get(url(name, invitation.batch)).status_code == 405


def test_a_batch_without_a_marketplace_is_published_from_its_page(researcher, settings):
    settings.MTURK_ENDPOINTS = {}
    draft = make_draft(
        make_survey(n_items=2),
        endpoint="link",
        reward=0,
        items_per_hit=1,
        review_policy=NEVER,
    )
    page = text_of(researcher.get(url("batch", draft)))
    assert "Publish 2 HITs for $0.00" in page
    assert "MTurk" not in page
    researcher.post(url("batch_publish", draft))
    sync.publish_batch(draft.pk)
    page = text_of(researcher.get(url("batch", draft)))
    assert "0 by personal link 0 by panel" in " ".join(page.split())
    assert "See it as workers do" not in page
    assert Batch.objects.get().status == "open"
