"""Malformed calls and forms by the thousand: a modelled refusal each, and not one row changed by all of them.

FUZZ_CASES says how many (150; 10000 is the full storm), FUZZ_SEED which.
"""

import hashlib
import json
import os
from random import Random

import pytest
from django.apps import apps
from django.core import serializers
from django.test import Client

from marketplace.accounts import keys
from marketplace.models import CallRate, FailedSignIn, LoggedCall
from tests.marketplace.api.mutations import malformed
from tests.marketplace.api.signing import respond

CASES = int(os.environ.get("FUZZ_CASES", "150"))
SEED = int(os.environ.get("FUZZ_SEED", "1"))
BOOKKEEPING = (CallRate, FailedSignIn, LoggedCall)  # written because somebody called, whatever they asked
MODELLED = {
    "RequestError",
    "ParameterValidationError",
    "ValidationException",
    "SerializationException",
    "UnrecognizedClientException",
    "MissingAuthenticationTokenException",
    "IncompleteSignatureException",
    "InvalidSignatureException",
    "RequestEntityTooLargeException",
}


def fingerprint():
    """Return a digest of every row of the marketplace."""
    digest = hashlib.sha256()
    for model in apps.get_app_config("marketplace").get_models():
        if model not in BOOKKEEPING:
            rows = model._default_manager.order_by("pk")
            digest.update(serializers.serialize("json", rows).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def problem(status, body):
    """Return what is wrong with a refusal, None where it is as modelled."""
    try:
        answer = json.loads(body)
    except ValueError:
        return f"{status}: no JSON"
    code, text = answer.get("__type"), answer.get("Message") or answer.get("message")
    is_named = answer.get("TurkErrorCode", "").startswith("AWS.MechanicalTurk.") == (code == "RequestError")
    if not 400 <= status < 500 or code not in MODELLED or not text or not is_named:
        return f"{status}: {answer}"
    return None


@pytest.fixture(autouse=True)
def logged(settings):
    """Calls are logged, whatever is in them."""
    settings.MARKETPLACE_CONTROL_TOKEN = "let-me"


def test_malformed_calls_are_refused_and_change_nothing(scene, requester):
    row, secret = keys.create_key(requester)
    random, before = Random(SEED), fingerprint()
    for number in range(CASES):
        target, body, changed = malformed(random, scene)
        response = respond((row.key_id, secret), target=target, body=body, changed=changed)
        wrong = problem(response.status_code, response.content)
        assert wrong is None, (number, target, body[:500], changed, wrong)
    assert fingerprint() == before


IDS = ["3" + "Z" * 29, "A1NOBODY", "0", "%00", "..", "x" * 65, "é", "3A%0A", "<b>", "' or 1=1 --"]
TEXTS = ["", "\x00", "\ud800", "x" * 3000, "é", "<script>", "%", "1e400", "-1", "ASSIGNMENT_ID_NOT_AVAILABLE"]
PATHS = [
    "/mturk/externalSubmit",
    "/sign-in",
    "/projects/{}/tasks/accept_random",
    "/assignments/{}/return",
    "/assignments/{}/answers",
    "/qualifications/{}",
    "/control/reset",
    "/control/{}",
    "/frames/{}",
    "/{}",
]
NAMES = ["assignmentId", "hitId", "workerId", "worker_id", "access_code", "next", "answer", "\x00", "é"]


def form(random):
    """Return (path, fields) of a form that names nothing which exists."""
    path = random.choice(PATHS).format(random.choice(IDS))
    names = random.sample(NAMES, k=random.randrange(len(NAMES)))
    return path, {name: random.choice(TEXTS).encode("utf-8", "surrogatepass") for name in names}


def posted(client, random, path, fields):
    kinds = ["application/json", "multipart/form-data", "text/plain", "application/x-www-form-urlencoded", ""]
    if random.random() < 0.7:
        return client.post(path, fields)
    return client.generic(
        "POST", path, random.randbytes(random.randrange(200)), content_type=random.choice(kinds)
    )


def test_malformed_forms_are_refused_and_change_nothing(scene, new_worker):
    random = Random(SEED)
    clients = [new_worker().client, Client(headers={"host": "localhost"})]
    before = fingerprint()
    for number in range(CASES):
        path, fields = form(random)
        response = posted(clients[number % 2], random, path, fields)
        is_refused = 400 <= response.status_code < 500
        asks_to_sign_in = response.status_code == 302 and response["Location"].startswith("/sign-in?")
        assert is_refused or asks_to_sign_in, (number, path, fields, response.status_code)
    assert fingerprint() == before


@pytest.mark.parametrize(
    "path", ["/sign-in", "/join", "/projects/3A/tasks/accept_random", "/assignments/3A/return"]
)
def test_forms_from_elsewhere_are_refused(db, path):
    client = Client(headers={"host": "localhost"}, enforce_csrf_checks=True)
    before = fingerprint()
    assert client.post(path, {"worker_id": "A1"}).status_code == 403
    assert fingerprint() == before
