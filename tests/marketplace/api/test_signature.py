"""Who may call: signatures, clocks, and the demo key that is good on this machine alone."""

from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ClientError
from django.core.management import call_command
from django.db import IntegrityError

from marketplace.accounts import keys
from marketplace.models import AccessKey
from tests.marketplace.api.signing import send

DEMO = ("AKIDASSENTDEMO", "assent-demo-secret-loopback-only")


@pytest.fixture
def key(requester):
    row, secret = keys.create_key(requester)
    return row.key_id, secret


def test_a_signed_call_is_answered(key):
    assert send(key) == (200, "")


def test_no_call_is_asked_for_a_researchers_second_factor(key, settings):
    settings.REQUIRE_SECOND_FACTOR = True
    assert send(key) == (200, "")


def test_another_body_than_was_signed_is_refused(key):
    assert send(key, changed={"__body": b'{"HITId": "3A"}'}) == (400, "InvalidSignatureException")


def test_another_target_than_was_signed_is_refused(key):
    other = {"X-Amz-Target": "MTurkRequesterServiceV20170117.ListHITs"}
    assert send(key, changed=other) == (400, "InvalidSignatureException")


@pytest.mark.parametrize("minutes", [-16, 16])
def test_a_clock_that_is_wrong_by_more_than_a_quarter_of_an_hour_is_refused(key, minutes):
    moment = datetime.now(UTC) + timedelta(minutes=minutes)
    assert send(key, moment=moment) == (400, "InvalidSignatureException")


@pytest.mark.parametrize("minutes", [-14, 14])
def test_a_clock_that_is_wrong_by_less_is_accepted(key, minutes):
    assert send(key, moment=datetime.now(UTC) + timedelta(minutes=minutes)) == (200, "")


def test_the_marketplace_clock_does_not_matter(key, later):
    later(seconds=86_400)
    assert send(key) == (200, "")


def test_a_signature_for_another_service_is_refused(key):
    assert send(key, service="s3") == (400, "InvalidSignatureException")


def test_a_wrong_secret_is_refused(key):
    assert send((key[0], "wrong")) == (400, "InvalidSignatureException")


def test_an_unknown_key_is_refused(db):
    assert send(("AKIDNOBODY", "secret")) == (400, "UnrecognizedClientException")


def test_a_closed_key_is_refused(key):
    AccessKey.objects.update(is_active=False)
    assert send(key) == (400, "UnrecognizedClientException")


@pytest.mark.parametrize(
    ("header", "code"),
    [("", "MissingAuthenticationTokenException"), ("Bearer x", "IncompleteSignatureException")],
)
def test_an_unsigned_call_is_refused(key, header, code):
    assert send(key, changed={"Authorization": header}) == (400, code)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_the_demo_key_is_good_on_this_machine(db, address):
    call_command("loaddata", "marketplace_demo", verbosity=0)
    assert send(DEMO, REMOTE_ADDR=address) == (200, "")


@pytest.mark.parametrize(
    "environ",
    [
        {"REMOTE_ADDR": "10.0.0.7"},
        {"REMOTE_ADDR": ""},
        {"HTTP_X_FORWARDED_FOR": "10.0.0.7"},
        {"HTTP_X_FORWARDED_HOST": "work.example.org"},
        {"HTTP_X_FORWARDED_PROTO": "https"},
        {"HTTP_FORWARDED": "for=10.0.0.7"},
        {"HTTP_VIA": "1.1 proxy"},
        {"HTTP_X_REAL_IP": "10.0.0.7"},
        {"HTTP_CF_CONNECTING_IP": "10.0.0.7"},
        {"HTTP_CF_RAY": "8f"},
    ],
    ids=lambda environ: " ".join(environ),
)
def test_the_demo_key_is_good_nowhere_else(db, environ):
    call_command("loaddata", "marketplace_demo", verbosity=0)
    assert send(DEMO, **environ) == (400, "UnrecognizedClientException")


def test_an_own_key_is_good_everywhere(key):
    assert send(key, REMOTE_ADDR="10.0.0.7") == (200, "")


def test_an_unknown_operation_is_a_request_error(key):
    target = "MTurkRequesterServiceV20170117.MakeCoffee"
    assert send(key, target=target) == (400, "RequestError")


@pytest.mark.parametrize("body", [b"{", b"[]", b"7", b'"text"', b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_json_object_is_refused(key, body):
    assert send(key, body=body) == (400, "SerializationException")


def test_a_huge_body_is_refused(key):
    assert send(key, body=b" " * 3_000_000) == (413, "RequestEntityTooLargeException")


def test_a_secret_is_not_in_the_database(key):
    row = AccessKey.objects.values().get()
    assert key[1] not in {str(value) for value in row.values()}


def test_a_stored_secret_must_be_loopback_only(requester):
    with pytest.raises(IntegrityError):
        AccessKey.objects.create(key_id="AKID1", requester=requester, known_secret="known")


def test_boto3_reports_a_wrong_key_as_aws_does(connect, requester):
    with pytest.raises(ClientError) as caught:
        connect("AKIDNOBODY", "secret").get_account_balance()
    assert caught.value.response["Error"]["Code"] == "UnrecognizedClientException"
    assert (
        caught.value.response["Error"]["Message"] == "The security token included in the request is invalid."
    )
