"""A read-only link: frozen numbers to whoever has it, of nobody by name, until it is withdrawn."""

import hashlib
import re

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment, Worker
from surveys.models import AuditEntry, Batch, Item, KeptReport, Response, SharedResults
from surveys.results.frames.pseudonyms import Pseudonyms
from tests.factories import make_published, submitted
from tests.people import client_of
from tests.surveys.pages.pages import text_of
from tests.surveys.pages.results.shown import results
from tests.surveys.results.rated import Rated, rated_batch

pytestmark = pytest.mark.django_db
SAID = {"clarity": "5", "trust": "3"}


def study() -> Batch:
    questionnaire = make_published()
    submitted(questionnaire, n_correct=5)
    submitted(questionnaire, n_correct=2)
    Item.objects.update(gold="the-secret-answer")
    results(questionnaire.batch)
    return questionnaire.batch


def link_of(client: Client, batch: Batch, **data: str) -> str:
    made = client.post(reverse("share_results", args=[batch.pk]), {"name": "Reviewers", **data})
    return made.context["address"].removeprefix("http://testserver")


def test_a_link_shows_the_numbers_to_a_stranger_and_its_token_is_nowhere() -> None:
    batch = study()
    address = link_of(client_of("Researcher"), batch)
    shown = Client().get(address)
    assert (shown.status_code, "kept assignments 2 " in text_of(shown), "workers 2 " in text_of(shown)) == (
        200,
        True,
        True,
    )
    shared, token = SharedResults.objects.get(), address.split("/")[2]
    assert (len(token), shared.token_hash) == (43, hashlib.sha256(token.encode()).hexdigest())
    assert token not in str(SharedResults.objects.values()) + str(AuditEntry.objects.values())


def test_its_page_tells_nobody_where_it_is_and_sets_no_cookie() -> None:
    address = link_of(client_of("Researcher"), study())
    shown = Client().get(address)
    names = ("Referrer-Policy", "Cache-Control", "X-Robots-Tag")
    assert [shown.headers[name] for name in names] == ["no-referrer", "no-store", "noindex, nofollow"]
    assert (shown.cookies, re.findall(r"<script|<form|href=\"/(?!static)", shown.content.decode())) == (
        {},
        [],
    )
    assert Client().post(address).status_code == 405


def test_later_answers_change_nothing_in_it() -> None:
    batch = study()
    address = link_of(client_of("Researcher"), batch)
    before = Client().get(address).content
    submitted(batch.questionnaires.get())
    results(batch)
    KeptReport.objects.all().delete()
    Batch.objects.update(snapshot=batch.snapshot)
    assert Client().get(address).content == before


def test_nobody_stands_in_it_by_id_pseudonym_or_own_words() -> None:
    rows = [Rated(f"s{n}", "a", worker, SAID) for n in range(3) for worker in ("A1WORKERIDX", "A2WORKERIDY")]
    batch = rated_batch([*rows, Rated("s9", "a", "A1WORKERIDX", skip_reason="I, Ada, know this picture")])
    Assignment.objects.update(comment="I am Ada")
    results(batch)
    address = link_of(client_of("Researcher"), batch, has_outputs="on", has_key="on")
    shown = Client().get(address).content.decode() + SharedResults.objects.get().content
    ids = [worker.worker_id for worker in Worker.objects.all()]
    assert [one for one in (*ids, *map(Pseudonyms(), ids), "Ada") if one in shown] == []
    assert Response.objects.exclude(skip_reason="").exists()


@pytest.mark.parametrize(
    ("ticked", "has_outputs", "has_key"),
    [((), False, False), (("has_outputs",), True, False), (("has_outputs", "has_key"), True, True),
     (("has_key",), False, False)],
)  # fmt: skip
def test_outputs_and_right_answers_are_in_it_only_where_its_author_says_so(
    ticked, has_outputs, has_key
) -> None:
    batch = study()
    Response.objects.filter(is_correct=False).first().ratings.filter(criterion="justifies").update(score=0.1)
    address = link_of(client_of("Researcher"), batch, **dict.fromkeys(ticked, "on"))
    shown = Client().get(address).content.decode() + SharedResults.objects.get().content
    assert ("Question 1?" in shown, "the-secret-answer" in shown) == (has_outputs, has_key)


def test_withdrawn_it_opens_nothing_and_looks_like_one_that_never_was() -> None:
    batch, client = study(), client_of("Researcher")
    address = link_of(client, batch)
    shared = SharedResults.objects.get()
    for _ in range(2):
        client.post(reverse("withdraw_results", args=[batch.pk, shared.pk]))
    withdrawn, unknown = Client().get(address), Client().get(reverse("shared_results", args=["x"]))
    assert (withdrawn.status_code, withdrawn.content) == (404, unknown.content)
    trail = AuditEntry.objects.filter(kind="sharing").order_by("pk")
    assert [(one.outcome, one.reason, str(one.actor)) for one in trail] == [
        ("share", "Reviewers", "researcher"),
        ("withdraw", "Reviewers", "researcher"),
    ]


def test_of_a_chosen_part_it_shows_that_part() -> None:
    batch, client = study(), client_of("Researcher")
    address = client.post(
        reverse("share_results", args=[batch.pk]) + "?rows=filtered", {"name": "Me"}
    ).context["address"]
    text = text_of(Client().get(address.removeprefix("http://testserver")))
    assert ("a part of the answers" in text, "answers 7 " in text) == (True, True)


def test_what_is_not_made_yet_is_not_shared(monkeypatch: pytest.MonkeyPatch, reports_at_once: None) -> None:
    batch, client = study(), client_of("Researcher")
    monkeypatch.setattr("surveys.enqueue.enqueue", lambda *given: None)
    asked = client.post(reverse("share_results", args=[batch.pk]) + "?rows=filtered", {"name": "Me"})
    assert ("There is no report to share yet" in text_of(asked), SharedResults.objects.count()) == (True, 0)


def test_without_a_name_no_link_is_made() -> None:
    batch = study()
    made = client_of("Researcher").post(reverse("share_results", args=[batch.pk]), {"has_outputs": "on"})
    assert (made.status_code, SharedResults.objects.count()) == (422, 0)


def test_an_assistant_makes_none() -> None:
    made = client_of("Assistant").post(reverse("share_results", args=[study().pk]), {"name": "Me"})
    assert (made.status_code, SharedResults.objects.count()) == (403, 0)


@pytest.mark.parametrize("values", [{"name": ""}, {"content": ""}, {"has_key": True}])
def test_the_database_refuses_one_that_says_nothing_or_a_key_without_outputs(values) -> None:
    usual = {
        "batch": study(),
        "token_hash": "1" * 64,
        "name": "x",
        "content": "{}",
        "numbers_at": timezone.now(),
    }
    with pytest.raises(IntegrityError), transaction.atomic():
        SharedResults.objects.create(**{**usual, **values})
