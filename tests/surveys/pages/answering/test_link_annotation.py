"""One annotation of a person who came by link: answering, skipping, changing, two tabs."""

import re
from typing import Any

import pytest
from django.utils import timezone

from annotators.crowds.links import work as link_work
from annotators.models import Assignment
from surveys.answering.collection import given_answers
from surveys.models import (
    AnnotationSlot,
    AnswerRevision,
    Batch,
    Invitation,
    QuizAttempt,
    Response,
)
from surveys.pages.answering.hit_form import HitForm
from surveys.protocols.registry import get_definition
from tests.link_pages import checked, drafted, given, save_draft, scores, target, text
from tests.link_people import invite_one
from tests.link_study import SCORES, Visitor, make_link_batch, path_of
from tests.policy_data import FLAG_ONLY
from tests.protocols import VQAX

# -- Answering --------------------------------------------------------------------------------------------------------


def test_submit_saves_and_moves_on_to_the_next(ada: Visitor) -> None:
    assert target(ada.answer(1)) == (303, "/2/?saved=1")
    assert scores() == given()
    done, following = Assignment.objects.order_by("annotation_slot__number")
    assert (done.status, done.channel, done.saved_at is not None) == ("Submitted", "link", True)
    assert (following.status, following.saved_at) == ("Accepted", None)


def test_incomplete_answers_are_kept_and_what_is_missing_is_said(ada: Visitor) -> None:
    page = ada.open(1)
    answer = ada.client.post(ada.at(1), ada.scores(page, fluency="5", relevance="4"))
    assert answer.status_code == 422
    assert "Some answers are missing" in text(answer)
    assert drafted() == {"fluency": "5", "relevance": "4"}
    assert checked(ada.open(1)) == [("fluency", "5"), ("relevance", "4")]
    assert Assignment.objects.get().saved_at is None


@pytest.mark.django_db
@pytest.mark.parametrize(("items_per_hit", "headings"), [(1, ["Annotation 1"]), (2, ["Texts 1", "Texts 2"])])
def test_what_is_missing_is_said_of_the_annotation_or_of_its_questions(
    items_per_hit: int, headings: list[str]
) -> None:
    visitor = Visitor(path_of(invite_one(make_link_batch(n_items=2, items_per_hit=items_per_hit), "Bo")))
    page = visitor.client.post(visitor.at(1), visitor.scores(visitor.open(1))).content.decode()
    assert re.findall(r"<h3>((?:Annotation|Question|Texts) \d)</h3>", page) == headings


@pytest.mark.parametrize("value", ["6", "0", "-1", "3.5", "", "5\x00", "skip", "x" * 5000])
def test_answers_outside_the_scale_are_refused(ada: Visitor, value: str) -> None:
    assert ada.answer(1, fluency=value).status_code == 422
    assert scores() == []
    assert drafted() == {"relevance": "4", "logical_consistency": "2"}


def test_a_comment_with_what_can_not_be_stored_is_stored_without(ada: Visitor) -> None:
    page = ada.open(1)
    ada.client.post(ada.at(1), ada.scores(page, **SCORES) | {"comment": "dark\x00 picture\x1b"})
    assert Assignment.objects.filter(saved_at__isnull=False).get().comment == "dark picture"


def test_double_submit_gives_one_answer_and_goes_on(ada: Visitor) -> None:
    page = ada.open(1)
    answers = [ada.answer(1, page) for _ in range(2)]
    assert [target(answer) for answer in answers] == [(303, "/2/?saved=1")] * 2
    assert scores() == given()
    assert AnswerRevision.objects.count() == 0


def test_skip_stores_the_reason_no_number_and_reopens(ada: Visitor) -> None:
    assert target(ada.skip(1, "image_unrelated")) == (303, "/2/?saved=1")
    assert Response.objects.get(assignment__annotation_slot__number=1).skip_reason == "image_unrelated"
    assert scores() == []
    assert AnnotationSlot.objects.get(reopens__number=1).number == 4


