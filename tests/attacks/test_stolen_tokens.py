"""The signed token in a page says who answers. Others', changed, old and used ones change nothing."""

import pytest
from django.core import signing
from django.test import Client

from annotators.models import Assignment
from surveys.models import Questionnaire, Rating
from surveys.pages.answering import tokens
from tests import builders
from tests.answered import contents
from tests.link_people import invite_one
from tests.link_study import Visitor, path_of
from tests.surveys.pages.hit_pages import draft, full_answers, open_page, post, token_of


def no_answers() -> bool:
    return not Rating.objects.exists() and not Assignment.objects.exclude(saved_at=None).exists()


def forged(questionnaire: Questionnaire, page: object) -> list[str]:
    claims = signing.loads(token_of(page), salt=tokens.SALT)
    return [
        "",
        "x",
        "\0",
        "\ud7ff" * 100,
        token_of(page)[:-1],
        token_of(page).replace(":", ".", 1),
        signing.dumps(claims, salt="another", compress=True),
        signing.dumps(claims, key="another key", salt=tokens.SALT, compress=True),
        signing.dumps({**claims, "n": "0" * 32}, salt=tokens.SALT, compress=True),
        "x" * 1_000_000,
    ]


@pytest.mark.parametrize("n", range(10))
def test_forged_tokens_write_nothing(visitor: Client, questionnaire: Questionnaire, n: int) -> None:
    page = open_page(visitor, questionnaire)
    token = forged(questionnaire, page)[n]
    assert post(visitor, questionnaire, full_answers(page) | {"token": token}).status_code == 403
    assert draft(visitor, questionnaire, token=token).status_code in (400, 403)
    assert no_answers()


def test_the_token_decides_whose_answers_they_are_not_the_address(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    """Somebody with a page of their own posts it under another worker's address."""
    mine = open_page(visitor, questionnaire, workerId="A2MINE", assignmentId="3MINE")
    open_page(visitor, questionnaire)
    visitor.post(f"/hits/{questionnaire.pk}/?workerId=A1WORKER&assignmentId=3ASSIGNMENT1", full_answers(mine))
    saved = Assignment.objects.exclude(saved_at=None)
    assert list(saved.values_list("worker__worker_id", flat=True)) == ["A2MINE"]


def test_a_token_of_another_hit_writes_nothing(visitor: Client, questionnaire: Questionnaire) -> None:
    other = builders.make_questionnaire(name="other")
    page = open_page(visitor, other)
    assert post(visitor, questionnaire, full_answers(page)).status_code == 403
    assert draft(visitor, questionnaire, token=token_of(page)).status_code == 403
    assert no_answers()


def test_an_expired_token_hands_nothing_in(
    visitor: Client, questionnaire: Questionnaire, monkeypatch
) -> None:
    page = open_page(visitor, questionnaire)
    answers = full_answers(page)
    now = signing.time.time
    monkeypatch.setattr("django.core.signing.time.time", lambda: now() + 2 * 60 * 60 + 1)
    assert post(visitor, questionnaire, answers).status_code == 403
    assert draft(visitor, questionnaire, token=str(answers["token"])).status_code == 403
    assert no_answers()


def test_a_replayed_submission_with_other_answers_changes_nothing(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    answers = full_answers(open_page(visitor, questionnaire))
    post(visitor, questionnaire, answers)
    first = Assignment.objects.get()
    before = (contents(first), first.saved_at, first.comment)
    again = post(visitor, questionnaire, answers | {"i1-preference": "x", "comment": "changed"})
    first.refresh_from_db()
    assert again.status_code == 200
    assert (contents(first), first.saved_at, first.comment) == before


def test_a_page_of_one_link_is_none_for_another(ada: Visitor, link_batch) -> None:
    eve = Visitor(path_of(invite_one(link_batch, "Eve")))
    page = ada.open(1)
    answer = eve.client.post(eve.at(1), eve.scores(page, fluency="1", relevance="1", logical_consistency="1"))
    assert answer.status_code == 403
    assert no_answers()


@pytest.mark.parametrize(
    "change", [lambda p: p[:-2] + "/", lambda p: p.replace("/links/", "/links/x"), str.upper]
)
def test_a_changed_link_lets_nobody_in(ada: Visitor, change) -> None:
    assert Visitor(change(ada.path)).open().status_code in (403, 404)
