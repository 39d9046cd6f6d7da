"""Nonsense is refused with a modelled error, never with a 5xx, and changes nothing."""

import json

import pytest
from django.test import Client
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from marketplace.accounts import keys
from marketplace.api import service_model
from marketplace.api.dispatch import OPERATIONS
from marketplace.models import HIT, Assignment, HITType, Worker
from tests.marketplace.api.signing import send

MEMBERS = sorted({name for operation in OPERATIONS for name in service_model.input_shape(operation).members})
TEXT = st.text(st.characters(), max_size=20)
SCALAR = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | TEXT
    | st.sampled_from(["3A", "0.10", "\x00", ""])
)
VALUE = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
)
BODY = st.dictionaries(st.sampled_from(MEMBERS), VALUE, max_size=6)
QUIET = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def key(requester):
    row, secret = keys.create_key(requester)
    return row.key_id, secret


@QUIET
@given(operation=st.sampled_from(sorted(OPERATIONS)), body=BODY)
@example("ListHITs", {"MaxResults": 10**400})
@example("UpdateExpirationForHIT", {"HITId": "3A", "ExpireAt": 10**400})
@example("UpdateExpirationForHIT", {"HITId": "3A", "ExpireAt": 253_402_300_799})
@example(
    "CreateHITType", {"Title": "\ud800", "Description": "d", "Reward": "1", "AssignmentDurationInSeconds": 30}
)
@example(
    "CreateHITType", {"Title": "\x00", "Description": "d", "Reward": "1", "AssignmentDurationInSeconds": 30}
)
@example(
    "CreateHITType", {"Title": "t", "Description": "d", "Reward": "1.", "AssignmentDurationInSeconds": 30}
)
@example("ListHITs", {"NextToken": "\x00"})
def test_calls(key, operation, body):
    target = f"MTurkRequesterServiceV20170117.{operation}"
    status, _ = send(key, target=target, body=json.dumps(body).encode())
    assert status in {200, 400}
    assert HIT.objects.count() == 0


@QUIET
@given(st.dictionaries(st.sampled_from(["assignmentId", "hitId", "workerId"]) | TEXT, TEXT, max_size=4))
@example({"assignmentId": "\x00", "answer": "yes"})
def test_submissions(db, form):
    client = Client(headers={"host": "localhost"})
    assert (
        client.post(
            "/mturk/externalSubmit", {name: value.encode("utf-8", "replace") for name, value in form.items()}
        ).status_code
        == 400
    )
    assert Assignment.objects.count() == 0


@QUIET
@given(TEXT)
@example("\x00")
@example("%")
def test_pages(db, text):
    client = Client(headers={"host": "localhost"})
    text = text.encode("utf-8", "replace").decode()
    assert client.get("/", {"q": text, "page": text}).status_code == 200
    assert client.get("/mturk/preview", {"groupId": text}).status_code in {302, 404}
    form = {"worker_id": text, "access_code": text, "next": text}
    assert client.post("/sign-in", form).status_code in {422, 429}
    assert (HITType.objects.count(), Worker.objects.count()) == (0, 0)
