"""The outbox in the admin site: found by state, operation and token, and never changed by hand."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotators.models import Call
from annotators.outbox.journal import plan

pytestmark = pytest.mark.django_db
LIST = "/admin/annotators/call/"


@pytest.fixture
def operator() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    return client


@pytest.fixture
def calls() -> dict[str, Call]:
    made = {
        state: plan(f"{state}:1", Call.Operation.EXPIRE, arguments={}, endpoint="embedded")
        for state in ("unknown", "planned", "sent", "done", "refused")
    }
    for state, call in made.items():
        Call.objects.filter(pk=call.pk).update(
            state=state, finished_at=timezone.now(), sent_at=timezone.now()
        )
    return made


def listed(client: Client, query: str = "") -> list[str]:
    return [call.token for call in client.get(LIST + query).context["cl"].result_list]


def test_calls_without_an_outcome_come_first_and_unknown_ones_are_marked(
    operator: Client, calls: dict[str, Call]
) -> None:
    assert listed(operator) == ["unknown:1", "sent:1", "planned:1", "refused:1", "done:1"]
    html = operator.get(LIST).content.decode()
    assert html.count("<strong>⚠ Sent, outcome unknown</strong>") == 1


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("?state__exact=done", ["done:1"]),
        ("?operation__exact=SendBonus", []),
        ("?q=refused:1", ["refused:1"]),
        ("?unsettled=1", ["unknown:1"]),
    ],
)
def test_it_is_found(operator: Client, calls: dict[str, Call], query: str, found: list[str]) -> None:
    assert listed(operator, query) == found


def test_nobody_changes_it_by_hand(operator: Client, calls: dict[str, Call]) -> None:
    address = f"{LIST}{calls['unknown'].pk}/change/"
    assert operator.get(address).status_code == 200
    assert [
        operator.post(url, {"state": "done"}).status_code
        for url in (address, f"{LIST}add/", address.replace("change", "delete"))
    ] == [403, 403, 403]
    assert Call.objects.get(pk=calls["unknown"].pk).state == "unknown"
