"""One person has one pseudonym on every page, is found by it, and leads from People to their work and back."""

import pytest
from django.test import Client
from django.urls import reverse

from annotators.models import Assignment, Worker
from annotators.people.pseudonyms import called, pseudonym, purged_name
from surveys.models import Batch, Questionnaire
from tests.factories import submitted
from tests.link_people import answered, invite_one, make_batch, take
from tests.people import client_of
from tests.surveys.pages.pages import text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def work() -> Assignment:
    """One annotation of somebody who was invited as Grace."""
    batch = make_batch()
    invitation = invite_one(batch, "Grace").invitation
    return answered(take(batch, invitation.worker))


def batch_of(work: Assignment) -> Batch:
    return work.hit.questionnaire.batch


def pages_of(work: Assignment) -> dict[str, str]:
    batch = batch_of(work)
    return {
        "list": reverse("assignments", args=[batch.pk]),
        "assignment": reverse("assignment", args=[batch.pk, work.pk]),
        "worker": reverse("worker", args=[work.worker_id]),
        "people": reverse("people", args=[batch.pk]),
        "answers": reverse("batch_responses", args=[batch.pk]) + "?rows=all",
        "workers": reverse("admin:annotators_worker_changelist"),
    }


def test_somebody_has_one_pseudonym_on_every_page(work: Assignment) -> None:
    client, name = client_of("Researcher"), pseudonym(work.worker.worker_id)
    assert [page for page, url in pages_of(work).items() if name not in text_of(client.get(url))] == []


def test_what_researchers_call_them_stands_beside_it_for_who_may_see_invitations(work: Assignment) -> None:
    shown = {}
    for role in ("Researcher", "Assistant"):
        client = client_of(role)
        pages = {page: text_of(client.get(url)) for page, url in pages_of(work).items()}
        shown[role] = {page for page, text in pages.items() if "Grace" in text}
    assert shown == {"Researcher": {"list", "assignment", "worker", "people"}, "Assistant": set()}


@pytest.mark.parametrize("words", ["pseudonym", "beginning", "GRACE", "id"])
def test_a_reviewer_finds_them_by_every_name(work: Assignment, words: str) -> None:
    submitted_by_another = answered(
        take(batch_of(work), Worker.objects.create(worker_id="link:other", source="link"))
    )
    name = pseudonym(work.worker.worker_id)
    asked = {"pseudonym": name, "beginning": name[:4], "id": work.worker.worker_id}.get(words, words)
    found = client_of("Researcher").get(pages_of(work)["list"], {"worker": asked}).context["page"]
    assert (list(found), submitted_by_another in found) == ([work], False)


def test_who_may_not_see_invitations_does_not_find_anybody_by_their_label(work: Assignment) -> None:
    found = client_of("Assistant").get(pages_of(work)["list"], {"worker": "Grace"}).context["page"]
    assert list(found) == []


def test_the_list_of_workers_is_searched_by_pseudonym(work: Assignment) -> None:
    Worker.objects.create(worker_id="link:other", source="link")
    page = client_of("Researcher").get(pages_of(work)["workers"], {"q": pseudonym(work.worker.worker_id)})
    assert list(page.context["cl"].queryset) == [work.worker]


def test_from_people_to_their_work_and_back(work: Assignment) -> None:
    client, pages, name = client_of("Researcher"), pages_of(work), pseudonym(work.worker.worker_id)
    assert f'href="{pages["list"]}?worker={name}"' in client.get(pages["people"]).content.decode()
    back = client.get(pages["worker"]).content.decode()
    answers = f"{pages['answers']}&amp;worker={name}"
    assert [f'href="{one}"' in back for one in (pages["people"], answers)] == [True, True]
    assert "1 found" in text_of(client.get(answers.replace("&amp;", "&")))


def test_a_purged_worker_keeps_the_pseudonym_and_is_found_by_it(work: Assignment) -> None:
    name = pseudonym(work.worker.worker_id)
    Worker.objects.filter(pk=work.worker_id).update(worker_id=purged_name(work.worker.worker_id))
    assert called(name, among=Worker.objects.all()) == [work.worker_id]


@pytest.mark.parametrize("text", ["", "abc", "0123456789abc", "xyzw", "%", "____"])
def test_what_is_no_pseudonym_finds_nobody(published: Questionnaire, text: str) -> None:
    submitted(published)
    assert called(text, among=Worker.objects.all()) == []


def test_nobody_elses_answers_stand_under_a_pseudonym(published: Questionnaire) -> None:
    client: Client = client_of("Assistant")
    for n in (1, 2):
        submitted(published, worker=f"AWORKER{n}")
    page = client.get(
        reverse("batch_responses", args=[published.batch_id]), {"worker": pseudonym("AWORKER1")}
    )
    assert {one.response.worker.worker_id for one in page.context["answers"]} == {"AWORKER1"}
