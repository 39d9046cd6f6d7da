"""The gateway over a real wire: our boto3 against the embedded marketplace, or against replies it never gives."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import boto3
import botocore
import pytest

from annotators.crowds.mturk import gateway as gateway_module
from annotators.crowds.mturk.gateway import (
    AlreadyProcessed,
    Gateway,
    HITGone,
    HITRecord,
    NotReady,
    Refused,
    Unreachable,
    WrongState,
)
from annotators.crowds.mturk.questions import external_question, parse_answers
from tests.market_site import ProxyHandler, Site

JSON = {"Content-Type": "application/x-amz-json-1.1"}
TERMS: dict[str, Any] = {
    "title": "Judge explanations",
    "description": "Five questions about pictures.",
    "keywords": "image, question",
    "reward": Decimal("0.38"),
    "assignment_duration": timedelta(hours=1),
    "auto_approval_delay": timedelta(days=3),
}


def offer(site: Site, **changes: Any) -> HITRecord:
    arguments: dict[str, Any] = {
        "hit_type_id": site.gateway.create_hit_type(**TERMS),
        "question": external_question("https://lab.example/hits/1/?a=1&b=2"),
        "lifetime": timedelta(days=1),
        "max_assignments": 2,
        "annotation": "create:1",
        "token": "create:1",
    }
    return site.gateway.create_hit(**{**arguments, **changes})


def reply(site: Site, operation: str, *, status: int = 400, **body: str) -> None:
    site.wire.replies[operation] = (status, JSON, json.dumps(body).encode())


def request_error(code: str, message: str) -> dict[str, str]:
    return {
        "__type": "RequestError",
        "Message": f"{message} (1624047673908)",
        "TurkErrorCode": f"AWS.MechanicalTurk.{code}",
    }


def test_equal_terms_are_one_hit_type(site: Site) -> None:
    first, again = site.gateway.create_hit_type(**TERMS), site.gateway.create_hit_type(**TERMS)
    other = site.gateway.create_hit_type(**{**TERMS, "reward": Decimal("0.40")})
    assert (first == again, first == other) == (True, False)


def test_a_hit_is_what_was_offered(site: Site) -> None:
    hit = offer(site)
    assert (hit.status, hit.max_assignments, hit.requester_annotation) == ("Assignable", 2, "create:1")
    assert hit.expires_at - hit.created_at == timedelta(days=1)
    assert hit.created_at.tzinfo is not None
    assert site.gateway.get_hit(hit.hit_id) == hit


def test_a_used_token_names_the_hit(site: Site) -> None:
    hit = offer(site)
    with pytest.raises(AlreadyProcessed) as caught:
        offer(site)
    assert caught.value.hit_id == hit.hit_id


def test_a_hit_is_found_by_its_annotation_beyond_the_first_page(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway_module, "PAGE", 2)
    hits = [offer(site, token=f"t{n}", annotation=f"create:{n}") for n in range(5)]
    assert [site.gateway.find_hit(annotation=f"create:{n}") for n in range(5)] == hits
    assert site.gateway.find_hit(annotation="create:5") is None


def test_every_page_of_assignments_is_read(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_module, "PAGE", 2)
    hit = offer(site, max_assignments=5)
    accepted = [site.accept(hit) for _ in range(5)]
    for assignment in accepted:
        site.submit(assignment, answer="да & 😀")
    found = site.gateway.list_assignments(hit.hit_id)
    assert {a.assignment_id for a in found} == {a.assignment_id for a in accepted}
    assert [parse_answers(a.answer_xml) for a in found] == [{"answer": "да & 😀"}] * 5
    assert site.wire.calls["ListAssignmentsForHIT"] >= 3


@pytest.mark.parametrize(("most", "pages", "found"), [(0, 1, 2), (2, 1, 2), (3, 2, 3), (4, 3, 3)])
def test_no_page_is_read_beyond_what_was_handed_in(
    site: Site, monkeypatch: pytest.MonkeyPatch, most: int, pages: int, found: int
) -> None:
    monkeypatch.setattr(gateway_module, "PAGE", 2)
    hit = offer(site, max_assignments=4)
    for accepted in [site.accept(hit) for _ in range(3)]:
        site.submit(accepted, answer="yes")
    listed = site.gateway.list_assignments(hit.hit_id, most=most)
    assert (len(listed), site.wire.calls["ListAssignmentsForHIT"]) == (found, pages)


def test_accepted_work_is_not_listed(site: Site) -> None:
    hit = offer(site)
    accepted = site.accept(hit)
    assert site.gateway.list_assignments(hit.hit_id) == []
    with pytest.raises(WrongState, match="status of: Reviewable,Approved,Rejected"):
        site.gateway.get_assignment(accepted.assignment_id)


def test_approval_before_the_submission_is_seen_waits(site: Site) -> None:
    accepted = site.accept(offer(site))
    with pytest.raises(NotReady, match="status of: null"):
        site.gateway.approve(accepted.assignment_id)


def test_rejection_with_its_reason_then_overturned(site: Site) -> None:
    done = site.submit(site.accept(offer(site)))
    site.gateway.reject(done.assignment_id, feedback="1 of 5 — «да»")
    rejected = site.gateway.get_assignment(done.assignment_id)
    assert (rejected.status, rejected.feedback, rejected.approved_at) == ("Rejected", "1 of 5 — «да»", None)
    assert rejected.rejected_at is not None
    site.gateway.approve(done.assignment_id, feedback="Sorry.", override_rejection=True)
    approved = site.gateway.get_assignment(done.assignment_id)
    assert (approved.status, approved.feedback) == ("Approved", "Sorry.")
    assert approved.approved_at is not None


def test_a_second_decision_is_a_wrong_state(site: Site) -> None:
    done = site.submit(site.accept(offer(site)))
    site.gateway.approve(done.assignment_id)
    with pytest.raises(WrongState, match="status of: Submitted"):
        site.gateway.reject(done.assignment_id, feedback="No.")


def test_extension_once_a_token(site: Site) -> None:
    hit = offer(site)
    site.gateway.extend(hit.hit_id, n=1, token="replace:1")
    with pytest.raises(AlreadyProcessed):
        site.gateway.extend(hit.hit_id, n=1, token="replace:1")
    assert site.gateway.get_hit(hit.hit_id).max_assignments == 3


def test_nine_assignments_cant_become_ten(site: Site) -> None:
    hit = offer(site, max_assignments=9)
    with pytest.raises(Refused, match="cannot be extended to 10"):
        site.gateway.extend(hit.hit_id, n=1, token="replace:1")


def test_expiration_moves_and_needs_a_time_zone(site: Site) -> None:
    hit, when = offer(site), datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
    with pytest.raises(ValueError, match="time zone"):
        site.gateway.expire_at(hit.hit_id, when=when.replace(tzinfo=None))
    site.gateway.expire_at(hit.hit_id, when=when)
    assert site.gateway.get_hit(hit.hit_id).expires_at == when
    with pytest.raises(AlreadyProcessed):
        site.gateway.expire_at(hit.hit_id, when=when)


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (400, {"__type": "ThrottlingException", "message": "Rate exceeded"}, NotReady),
        (400, request_error("InvalidAssignmentState", "... with a status of: null"), NotReady),
        (400, request_error("InvalidAssignmentState", "... with a status of: Submitted"), WrongState),
        (400, request_error("InvalidHITState", "It is currently in the state 'Disposed'"), WrongState),
        (400, request_error("HITDoesNotExist", "Hit X does not exist."), HITGone),
        (400, request_error("InsufficientFunds", "This Requester has insufficient funds"), Refused),
        (400, request_error("AccountNotLinked", "To use the MTurk API"), Refused),
        (
            400,
            request_error("Whatever", 'The idempotency token "t" has already been processed.'),
            AlreadyProcessed,
        ),
        (400, {"__type": "ParameterValidationError", "Message": "The value is not valid"}, Refused),
        (400, {"__type": "UnrecognizedClientException", "message": "The security token is invalid"}, Refused),
        (500, {"__type": "ServiceFault", "Message": "A fault"}, Unreachable),
        (503, {}, Unreachable),
    ],
)
def test_errors_are_translated_once(
    site: Site, status: int, body: dict[str, str], expected: type[Exception]
) -> None:
    reply(site, "GetHIT", status=status, **body)
    with pytest.raises(expected) as caught:
        site.gateway.get_hit("3ABC")
    assert type(caught.value) is expected
    assert str(caught.value).startswith(body.get("Message") or body.get("message") or "An error occurred")


def test_a_lost_answer_is_unreachable(site: Site) -> None:
    site.wire.lose.add("GetHIT")
    with pytest.raises(Unreachable):
        site.gateway.get_hit("3ABC")
    assert site.wire.calls["GetHIT"] == 4


def test_a_lost_answer_is_asked_for_again(site: Site) -> None:
    """botocore repeats by itself; the token keeps it one HIT."""
    site.wire.lose.add("CreateHITWithHITType")
    with pytest.raises((AlreadyProcessed, Unreachable)):
        offer(site)
    assert site.wire.calls["CreateHITWithHITType"] == 4
    site.wire.heal()
    with pytest.raises(AlreadyProcessed):
        offer(site)


def test_nobody_listening_is_not_ready(settings: Any) -> None:
    ends = settings.MTURK_ENDPOINTS
    settings.MTURK_ENDPOINTS = {
        **ends,
        "embedded": {**ends["embedded"], "endpoint_url": "http://localhost:9"},
    }
    with pytest.raises(NotReady):
        Gateway("embedded").get_hit("3ABC")


def test_a_call_boto3_wont_send_is_refused(site: Site) -> None:
    with pytest.raises(Refused, match="AssignmentId"):
        site.gateway.approve("")
    assert site.wire.calls["ApproveAssignment"] == 0


def test_missing_credentials_wait(site: Site, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    endpoint = {"endpoint_url": settings.MTURK_ENDPOINTS["embedded"]["endpoint_url"]}
    settings.MTURK_ENDPOINTS = {**settings.MTURK_ENDPOINTS, "embedded": endpoint}
    with pytest.raises(NotReady, match="credentials"):
        Gateway("embedded").get_hit("3ABC")


def test_a_call_says_who_makes_it(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """AWS's terms for programs of one's own: the SDK by name and version, then the program."""
    said: list[str] = []
    forward = ProxyHandler.forward

    def note(handler: ProxyHandler, body: bytes) -> Any:
        said.append(handler.headers["User-Agent"])
        return forward(handler, body)

    monkeypatch.setattr(ProxyHandler, "forward", note)
    site.gateway.balance()
    (user_agent,) = said
    assert user_agent == f"Boto3/{boto3.__version__} assent-embedded Botocore/{botocore.__version__}"