def test_skip_needs_a_reason(ada: Visitor) -> None:
    page = ada.open(1)
    answer = ada.client.post(ada.at(1), ada.scores(page) | {"skip": "1"})
    assert answer.status_code == 422
    assert Assignment.objects.get().saved_at is None


# -- Changing answers -------------------------------------------------------------------------------------------------


def test_own_answers_are_shown_again_and_can_be_changed(ada: Visitor) -> None:
    ada.answer(1)
    page = ada.open(1)
    assert checked(page) == list(SCORES.items())
    assert "You answered this on" in text(page)
    assert 'data-draft=""' in page.content.decode()
    assert target(ada.answer(1, page, fluency="1")) == (303, "/?saved=1")
    assert scores() == given(fluency="1")
    [revision] = AnswerRevision.objects.all()
    assert [v["fluency"] for v in revision.data["answers"][0]["outputs"].values()] == ["5"]


def test_a_skip_can_be_taken_back(ada: Visitor) -> None:
    ada.skip(1)
    assert checked(ada.open(1)) == [("skip", "image_missing")]
    ada.answer(1)
    assert scores() == given()
    assert Response.objects.get(assignment__annotation_slot__number=1).skip_reason == ""


def test_changes_end_when_the_batch_closes(ada: Visitor) -> None:
    ada.answer(1)
    before = ada.open(1)
    Batch.objects.update(status="stopped")
    page = ada.open(1)
    assert checked(page) == list(SCORES.items())
    assert "can’t be changed any more" in text(page)
    assert 'id="hit"' not in page.content.decode()
    assert ada.answer(1, before, fluency="1").status_code == 403
    assert scores() == given()


def test_what_was_begun_can_be_finished_after_the_batch_closed(ada: Visitor) -> None:
    page = ada.open(1)
    Batch.objects.update(status="stopped")
    assert target(ada.answer(1, page)) == (303, "/end?saved=1")
    assert scores() == given()


def test_answers_stay_changeable_where_they_do_not_decide_about_pay(ada: Visitor) -> None:
    ada.answer(1)
    link_work.approve(Assignment.objects.get(saved_at__isnull=False), feedback="")
    assert target(ada.answer(1, fluency="1")) == (303, "/?saved=1")
    assert scores() == given(fluency="1")


@pytest.mark.parametrize(
    ("decide", "sentence"),
    [
        (link_work.reject, "This annotation was not accepted. Two of five were right."),
        (link_work.approve, "This annotation was looked at and accepted."),
    ],
)
def test_answers_that_were_decided_by_stay_as_they_are(ada: Visitor, decide: Any, sentence: str) -> None:
    Batch.objects.update(review_policy=FLAG_ONLY)
    ada.answer(1)
    before = ada.open(1)
    decide(Assignment.objects.get(saved_at__isnull=False), feedback="Two of five were right.")
    page = ada.open(1)
    assert sentence in text(page)
    assert 'id="hit"' not in page.content.decode()
    assert ada.answer(1, before, fluency="1").status_code == 403
    assert scores() == given()


def reject_all() -> None:
    for one in Assignment.objects.exclude(saved_at=None):
        link_work.reject(one, feedback="No.")


@pytest.mark.parametrize("scored", [{"fluency": "1"}, {}])
@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (reject_all, "This annotation was not accepted. No."),
        (lambda: Batch.objects.update(status="stopped"), "The study is closed."),
        (lambda: link_work.approve(*Assignment.objects.exclude(saved_at=None), feedback=""), "and accepted."),
    ],
)
def test_a_complete_change_that_comes_too_late_is_given_back(
    ada: Visitor, end: Any, reason: str, scored: dict[str, str]
) -> None:
    """A change of the comment alone is one, too."""
    Batch.objects.update(review_policy=FLAG_ONLY)
    ada.answer(1)
    before = ada.open(1)
    end()
    late = ada.scores(before, **SCORES | scored) | {"comment": "Long and thought about."}
    page = ada.client.post(ada.at(1), late)
    assert page.status_code == 403
    assert f"{reason} This is what you sent last. It was not saved" in text(page)
    assert "Long and thought about.</textarea>" in page.content.decode()
    assert checked(page) == list((SCORES | scored).items())
    assert scores() == given()


