"""The control API: closed by default, deterministic when open."""

import pytest
from django.apps import apps
from django.core import serializers
from django.test import Client

from marketplace import clock
from marketplace.models import Worker

OPEN = {"authorization": "Bearer let-me"}
STEP = {"worker": "A1", "hit": "3A", "do": "accept"}


@pytest.fixture
def call(settings, db):
    settings.MARKETPLACE_CONTROL_TOKEN = "let-me"

    def call(name, body=None, *, headers=OPEN, method="post"):
        client = Client(headers={"host": "localhost", **headers}, enforce_csrf_checks=True)
        if method == "get":
            response = client.get(f"/control/{name}")
        else:
            response = client.post(f"/control/{name}", body, content_type="application/json")
        return response.status_code, response.json()

    return call


def test_without_a_setting_it_is_closed(call, settings):
    settings.MARKETPLACE_CONTROL_TOKEN = ""
    assert call("advance", {"seconds": 5}, headers={"authorization": "Bearer "})[0] == 404


@pytest.mark.parametrize("header", ["", "Bearer wrong", "let-me"])
def test_without_the_token_it_is_closed(call, header):
    assert call("workers", {"count": 1, "seed": 1}, headers={"authorization": header})[0] == 401
    assert Worker.objects.count() == 0


def test_workers_follow_from_the_seed_and_can_sign_in(call):
    status, pairs = call("workers", {"count": 3, "seed": 7})
    assert (status, len({row["worker_id"] for row in pairs})) == (200, 3)
    assert call("workers", {"count": 3, "seed": 7}) == (200, pairs)
    assert call("workers", {"count": 3, "seed": 8})[1][0] != pairs[0]
    assert Worker.objects.count() == 6
    client = Client(headers={"host": "localhost"})
    assert client.post("/sign-in", pairs[2]).status_code == 302


def test_the_clock_moves_forward(call):
    before = clock.now()
    status, answer = call("advance", {"seconds": 86_400})
    assert (status, list(answer)) == (200, ["now"])
    assert 86_400 <= (clock.now() - before).total_seconds() < 86_460


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("advance", {"seconds": -1}),
        ("advance", {"seconds": "5"}),
        ("advance", {}),
        ("advance", [5]),
        ("workers", {"count": 0, "seed": 1}),
        ("workers", {"count": 1}),
        ("workers", "{"),
        ("faults", {"kind": "flood"}),
        ("faults", {"kind": "throttle", "operation": "EatHIT"}),
        ("faults", {"kind": "throttle", "times": 0}),
        ("faults", {"kind": "lag", "seconds": 301}),
        ("faults", {"kind": "duplicate", "operation": "GetHIT"}),
        ("faults", {"kind": "lag", "seconds": "5"}),
        ("faults", {"kind": "lag", "requester": "Nobody"}),
        ("faults", {"kind": "lag", "requester": "\x00"}),
        ("reset", {}),
        ("reset", {"requester": "\ud800"}),
        ("reset", {"everything": "yes"}),
        ("reset", {"everything": True, "requester": "Vision Lab"}),
        ("reset", {"requester": "Nobody"}),
        ("bots", {"requester": "Vision Lab", "steps": []}),
        ("bots", {"requester": "Vision Lab", "steps": [5]}),
        ("bots", {"requester": "Nobody", "steps": [STEP]}),
        ("bots", {"requester": "Vision Lab", "steps": [STEP] * 1001}),
        ("bots", {"requester": "Vision Lab", "steps": [STEP | {"do": "sleep"}]}),
        ("bots", {"requester": "Vision Lab", "steps": [STEP | {"type": "3A"}]}),
        ("bots", {"requester": "Vision Lab", "steps": [STEP | {"worker": 5}]}),
        ("bots", {"requester": "Vision Lab", "steps": [STEP | {"worker": "\ud800"}]}),
        ("bots", {"requester": "Vision Lab", "steps": [STEP | {"answers": {"a": 5}}]}),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(call, requester, name, body):
    before = dump()
    assert call(name, body)[0] == 400
    assert dump() == before


def dump():
    """Return all rows of the marketplace as JSON."""
    rows = [row for model in apps.get_app_config("marketplace").get_models() for row in model.objects.all()]
    return serializers.serialize("json", rows)


@pytest.mark.parametrize("name", ["advance", "workers", "faults", "bots", "reset"])
def test_a_closed_api_changes_nothing(call, settings, requester, name):
    settings.MARKETPLACE_CONTROL_TOKEN = ""
    before = dump()
    body = {"seconds": 5, "count": 1, "seed": 1, "kind": "throttle", "everything": True, "steps": [STEP]}
    assert call(name, body)[0] == 404
    assert dump() == before


def test_only_the_right_method(call):
    assert call("advance", method="get")[0] == 405


def test_the_ledger_is_read(call, requester):
    assert call("ledger", method="get") == (
        200,
        {
            "is_sound": True,
            "requesters": [
                {
                    "requester": "Vision Lab",
                    "deposited": "1000.00",
                    "available": "1000.00",
                    "held": "0.00",
                    "bonuses": "0.00",
                    "rewards": "0.00",
                    "fees": "0.00",
                    "charged": "0.00",
                    "approved": 0,
                    "problems": [],
                }
            ],
        },
    )
