"""Which pictures are fetched ahead: those of the HIT that a worker will probably be offered next."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotators.models import HIT, Assignment
from surveys.answering.allocation import coming_after
from surveys.models import Picture, Questionnaire
from tests.builders import make_questionnaire
from tests.surveys.pages.hit_pages import open_page, token_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def hits() -> list[Questionnaire]:
    """Three HITs of one batch, with a picture each."""
    made = [make_questionnaire(n_items=1, name=f"study-{n}") for n in range(3)]
    for position, one in enumerate(made[1:], 2):
        Questionnaire.objects.filter(pk=one.pk).update(batch=made[0].batch, position=position)
    return list(Questionnaire.objects.filter(batch=made[0].batch).order_by("position"))


def of(questionnaire: Questionnaire) -> list[Picture]:
    return list(Picture.objects.filter(item__slots__questionnaire=questionnaire))


def opened(questionnaire: Questionnaire, *, worker: str = "A1WORKER") -> Assignment:
    claims = {"workerId": worker, "assignmentId": f"3{worker}{questionnaire.position}"}
    open_page(Client(), questionnaire, **claims)
    return Assignment.objects.get(hit=questionnaire.hit, worker__worker_id=worker)


def test_the_oldest_open_hit_that_is_new_to_the_worker_comes_next(hits: list[Questionnaire]) -> None:
    assert coming_after(opened(hits[1])) == of(hits[0])
    first = opened(hits[0])
    assert coming_after(first) == of(hits[2])
    opened(hits[2])
    assert coming_after(first) == []


@pytest.mark.parametrize(
    "change",
    [{"status": HIT.Status.REVIEWABLE}, {"expires_at": timezone.now() - timedelta(seconds=1)}],
)
def test_what_the_marketplace_would_not_offer_does_not_come(
    hits: list[Questionnaire], change: dict[str, object]
) -> None:
    held = opened(hits[0])
    HIT.objects.filter(questionnaire=hits[1]).update(**change)
    assert coming_after(held) == of(hits[2])


def test_what_others_have_taken_does_not_come(hits: list[Questionnaire]) -> None:
    held = opened(hits[0])
    HIT.objects.filter(questionnaire=hits[1]).update(max_assignments=2)
    opened(hits[1], worker="A2OTHER")
    assert coming_after(held) == of(hits[1])
    opened(hits[1], worker="A3OTHER")
    assert coming_after(held) == of(hits[2])


def test_it_is_told_to_the_page_of_an_assignment_and_to_nobody_else(hits: list[Questionnaire]) -> None:
    client, address = Client(), f"/hits/{hits[0].pk}/coming"
    token = token_of(open_page(client, hits[0]))
    page = client.post(address, {"token": token}).content.decode()
    assert [one.get_absolute_url() in page for hit in hits for one in of(hit)] == [False, True, False]
    assert client.post(address, {"token": "forged"}).status_code == 403
    assert client.post(f"/hits/{hits[1].pk}/coming", {"token": token}).status_code == 403
    assert client.get(address).status_code == 405