def test_what_is_decided_while_a_change_is_on_its_way_stays(
    ada: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    Batch.objects.update(review_policy=FLAG_ONLY)
    ada.answer(1)
    is_valid = HitForm.is_valid

    def decided(form: HitForm) -> bool:
        link_work.reject(Assignment.objects.get(saved_at__isnull=False), feedback="Two of five were right.")
        return is_valid(form)

    before = ada.open(1)
    monkeypatch.setattr(HitForm, "is_valid", decided)
    answer = ada.answer(1, before, fluency="1")
    assert answer.status_code == 403
    assert "This annotation was not accepted." in text(answer)
    assert scores() == given()


def test_a_page_sent_twice_is_answered_as_the_first_time_though_it_was_decided_in_between(
    ada: Visitor,
) -> None:
    Batch.objects.update(review_policy=FLAG_ONLY)
    page = ada.open(1)
    first = target(ada.answer(1, page))
    link_work.approve(Assignment.objects.get(saved_at__isnull=False), feedback="")
    assert target(ada.answer(1, page)) == first
    assert scores() == given()


# -- Two tabs ---------------------------------------------------------------------------------------------------------


def test_a_stale_tab_is_shown_what_is_saved_and_asked(ada: Visitor) -> None:
    first, second = ada.open(1), ada.open(1)
    ada.answer(1, first)
    page = ada.answer(1, second, fluency="1", relevance="1")
    assert page.status_code == 409
    assert "Nothing was overwritten" in text(page)
    assert checked(page) == list(SCORES.items())
    assert scores() == given()
    again = page.content.decode().partition("</form>")[2].partition("</form>")[0]
    data = dict(re.findall(r'name="([^"]+)" value="([^"]*)"', again))
    assert target(ada.client.post(ada.at(1), data)) == (303, "/?saved=1")
    assert scores() == given(fluency="1", relevance="1")
    assert AnswerRevision.objects.count() == 1


def test_a_stale_tab_with_another_comment_is_not_told_that_it_was_saved(ada: Visitor) -> None:
    page = ada.open(1)
    ada.answer(1, page)
    answer = ada.client.post(ada.at(1), ada.scores(page, **SCORES) | {"comment": "Too dark."})
    assert answer.status_code == 409
    assert target(sent_again(ada, answer)) == (303, "/?saved=1")
    assert Assignment.objects.exclude(saved_at=None).get().comment == "Too dark."


def test_a_stale_change_is_asked_about_too(ada: Visitor) -> None:
    ada.answer(1)
    first, second = ada.open(1), ada.open(1)
    ada.answer(1, first, fluency="3")
    assert ada.answer(1, second, fluency="1").status_code == 409
    assert scores() == given(fluency="3")


def test_a_stale_incomplete_page_shows_what_is_saved(ada: Visitor) -> None:
    page = ada.open(1)
    ada.answer(1, page)
    answer = ada.client.post(ada.at(1), ada.scores(page, fluency="1"))
    assert answer.status_code == 409
    assert "What you have just sent was not complete." in text(answer)
    assert scores() == given()


def sent_again(ada: Visitor, answer: Any) -> Any:
    """Press the button that the page of a stale tab has beside what is saved."""
    again = answer.content.decode().partition('id="overtaken"')[2].partition("</form>")[0]
    return ada.client.post(ada.at(1), dict(re.findall(r'name="([^"]+)" value="([^"]*)"', again)))


def test_what_a_stale_incomplete_page_sent_can_be_shown_completed_and_saved(ada: Visitor) -> None:
    page = ada.open(1)
    ada.answer(1, page)
    sent = ada.scores(page, fluency="1") | {"comment": "Too dark."}
    shown = sent_again(ada, ada.client.post(ada.at(1), sent))
    assert (shown.status_code, checked(shown)) == (422, [("fluency", "1")])
    assert "Too dark.</textarea>" in shown.content.decode()
    assert scores() == given()
    data = ada.scores(shown, **SCORES | {"fluency": "1"}) | {"comment": "Too dark."}
    assert target(ada.client.post(ada.at(1), data)) == (303, "/?saved=1")
    assert scores() == given(fluency="1")
    assert Assignment.objects.exclude(saved_at=None).get().comment == "Too dark."


def test_what_a_stale_incomplete_page_sent_is_shown_where_nothing_can_be_changed(ada: Visitor) -> None:
    page = ada.open(1)
    ada.answer(1, page)
    Batch.objects.update(status=Batch.Status.COMPLETE)
    answer = ada.client.post(ada.at(1), ada.scores(page, fluency="1") | {"comment": "Too dark."})
    assert (answer.status_code, "You can still add" in text(answer)) == (409, False)
    shown = sent_again(ada, answer)
    assert "This is what you sent last. It was not saved" in text(shown)
    assert checked(shown) == [("fluency", "1")]
    assert scores() == given()


@pytest.mark.parametrize("revision", ["", "1", "x", "-1"])
def test_a_page_that_says_another_revision_overwrites_nothing(ada: Visitor, revision: str) -> None:
    data = ada.scores(ada.open(1), **SCORES) | {"revision": revision}
    assert ada.client.post(ada.at(1), data).status_code == 409
    assert scores() == []


def test_drafts_are_kept_and_an_older_one_does_not_win(ada: Visitor) -> None:
    page = ada.open(1)
    answers = [
        save_draft(ada, page, version=version, fluency=fluency)
        for version, fluency in ((2, "4"), (1, "1"), (2, "1"))
    ]
    assert [answer.status_code for answer in answers] == [200, 409, 409]
    assert drafted() == {"fluency": "4"}


def test_a_draft_after_the_answers_is_refused(ada: Visitor) -> None:
    page = ada.open(1)
    ada.answer(1, page)
    assert save_draft(ada, page, version=9, fluency="1").status_code == 409
    assert scores() == given()


# -- Other survey types -----------------------------------------------------------------------------------------------


def test_several_items_and_two_outputs_by_link(db) -> None:
    batch = make_link_batch(n_items=4, definition=VQAX, items_per_hit=2)
    visitor = Visitor(path_of(invite_one(batch, "Ada")))
    page = visitor.open(1)
    html = page.content.decode()
    assert html.count('<section class="item"') == 2
    groups = re.findall(r'<input type="(?:radio|checkbox)" name="([^"]+)" value="([^"]+)"', html)
    answer = visitor.client.post(visitor.at(1), visitor.scores(page) | dict(groups))
    assert target(answer) == (303, "/2/?saved=1")
    saved = given_answers(Assignment.objects.get(saved_at__isnull=False))
    assert [answer.position for answer in saved] == [1, 2]
    assert len(checked(visitor.open(1))) == 6


# -- The quiz ---------------------------------------------------------------------------------------------------------


def test_the_quiz_comes_first_where_the_batch_asks_for_it(db) -> None:
    batch = make_xai_batch()
    visitor = Visitor(path_of(invite_one(batch, "Ada")))
    page = visitor.open(1)
    assert "A few questions first" in text(page)
    right = {f"q{n}": question.answer for n, question in enumerate(batch.definition.quiz, 1)}
    done = visitor.client.post(visitor.at(1), visitor.scores(page) | right, follow=True)
    assert "You are ready to begin." in text(done)
    assert f'href="{visitor.at(1)}"' in done.content.decode()
    assert QuizAttempt.objects.get().is_passed
    assert 'id="hit"' in visitor.open(1).content.decode()


def test_quiz_answers_after_the_link_ended_leave_the_draft_alone(db) -> None:
    visitor = Visitor(path_of(invite_one(make_xai_batch(), "Ada")))
    page = visitor.open(1)
    Response.objects.update(draft={"kept": "yes"}, draft_version=3)
    Invitation.objects.update(expires_at=timezone.now())
    answer = visitor.client.post(visitor.at(1), visitor.scores(page) | {"q1": "x"})
    assert answer.status_code == 403
    assert Response.objects.get().draft == {"kept": "yes"}
    assert QuizAttempt.objects.count() == 0


def make_xai_batch() -> Batch:
    return make_link_batch(definition=get_definition("xai"), uses_quiz=True)
