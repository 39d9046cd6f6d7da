"""Addresses and codes nobody can make up, a panel's parameters, and decisions without a marketplace."""

import uuid
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core import signing

from annotators.crowds.base import HITTypeTerms
from annotators.crowds.links import addresses
from annotators.crowds.links import work as link_work
from annotators.crowds.links.addresses import BadLink, Holder, ParameterNames
from annotators.models import HIT, Assignment, HITType
from tests.factories import make_assignment, make_hit, make_hit_type

KEY = uuid.UUID("12345678123456781234567812345678")
NAMES = ParameterNames()
TERMS = HITTypeTerms("Title", "Words", "", Decimal(0), timedelta(hours=1), timedelta(days=3))


@pytest.mark.parametrize("kind", ["invitation", "visit"])
def test_an_address_says_whose_it_is(kind) -> None:
    token = addresses.issue(Holder(kind, KEY))
    assert addresses.read(token) == Holder(kind, KEY)
    assert token.replace(".", "").replace("-", "").replace("_", "").isalnum()


def test_nothing_but_what_we_signed_is_read() -> None:
    token = addresses.issue(Holder("invitation", KEY))
    text = "i" + KEY.hex
    others = [
        "",
        "x",
        text,
        token[:-1],
        "v" + token[1:],
        token + "a",
        signing.Signer(salt="surveys.hit", sep=".").sign(text),
        signing.Signer(sep=".").sign(text),
    ]
    for other in others:
        with pytest.raises(BadLink, match="not complete"):
            addresses.read(other)


@pytest.mark.parametrize("text", ["x" + KEY.hex, "i", "i123", ""])
def test_what_we_signed_for_something_else_is_not_read(text) -> None:
    with pytest.raises(BadLink):
        addresses.read(signing.Signer(salt=addresses.SALT, sep=".").sign(text))


def test_access_codes_are_random_and_easy_to_read() -> None:
    codes = {addresses.new_access_code() for _ in range(50)}
    assert len(codes) == 50
    assert {len(code) for code in codes} == {10}
    assert set("".join(codes)) <= set(addresses.CODE_ALPHABET)


def test_a_code_is_known_by_its_hash_however_it_is_typed() -> None:
    hashed = addresses.hashed_code("abcde23456")
    assert "abcde23456" not in hashed
    assert hashed != addresses.hashed_code("abcde23456")
    assert [
        addresses.is_code(code, hashed=hashed) for code in ("abcde23456", " ABCDE-23456 ", "abcde 23456")
    ] == [True] * 3
    assert [addresses.is_code(code, hashed=hashed) for code in ("abcde23457", "", hashed)] == [False] * 3
    assert [addresses.is_code(code, hashed="") for code in ("", "abcde23456")] == [False] * 2


def test_prolifics_parameters_are_read_without_being_named() -> None:
    params = {"PROLIFIC_PID": " 5f2a ", "STUDY_ID": "s-1", "SESSION_ID": "x_1", "other": "<b>"}
    person = addresses.read_panel(params, names=NAMES, provider="prolific")
    assert (person.worker_id, person.study, person.session) == ("5f2a", "s-1", "x_1")


def test_a_panel_may_name_its_own_parameters_and_leave_some_out() -> None:
    names = ParameterNames(worker="pid", study="", session="sid")
    person = addresses.read_panel({"pid": "77", "": "x"}, names=names, provider="cloud")
    assert (person.worker_id, person.study, person.session) == ("77", "", "")


@pytest.mark.parametrize(
    "value", ["", "  ", "{{%PROLIFIC_PID%}}", "a b", "a:b", "a/../b", "é", "a\n", "<x>", "a" * 56]
)
def test_what_is_no_worker_id_is_refused(value) -> None:
    if value == "a\n":
        value = "a\nb"
    with pytest.raises(BadLink, match="start again"):
        addresses.read_panel({"PROLIFIC_PID": value}, names=NAMES, provider="prolific")


def test_the_longest_id_still_fits_beside_its_provider() -> None:
    person = addresses.read_panel({"PROLIFIC_PID": "a" * 55}, names=NAMES, provider="prolific")
    assert len(f"prolific:{person.worker_id}") == 64


@pytest.mark.parametrize("name", ["STUDY_ID", "SESSION_ID"])
def test_a_strange_study_or_session_is_refused(name) -> None:
    with pytest.raises(BadLink, match=name):
        addresses.read_panel({"PROLIFIC_PID": "5f2a", name: "{{%X%}}"}, names=NAMES, provider="prolific")


@pytest.mark.django_db
def test_our_own_hits_are_made_once() -> None:
    pair = [link_work.own_hit_type(TERMS, name="batch-1") for _ in range(2)]
    places, lifetime = {"Labc": 3, "Ldef": 1}, timedelta(days=1)
    hits = [link_work.own_hits(pair[0], places=places, lifetime=lifetime) for _ in range(2)]
    assert (pair[0], hits[0]) == (pair[1], hits[1])
    assert (HITType.objects.count(), HIT.objects.count()) == (1, 2)
    hit = HIT.objects.get(pk=hits[0]["Labc"])
    assert (hit.endpoint, hit.max_assignments, hit.hit_type.reward) == ("link", 3, Decimal(0))


def by_link(**values) -> Assignment:
    hit = make_hit(hit_type=make_hit_type(endpoint="link"))
    return make_assignment(
        hit, **{"channel": "link", "assignment_id": link_work.new_assignment_id(), **values}
    )


@pytest.mark.django_db
def test_answers_are_handed_in_once_they_are_saved() -> None:
    assignment = by_link()
    assert link_work.submit(assignment) is False
    Assignment.objects.update(saved_at=assignment.loaded_at)
    assert [link_work.submit(assignment), link_work.submit(assignment)] == [True, False]
    assert assignment.status == "Submitted"
    assert assignment.submitted_at >= assignment.accepted_at


@pytest.mark.django_db
def test_the_first_decision_stands() -> None:
    assignment = by_link(status="Submitted")
    done = [link_work.reject(assignment, feedback="2 of 5"), link_work.approve(assignment, feedback="Thanks")]
    assert done == [True, False]
    assert (assignment.status, assignment.feedback, assignment.approved_at) == ("Rejected", "2 of 5", None)


@pytest.mark.django_db
def test_a_rejection_is_taken_back() -> None:
    assignment = by_link(status="Rejected")
    assert [
        link_work.overturn(assignment, feedback="Sorry"),
        link_work.overturn(assignment, feedback="?"),
    ] == [
        True,
        False,
    ]
    assert (assignment.status, assignment.feedback) == ("Approved", "Sorry")
    assert assignment.approved_at is not None


@pytest.mark.django_db
def test_the_marketplaces_work_is_not_ours_to_decide() -> None:
    assignment = make_assignment(make_hit(), status="Submitted", saved_at=None)
    done = [
        link_work.approve(assignment, feedback=""),
        link_work.reject(assignment, feedback="x"),
        link_work.submit(assignment),
    ]
    assert done == [False, False, False]
    assert assignment.status == "Submitted"
