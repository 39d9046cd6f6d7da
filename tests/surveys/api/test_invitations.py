"""People are invited by a script as on the page, and no kept answer holds what opens their work."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone

from surveys.answering.invitations import revoke
from surveys.models import ApiRequest, Batch, Invitation
from tests.factories import make_published
from tests.link_people import make_batch
from tests.surveys.api.asking import Asking, person_of, problem, token_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch() -> Batch:
    return make_batch()


@pytest.fixture
def script() -> Asking:
    return Asking(token_of(person_of("Researcher")))


def invite(script: Asking, batch: Batch, *people: Any, key: str | None = None, **more: Any) -> Any:
    return script.post(f"/batches/{batch.pk}/invitations", {"people": people, **more}, key=key)


def test_people_get_links_that_open(script: Asking, batch: Batch) -> None:
    answer = invite(script, batch, {"name": "Ann"}, {"name": " Юля ", "email": "j@example.org"})
    ann, julia = Invitation.objects.order_by("pk")
    assert (answer.status_code, answer.json()) == (
        201,
        {"results": [{"id": ann.pk, "name": "Ann"}, {"id": julia.pk, "name": "Юля"}]},
    )
    rows = script.get(f"/batches/{batch.pk}/invitations").json()["results"]
    assert [(one["name"], one["email"]) for one in rows] == [("Ann", ""), ("Юля", "j@example.org")]
    assert [Client().get(one["link"], follow=True).status_code for one in rows] == [200, 200]
    assert [entry.change_message for entry in LogEntry.objects.all()] == ["Invited by the API."] * 2


def test_asked_twice_with_a_key_they_are_invited_once(script: Asking, batch: Batch) -> None:
    first = invite(script, batch, {"name": "Ann"}, key="k")
    again = invite(script, batch, {"name": "Ann"}, key="k")
    assert (first.json(), again.headers["Idempotency-Replayed"]) == (again.json(), "true")
    assert Invitation.objects.count() == 1
    link = script.get(f"/batches/{batch.pk}/invitations").json()["results"][0]["link"]
    assert link.rpartition("/links/")[2].strip("/") not in ApiRequest.objects.get().content


def test_a_link_that_is_void_is_told_no_more(script: Asking, batch: Batch) -> None:
    invite(script, batch, {"name": "Ann"}, {"name": "Ben"})
    revoke(Invitation.objects.get(name="Ann"))
    Invitation.objects.filter(name="Ben").update(expires_at=timezone.now() - timedelta(seconds=1))
    rows = script.get(f"/batches/{batch.pk}/invitations").json()["results"]
    assert [(one["is_revoked"], one["link"]) for one in rows] == [(True, None), (False, None)]


def test_a_link_opens_until_the_end_of_its_day(script: Asking, batch: Batch) -> None:
    day = timezone.localdate() + timedelta(days=3)
    invite(script, batch, {"name": "Ann"}, valid_until=str(day), max_assignments=2)
    invitation = Invitation.objects.get()
    assert timezone.localtime(invitation.expires_at).isoformat()[:19] == f"{day}T23:59:59"
    assert invitation.max_assignments == 2


@pytest.mark.parametrize(
    ("people", "more", "mistake"),
    [
        ([{"name": "Ann"}, {"name": ""}], {}, ("people.1", "a name of 1 to 200 characters is needed.")),
        ([{"name": "Ann", "email": "no"}], {}, ("people.0", "Enter a valid email address.")),
        ([{"name": "A", "worker_id": "a b"}], {}, ("people.0", "a b is no worker id.")),
        (
            [{"name": "A"}, {"name": "a"}],
            {},
            ("people", "a is invited already, or stands in the list twice."),
        ),
        ([{"name": "Ann"}], {"valid_until": "2020-01-01"}, ("valid_until", "This day is over.")),
    ],
)
def test_a_list_with_a_mistake_invites_nobody(
    script: Asking, batch: Batch, people: list[Any], more: dict[str, Any], mistake: tuple[str, str]
) -> None:
    answer = invite(script, batch, *people, **more)
    assert problem(answer) == (422, "invalid")
    assert [(one["field"], one["detail"]) for one in answer.json()["errors"]] == [mistake]
    assert Invitation.objects.count() == 0


def test_nobody_is_invited_to_what_takes_no_links(script: Asking) -> None:
    market = make_published().batch
    assert problem(invite(script, market, {"name": "Ann"})) == (404, "not-found")
    assert problem(script.get(f"/batches/{market.pk}/invitations")) == (404, "not-found")


def test_a_token_that_only_reads_gets_no_links(batch: Batch) -> None:
    invited = Asking(token_of(person_of("Researcher")))
    invite(invited, batch, {"name": "Ann"})
    reader = Asking(token_of(Invitation.objects.get().created_by, is_read_only=True))
    assert reader.get(f"/batches/{batch.pk}/invitations").json()["results"][0]["link"] is None
