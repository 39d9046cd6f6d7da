"""From the rejection on the marketplace, by the code in it, to being paid after all."""

import re

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from annotators.crowds.mturk.gateway import NotReady
from annotators.models import Assignment, Channel
from marketplace import models as marketplace
from surveys import sync
from surveys.models import Appeal, Decision
from surveys.review import appeal_codes
from surveys.review.appeals import answer_appeal
from tests.market_site import Site
from tests.market_study import open_study, statuses, sync_study, work
from tests.surveys.pages.pages import text_of

pytestmark = pytest.mark.django_db
THROTTLED = (
    400,
    {"Content-Type": "application/x-amz-json-1.1"},
    b'{"__type":"ThrottlingException","message":"Rate"}',
)


def test_a_worker_appeals_and_is_paid(site: Site, settings) -> None:
    cache.clear()
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=1)
    sync_study(site, questionnaire)
    told = marketplace.Assignment.objects.get().feedback
    assert len(told) <= 1024
    address, code = re.search(r"write to us at (\S+/)([^/\s]+)/\.$", told).groups()
    assert address == f"{settings.APP_URL}/appeals/"

    worker = Client(headers={"host": "127.0.0.1"})
    page = worker.post("/appeals/", {"code": code}, follow=True)
    assert "You answered 1 of 5 questions correctly; at least 3 are needed." in text_of(page)
    worker.post(f"/appeals/{code}/", {"text": "Question 2 has no right answer."})
    appeal = Appeal.objects.get()
    assert appeal.text == "Question 2 has no right answer."

    person = User.objects.create_user("carla")
    answer_appeal(appeal, outcome="overturned", answer="You are right, thank you.", by=person)
    sync_study(site, questionnaire)
    assert statuses(questionnaire) == ["Approved"]
    paid = marketplace.Assignment.objects.get()
    assert (paid.status, paid.feedback) == ("Approved", "You are right, thank you.")
    assert site.spent() == 46
    page = text_of(worker.get(f"/appeals/{code}/"))
    assert "Your work is approved." in page
    assert "You are right, thank you." in page


def test_the_same_message_is_sent_however_often_it_is_tried(site: Site) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=1)
    site.wire.lose.add("RejectAssignment")
    sync_study(site, questionnaire)
    code = Appeal.objects.get().code
    site.wire.heal()
    sync_study(site, questionnaire)
    assert marketplace.Assignment.objects.get().feedback.endswith(f"/appeals/{code}/.")
    assert Appeal.objects.get().code == code
    assert Decision.objects.get().reason == "You answered 1 of 5 questions correctly; at least 3 are needed."


def test_the_marketplace_is_told_of_an_appeal_and_that_a_rejection_stays_once(site: Site) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=1)
    sync_study(site, questionnaire)
    appeal = Appeal.objects.get()
    Client(headers={"host": "127.0.0.1"}).post(f"/appeals/{appeal.code}/", {"text": "I did look."})
    for _ in range(2):
        sync.tell_of_appeal(appeal.pk)
        cache.clear()  # what has been said is known by the appeal
    appeal.refresh_from_db()
    answer_appeal(appeal, outcome="upheld", answer="We looked again.", by=User.objects.create_user("carla"))
    for _ in range(2):
        sync.tell_of_appeal(appeal.pk)
        cache.clear()  # what has been said is known by the appeal
    title, address = questionnaire.batch.title, f"{appeal_codes.address()}{appeal.code}/"
    assert list(marketplace.Message.objects.order_by("pk").values_list("subject", "text")) == [
        (
            f"Your appeal is with us: {title}",
            f"A person reads it. The answer will stand here, and at the address below.\n\n{address}",
        ),
        (
            f"Your appeal was answered, the rejection stays: {title}",
            f"We looked again.\n\n{address}",
        ),
    ]
    assert address in marketplace.Assignment.objects.get().feedback


def test_what_the_marketplace_did_not_take_is_said_again_and_what_is_taken_back_is_not_said_twice(
    site: Site,
) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=1)
    sync_study(site, questionnaire)
    appeal = Appeal.objects.get()
    appeal_codes.make(appeal, text="I did look.")
    site.wire.replies["NotifyWorkers"] = THROTTLED
    with pytest.raises(NotReady):
        sync.tell_of_appeal(appeal.pk)
    assert not marketplace.Message.objects.exists()
    site.wire.heal()
    sync.tell_of_appeal(appeal.pk)
    assert marketplace.Message.objects.count() == 1
    appeal.refresh_from_db()
    answer_appeal(appeal, outcome="overturned", answer="You are right.", by=User.objects.create_user("carla"))
    sync.tell_of_appeal(appeal.pk)
    assert marketplace.Message.objects.count() == 1


def test_the_marketplace_is_told_of_no_appeal_that_was_not_made_or_is_about_work_by_link(site: Site) -> None:
    """A worker of the marketplace may work by link too; NotifyWorkers reaches whoever has worked there."""
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=1)
    sync_study(site, questionnaire)
    appeal = Appeal.objects.get()
    sync.tell_of_appeal(appeal.pk)
    assert not marketplace.Message.objects.exists()
    appeal_codes.make(appeal, text="I did look.")
    Assignment.objects.update(channel=Channel.LINK)
    sync.tell_of_appeal(appeal.pk)
    appeal.refresh_from_db()
    assert (appeal.told, marketplace.Message.objects.count()) == ("", 0)
