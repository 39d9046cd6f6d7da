"""The page Books: who may see and settle a difference, and how a hold ends without a shell."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotators.crowds.mturk.leases import lease
from annotators.models import HIT, Hold
from annotators.outbox import holds
from marketplace import models as marketplace
from surveys import sync
from surveys.models import Batch, Survey
from surveys.operations import reconciling
from tests.factories import make_hit_type
from tests.market_site import Site
from tests.people import client_of, role_of

pytestmark = pytest.mark.django_db(transaction=True)
UNCOMPARED = {"action": "release", "uncompared": "on"}


@pytest.fixture
def client() -> Client:
    made = client_of("Researcher")
    made.defaults["HTTP_HOST"] = "127.0.0.1"
    return made


def shown(client: Client) -> str:
    return client.get(reverse("books")).content.decode()


def settle(client: Client, **fields: str) -> str:
    """Return what the page says after it."""
    answer = client.post(reverse("settle_books"), fields, follow=True)
    return " ".join(str(message) for message in answer.context["messages"])


def a_row() -> dict[str, str]:
    hold = holds.current()
    assert hold is not None
    row = hold.books["rows"][0]
    return {"endpoint": row["endpoint"], "hit_id": row["hit_id"]}


def test_a_person_looks_adopts_and_lets_it_go_on_by_the_page(
    twice: Batch, site: Site, client: Client
) -> None:
    act = reverse("settle_books")
    client.post(act, {"action": "release"})
    assert holds.current() is not None
    client.post(act, {"action": "compare"})
    page = client.get(reverse("books")).content.decode()
    assert page.count("Adopt</button>") == 2
    row = holds.current().books["rows"][0]  # type: ignore[union-attr]
    client.post(act, {"action": "adopt", "endpoint": row["endpoint"], "hit_id": row["hit_id"]})
    assert "the books agree" in client.get(reverse("books")).content.decode()
    assert "Sending is held" in client.get(twice.get_absolute_url()).content.decode()
    client.post(act, {"action": "release"})
    assert (holds.current(), Hold.objects.get().released_by != "") == (None, True)
    assert (Batch.objects.get().status, marketplace.HIT.objects.count()) == ("open", 2)


def test_what_was_settled_is_gone_from_the_page_without_reading_all_accounts_again(
    twice: Batch, site: Site, client: Client
) -> None:
    Batch.objects.update(reward="0.50")
    reconciling.compare()
    site.wire.calls.clear()
    settle(client, action="expire", **a_row())
    assert (shown(client).count("Expire</button>"), site.wire.calls["ListHITs"]) == (1, 0)


def test_a_hold_over_an_account_that_is_gone_is_ended_on_the_page_by_who_accepts_what_it_says(
    twice: Batch, site: Site, client: Client, settings: Any
) -> None:
    make_hit_type(endpoint="production")
    settings.MTURK_ENDPOINTS = {"embedded": settings.MTURK_ENDPOINTS["embedded"]}
    sync.compare_if_due()
    page = shown(client)
    assert "The account can&#x27;t be read: KeyError" in page
    assert "Some things may be bought twice." in page
    assert "manage.py reconcile --release --uncompared" in page
    assert settle(client, action="release").startswith("The books have not been compared")
    assert holds.current() is not None
    assert settle(client, **UNCOMPARED) == "Sending goes on."
    assert (holds.current(), Hold.objects.get().released_by) == (None, "researcher")


def test_a_hold_that_nothing_has_compared_is_ended_on_the_page_too(twice: Batch, client: Client) -> None:
    assert "manage.py reconcile" in shown(client)
    settle(client, **UNCOMPARED)
    assert holds.current() is None


def test_the_page_says_whether_anybody_compares(twice: Batch, client: Client) -> None:
    assert "have not been compared yet" in shown(client)
    hold = holds.current()
    assert hold is not None
    Hold.objects.update(tried_at=timezone.now())
    with lease(hold):
        assert "being compared right now" in shown(client)
    assert "not all could be read" in shown(client)


@pytest.mark.parametrize("lacking", ["surveys.publish_batch", "annotators.change_hold"])
def test_who_may_not_publish_settles_nothing(twice: Batch, client: Client, lacking: str) -> None:
    reconciling.compare()
    role_of("Researcher").permissions.remove(
        role_of("Researcher").permissions.get(codename=lacking.partition(".")[2])
    )
    for fields in ({"action": "adopt", **a_row()}, {"action": "expire", **a_row()}, UNCOMPARED):
        assert client.post(reverse("settle_books"), fields).status_code == 403
    assert (holds.current() is not None, HIT.objects.count()) == (True, 0)
    assert client.get(reverse("books")).status_code == (403 if lacking == "surveys.publish_batch" else 200)


def test_a_member_of_another_team_neither_sees_nor_settles(twice: Batch, site: Site, client: Client) -> None:
    reconciling.compare()
    where = a_row()
    survey = Survey.objects.get()
    Survey.objects.update(is_shared=False)
    survey.team.add(User.objects.create_user("ada"))
    page = shown(client)
    assert (where["hit_id"] in page, "the books agree" in page) == (False, False)
    for action in ("adopt", "expire", "size"):
        assert (
            settle(client, action=action, **where) == "This difference is none that is shown here any more."
        )
    assert settle(client, **UNCOMPARED).endswith("a superuser lets it go on.")
    assert (Batch.objects.get().status, holds.current() is not None) == ("draft", True)
    assert marketplace.HIT.objects.filter(expires_at__lte=timezone.now()).count() == 0
    survey.team.add(User.objects.get(username="researcher"))
    assert settle(client, action="adopt", **where).endswith("has its HITs back.")


def test_a_member_of_another_team_does_not_adopt_by_another_way_in(
    twice: Batch, site: Site, client: Client
) -> None:
    row = reconciling.compare()[0]
    Survey.objects.update(is_shared=False)
    with pytest.raises(reconciling.CannotSettle):
        reconciling.adopt(row["endpoint"], row["hit_id"], by=User.objects.get(username="researcher"))
    assert Batch.objects.get().status == "draft"


def test_a_known_hit_of_another_team_is_not_shown(twice: Batch, site: Site, client: Client) -> None:
    reconciling.adopt(**a_row_found(), by=None)
    HIT.objects.update(max_assignments=8)
    reconciling.compare()
    where = a_row()
    assert where["hit_id"] in shown(client)
    Survey.objects.update(is_shared=False)
    assert where["hit_id"] not in shown(client)
    assert settle(client, action="size", **where).startswith("This difference is none")
    assert set(HIT.objects.values_list("max_assignments", flat=True)) == {8}


def a_row_found() -> dict[str, str]:
    row = reconciling.compare()[0]
    return {"endpoint": row["endpoint"], "hit_id": row["hit_id"]}


def test_a_strangers_hit_on_the_same_account_is_not_expired_by_its_id(
    twice: Batch, site: Site, client: Client
) -> None:
    theirs = marketplace.HIT.objects.order_by("pk")[0]
    marketplace.HIT.objects.filter(pk=theirs.pk).update(annotation="somebody-else")
    reconciling.compare()
    said = settle(client, action="expire", endpoint="embedded", hit_id=theirs.hit_id)
    assert said == "This difference is none that is shown here any more."
    assert marketplace.HIT.objects.get(pk=theirs.pk).expires_at > timezone.now()
