"""Annotations of somebody else, links that ended, requests that can't be read."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotators.models import Assignment
from surveys.answering.invitations import renew_key, revoke
from surveys.models import AnnotationSlot, Invitation, Response
from tests.link_pages import checked, drafted, given, save_draft, scores, text
from tests.link_people import run_out
from tests.link_study import SCORES, Visitor, path_of

# -- Whose it is ------------------------------------------------------------------------------------------------------


def test_an_annotation_of_somebody_else_shows_nothing(ada: Visitor, bob: Visitor) -> None:
    ada.answer(1)
    page = bob.open(1)
    assert page.status_code == 404
    assert "Annotation 1 was given to somebody else." in text(page)
    assert f'href="{bob.path}"' in page.content.decode()
    assert [word for word in ("pictures/", "tea bag", " checked") if word in page.content.decode()] == []


@pytest.mark.parametrize("number", [0, 4, 2147483648, 10**20, 10**30])
def test_an_annotation_that_does_not_exist(ada: Visitor, number: int) -> None:
    sent = ada.scores(ada.open(1), **SCORES)
    for page in (ada.open(number), ada.client.post(ada.at(number), sent)):
        assert page.status_code == 404
        assert f"There is no annotation {number} in this study." in text(page)


def test_a_page_of_somebody_else_can_not_be_sent(ada: Visitor, bob: Visitor) -> None:
    """Bob has got hold of the token in Ada's form, or of her draft's address, but not of her link."""
    page = ada.open(1)
    bob.open(2)
    data = ada.scores(page, **SCORES)
    assert [bob.client.post(bob.at(n), data).status_code for n in (1, 2)] == [403, 403]
    assert scores() == []
    assert [response.draft for response in Response.objects.all()] == [{}, {}]
    assert save_draft(bob, page, fluency="1").status_code == 403


@pytest.mark.parametrize("token", ["", "x", "eyJhIjoxfQ:x:x", "\x00"])
def test_answers_without_a_page_of_ours_are_refused(ada: Visitor, token: str) -> None:
    data = ada.scores(ada.open(1), **SCORES) | {"token": token}
    answer = ada.client.post(ada.at(1), data)
    assert answer.status_code == 403
    assert "Open it again from your list." in text(answer)
    assert scores() == []


def test_answers_for_another_annotation_than_the_page_was_for_take_nothing(ada: Visitor) -> None:
    data = ada.scores(ada.open(1), **SCORES)
    assert ada.client.post(ada.at(2), data).status_code == 403
    assert scores() == []


def test_a_place_that_ran_out_and_was_taken_keeps_the_draft_and_the_answer(
    ada: Visitor, bob: Visitor
) -> None:
    page = ada.open(1)
    save_draft(ada, page, fluency="3")
    run_out(Assignment.objects.get())
    bob.open(1)
    assert checked(ada.client.get(ada.at(1), follow=True)) == [("fluency", "3")]
    assert ada.answer(1, page).status_code == 303
    assert sorted(
        AnnotationSlot.objects.filter(assignment__saved_at__isnull=False).values_list("number")
    ) == [(4,)]


# -- Links that end meanwhile -----------------------------------------------------------------------------------------


def end_link(how: str) -> None:
    invitation = Invitation.objects.get()
    if how == "expired":
        Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif how == "revoked":
        revoke(invitation)
    else:
        renew_key(invitation)


@pytest.mark.parametrize("how", ["expired", "revoked", "renewed"])
def test_what_was_typed_is_kept_when_the_link_ended(ada: Visitor, how: str) -> None:
    page = ada.open(1)
    end_link(how)
    answer = ada.answer(1, page)
    assert answer.status_code == 403
    assert "What you had answered on the page before is kept as a draft." in text(answer)
    assert drafted() == SCORES
    assert Assignment.objects.get().saved_at is None


def test_a_new_link_goes_on_with_the_draft(ada: Visitor) -> None:
    page = ada.open(1)
    end_link("revoked")
    ada.answer(1, page)
    anew = Visitor(path_of(renew_key(Invitation.objects.get())))
    assert checked(anew.open(1)) == list(SCORES.items())
    assert anew.answer(1).status_code == 303
    assert scores() == given()


def test_drafts_are_kept_after_the_link_ended(ada: Visitor) -> None:
    page = ada.open(1)
    end_link("expired")
    assert save_draft(ada, page, fluency="2").status_code == 200
    assert drafted() == {"fluency": "2"}


# -- Requests that can't be read --------------------------------------------------------------------------------------


def test_too_large_a_body_is_told_so(ada: Visitor, settings) -> None:
    page = ada.open(1)
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    answer = ada.client.post(ada.at(1), ada.scores(page, **SCORES) | {"comment": "x" * 2000})
    assert answer.status_code == 400
    assert "too large or damaged" in text(answer)


def test_a_damaged_body_is_told_so(ada: Visitor) -> None:
    ada.open(1)
    answer = ada.client.post(ada.at(1), b"--x\r\n", content_type="multipart/form-data; boundary=x\xe9")
    assert answer.status_code in (400, 403)


@pytest.mark.parametrize("body", ["", "{", "[]", "null", '{"token": 1}', "[" * 100_000])
def test_unreadable_drafts_are_refused(ada: Visitor, body: str) -> None:
    answer = ada.client.post(ada.at(1) + "draft", body, content_type="text/plain")
    assert answer.status_code in (400, 403)
