"""Appeals: codes in rejections, and what is written with them."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from surveys.models import Appeal, AuditEntry, Decision
from surveys.review import appeal_codes
from tests import builders, factories

pytestmark = pytest.mark.django_db
SHAPE = re.compile(r"[a-hj-km-np-z2-9]{5}(-[a-hj-km-np-z2-9]{5}){3}")


@pytest.fixture(autouse=True)
def app_url(settings):
    settings.APP_URL = "https://assent.example.org"


def rejected(name: str = "study"):
    return factories.make_assignment(builders.make_questionnaire(name=name).hit, status="Rejected")


def test_the_message_is_the_reason_then_where_and_with_which_code_to_appeal():
    assignment = rejected()
    message = appeal_codes.with_code(
        assignment, "You answered 1 of 5 questions correctly; at least 3 are needed."
    )
    code = Appeal.objects.get(assignment=assignment).code
    assert message == (
        "You answered 1 of 5 questions correctly; at least 3 are needed. If you think this is wrong, write to us at "
        f"https://assent.example.org/appeals/{code}/."
    )


def test_a_retry_says_the_same_and_makes_no_second_code():
    assignment = rejected()
    assert appeal_codes.with_code(assignment, "No.") == appeal_codes.with_code(assignment, "No.")
    assert Appeal.objects.count() == 1


def test_codes_differ_and_hold_nothing_that_reads_like_something_else():
    appeal_codes.with_code(rejected("a"), "No.")
    appeal_codes.with_code(rejected("b"), "No.")
    codes = list(Appeal.objects.values_list("code", flat=True))
    assert len(set(codes)) == 2
    assert all(SHAPE.fullmatch(code) for code in codes)


def test_the_longest_reason_a_person_may_write_is_not_cut():
    reason = "x" * appeal_codes.REASON_MAX
    message = appeal_codes.with_code(rejected(), reason)
    assert message.startswith(reason + " If you think")
    assert len(message) <= 1024


@pytest.mark.parametrize("length", [1024, 5000])
def test_a_longer_reason_is_cut_visibly_and_the_code_still_fits(length):
    assignment = rejected()
    message = appeal_codes.with_code(assignment, "x" * length)
    assert len(message) == 1024
    assert " […] The whole reason is at the address below. If you think" in message
    assert message.endswith(f"/appeals/{assignment.appeal.code}/.")


@pytest.mark.parametrize(
    "typed",
    [
        "abcde-fghjk-mnpqr-stuvw",
        " ABCDE FGHJK MNPQR STUVW ",
        "abcdefghjkmnpqrstuvw",
        "abcde–fghjk—mnpqr.stuvw.",
    ],
)
def test_a_code_is_read_however_it_was_typed(typed):
    assert appeal_codes.read_code(typed) == "abcde-fghjk-mnpqr-stuvw"


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "abcde",
        "abcde-fghjk-mnpqr-stuv0",
        "abcde-fghjk-mnpqr-stuvwx",
        "abcde\x00fghjkmnpqrstuvw",
        "é" * 20,
        "\ud800" * 20,
    ],
)
def test_what_can_be_no_code_is_none(typed):
    assert appeal_codes.read_code(typed) == ""


def test_an_appeal_is_found_by_its_code_alone():
    appeal_codes.with_code(rejected("a"), "No.")
    wanted = rejected("b")
    appeal_codes.with_code(wanted, "No.")
    assert appeal_codes.find(wanted.appeal.code) == wanted.appeal
    assert appeal_codes.find("abcde-fghjk-mnpqr-stuvw") is None


def test_what_the_worker_says_is_kept_once_and_put_on_record():
    assignment = rejected()
    appeal_codes.with_code(assignment, "No.")
    assert appeal_codes.make(assignment.appeal, text="I did look.") is True
    assert appeal_codes.make(assignment.appeal, text="Something else.") is False
    assert Appeal.objects.get().text == "I did look."
    entries = AuditEntry.objects.values_list("kind", "outcome", "assignment", "actor", "reason")
    assert list(entries) == [("appeal", "made", assignment.pk, None, "")]


def test_waiting_are_appeals_that_were_made_and_not_answered_the_oldest_first():
    appeals = []
    for name in ("new", "old", "silent", "answered", "overturned"):
        assignment = rejected(name)
        appeal_codes.with_code(assignment, "No.")
        appeals.append(assignment.appeal)
    new, old, _silent, answered, overturned = appeals
    now = timezone.now()
    for appeal in (old, new, answered, overturned):
        appeal_codes.make(appeal, text="Why?")
    Appeal.objects.filter(pk=old.pk).update(made_at=now - timedelta(days=2))
    Appeal.objects.filter(pk=answered.pk).update(outcome="upheld", answer="So.", answered_at=now)
    Decision.objects.create(
        assignment=overturned.assignment,
        verdict="reject",
        reason="No.",
        decided_at=now,
        overturned_at=now,
        overturn_reason="Our mistake.",
    )
    assert list(appeal_codes.waiting()) == [old, new]
