"""Answering appeals: once, with a reason, and with the rejection taken back where that is the answer."""

import threading

import pytest
from django.contrib.auth.models import User
from django.db import connection

from surveys.models import Appeal, AuditEntry, Decision, Inclusion
from surveys.review.appeals import answer_appeal
from surveys.review.errors import CannotDecide
from tests import builders
from tests.appeals import appealed, rejected, replaced

pytestmark = pytest.mark.django_db


@pytest.fixture
def carla():
    return User.objects.create_user("carla")


@pytest.fixture
def appeal(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    return appealed(builders.make_questionnaire())


def answered(appeal: Appeal) -> tuple[str, str, str | None]:
    appeal.refresh_from_db()
    return appeal.outcome, appeal.answer, appeal.answered_by and appeal.answered_by.get_username()


def outcomes() -> list[tuple[str, str, str | None, str]]:
    rows = AuditEntry.objects.order_by("pk").values_list("kind", "outcome", "actor__username", "reason")
    return [row for row in rows if row[2]]


def test_a_rejection_that_stays_is_answered_and_nothing_else_changes(appeal, carla):
    answer_appeal(appeal, outcome="upheld", answer=" Two of five. ", by=carla)
    assert answered(appeal) == ("upheld", "Two of five.", "carla")
    assert Decision.objects.get().overturned_at is None
    assert outcomes() == [("appeal", "upheld", "carla", "Two of five.")]


def test_overturning_is_recorded_with_the_answer_as_its_reason(appeal, carla):
    answer_appeal(appeal, outcome="overturned", answer="Our gold answer was wrong.", by=carla)
    decision = Decision.objects.get()
    assert (decision.overturned_by, decision.overturn_reason) == (carla, "Our gold answer was wrong.")
    assert answered(appeal) == ("overturned", "Our gold answer was wrong.", "carla")
    assert {row[:2] for row in outcomes()} == {("payment", "overturn"), ("appeal", "overturned")}


@pytest.mark.parametrize("use_answers", [False, True])
def test_answers_whose_place_is_given_again_are_used_if_asked_for(appeal, carla, use_answers):
    replaced(appeal.assignment)
    answer_appeal(appeal, outcome="overturned", answer="Our mistake.", by=carla, use_answers=use_answers)
    assert Inclusion.objects.filter(is_included=False).exists() == (not use_answers)


def test_the_first_answer_stays(appeal, carla):
    answer_appeal(appeal, outcome="upheld", answer="Two of five.", by=carla)
    with pytest.raises(CannotDecide, match="carla has answered this appeal already"):
        answer_appeal(appeal, outcome="overturned", answer="Sorry.", by=User.objects.create_user("dora"))
    assert answered(appeal) == ("upheld", "Two of five.", "carla")
    assert Decision.objects.get().overturned_at is None


@pytest.mark.parametrize("answer", ["", "  \n"])
def test_an_answer_says_something(appeal, carla, answer):
    with pytest.raises(CannotDecide, match="needs an answer"):
        answer_appeal(appeal, outcome="upheld", answer=answer, by=carla)
    assert answered(appeal) == ("", "", None)


def test_what_cannot_be_overturned_any_more_leaves_the_appeal_open(settings, tmp_path, carla):
    settings.MEDIA_ROOT = tmp_path
    appeal = appealed(builders.make_questionnaire(), days_ago=31)
    with pytest.raises(CannotDecide, match="within 30 days"):
        answer_appeal(appeal, outcome="overturned", answer="Sorry.", by=carla)
    assert answered(appeal) == ("", "", None)
    assert outcomes() == []
    answer_appeal(appeal, outcome="upheld", answer="Too late; you get a bonus.", by=carla)
    assert answered(appeal)[0] == "upheld"


def test_nobody_answers_what_was_never_asked(settings, tmp_path, carla):
    settings.MEDIA_ROOT = tmp_path
    with pytest.raises(CannotDecide, match="Nobody has appealed"):
        answer_appeal(rejected(builders.make_questionnaire()), outcome="upheld", answer="Hello?", by=carla)


@pytest.mark.django_db(transaction=True)
def test_of_two_researchers_at_once_one_answers(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    appeal = appealed(builders.make_questionnaire())
    people = [User.objects.create_user(name) for name in ("carla", "dora")]
    barrier, refused = threading.Barrier(2), []

    def answer(person: User, outcome: str) -> None:
        barrier.wait()
        try:
            answer_appeal(Appeal.objects.get(), outcome=outcome, answer=outcome, by=person)
        except CannotDecide:
            refused.append(outcome)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=answer, args=args)
        for args in zip(people, ["overturned", "upheld"], strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    appeal.refresh_from_db()
    assert refused == [{"overturned": "upheld", "upheld": "overturned"}[appeal.outcome]]
    assert (Decision.objects.get().overturned_at is not None) == (appeal.outcome == "overturned")
    assert len([row for row in outcomes() if row[0] == "appeal"]) == 1
