"""One person has one pseudonym on every page, is found by it, and leads from People to their work and back."""

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse

from annotators.models import Assignment, Worker
from annotators.people.names import pseudonym, purged_name
from annotators.people.pseudonyms import called
from surveys.models import Batch, PersonLabel, Questionnaire, Survey
from surveys.operations.erasing import erase
from surveys.operations.own_data import own_data
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
    assert shown == {"Researcher": {"list", "assignment", "worker", "people", "answers"}, "Assistant": set()}


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


def label(client: Client, work: Assignment, text: str) -> int:
    address = reverse("label_person", args=[batch_of(work).pk, work.worker_id])
    return client.post(address, {"text": text}).status_code


def test_a_label_of_the_researchers_own_stands_on_every_page_and_is_found(work: Assignment) -> None:
    client, pages = client_of("Researcher"), pages_of(work)
    assert label(client, work, "The careful one") == 302
    shown = {page for page, url in pages.items() if "The careful one" in text_of(client.get(url))}
    assert shown == {"list", "assignment", "worker", "answers"}
    assert list(client.get(pages["list"], {"worker": "careful"}).context["page"]) == [work]
    assistant = client_of("Assistant")
    assert "The careful one" not in "".join(text_of(assistant.get(url)) for url in pages.values())


def test_a_label_is_changed_and_taken_away(work: Assignment) -> None:
    client = client_of("Researcher")
    for text, kept in (("One", ["One"]), ("Two", ["Two"]), ("x" * 101, ["Two"]), (" ", [])):
        label(client, work, text)
        assert list(PersonLabel.objects.values_list("text", flat=True)) == kept


def test_whoever_has_nothing_to_do_with_a_batch_gets_no_label_there(work: Assignment) -> None:
    stranger = Worker.objects.create(worker_id="link:other", source="link")
    address = reverse("label_person", args=[batch_of(work).pk, stranger.pk])
    assert client_of("Researcher").post(address, {"text": "Who?"}).status_code == 404


def test_a_label_is_of_one_study_and_its_team(work: Assignment) -> None:
    client = client_of("Researcher")
    label(client, work, "The careful one")
    elsewhere = answered(take(make_batch(), work.worker))
    assert "The careful one" not in text_of(client.get(pages_of(elsewhere)["list"]))
    Survey.objects.filter(pk=batch_of(work).survey_id).update(is_shared=False)
    assert "The careful one" not in text_of(client.get(pages_of(elsewhere)["worker"]))


def test_a_label_is_in_the_persons_own_data_and_goes_with_who_they_are(work: Assignment) -> None:
    label(client_of("Researcher"), work, "The careful one")
    assert own_data(work.worker)["person"]["called"] == ["The careful one"]
    erase(work.worker, comments=False)
    assert PersonLabel.objects.count() == 0


@pytest.mark.parametrize("layout", ["tidy", "processed", "summary", "responses", "annotations"])
def test_a_label_is_in_no_file(work: Assignment, layout: str) -> None:
    client = client_of("Researcher")
    label(client, work, "The careful one")
    answer = client.get(reverse("batch_download", args=[batch_of(work).pk, layout]))
    assert (
        "The careful one" not in answer.getvalue().decode() if answer.streaming else answer.status_code == 302
    )


@pytest.mark.parametrize("text", ["", "Again"])
def test_the_database_refuses_an_empty_label_and_a_second_one(work: Assignment, text: str) -> None:
    survey = batch_of(work).survey
    PersonLabel.objects.create(survey=survey, worker=work.worker, text="Once")
    worker = work.worker if text else Worker.objects.create(worker_id="link:other", source="link")
    with pytest.raises(IntegrityError), transaction.atomic():
        PersonLabel.objects.create(survey=survey, worker=worker, text=text)
