"""An item of which a file is gone, or was never shown, can't be judged: it is neither an answer nor a skip of a HIT."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from threading import Event
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from annotators.crowds.links import work as link_work
from annotators.models import Assignment
from surveys.answering.collection import given_answers, recover, task_answers
from surveys.models import (
    AnswerRevision,
    Batch,
    Decision,
    Picture,
    Questionnaire,
    QuestionnaireItem,
    Rating,
    is_skipped,
)
from surveys.pages.answering.hit_form import HitForm
from surveys.pages.answering.work_page import batch_of
from surveys.pages.review.answers import answered_items
from surveys.protocols.policy import read_policy
from surveys.protocols.registry import get_definition
from surveys.protocols.rules import Evidence, Flag
from surveys.publishing import budget
from surveys.rehearsal.hit_page import parse, read_hit_page
from surveys.results.files.annotations import _lines
from surveys.results.files.processed import processed_rows
from surveys.results.files.raw import raw_lines
from surveys.results.files.report import make_report
from surveys.results.frames.database import read_batch
from surveys.results.frames.mturk_csv import frame_from_csv
from surveys.review import decisions
from tests.answered import forget_answers
from tests.builders import PIXEL, make_questionnaire
from tests.invented import TALE
from tests.link_people import invite_one
from tests.link_study import Visitor, make_link_batch, path_of
from tests.policy_data import NEVER, THREE_OF_FIVE, at_least, policy_of
from tests.surveys.pages.hit_pages import draft, full_answers, open_page, post, token_of

CONTROL = '<input type="checkbox" name="i{}-skip-unseen" value="file:unseen"'
UNSEEN = {f"i{n}-skip-unseen": "file:unseen" for n in range(1, 6)}


def lose(questionnaire: Questionnaire, *positions: int) -> None:
    for picture in Picture.objects.filter(item__slots__position__in=positions):
        default_storage.delete(picture.file.name)


def controls(html: str) -> list[int]:
    return [n for n in range(1, 6) if CONTROL.format(n) in html]


def without(answers: dict[str, object], *positions: int) -> dict[str, object]:
    return {name: v for name, v in answers.items() if not name.startswith(tuple(f"i{n}-" for n in positions))}


def submit_unseen(visitor: Client, questionnaire: Questionnaire, *positions: int) -> Assignment:
    answers = without(full_answers(open_page(visitor, questionnaire)), *positions)
    right = {
        f"i{s.position}-answer": s.item.gold
        for s in QuestionnaireItem.objects.filter(questionnaire=questionnaire).select_related("item")
        if s.position not in positions
    }
    response = post(
        visitor,
        questionnaire,
        answers | right | {name: UNSEEN[name] for name in UNSEEN if int(name[1]) in positions},
    )
    assert response.status_code == 200, response.content
    assignment = Assignment.objects.get()
    assert assignment.saved_at is not None
    Assignment.objects.update(status="Submitted", submitted_at=timezone.now())
    assignment.refresh_from_db()
    return assignment


def reasons(assignment: Assignment) -> list[str]:
    return list(assignment.responses.order_by("position").values_list("skip_reason", flat=True))


def test_it_is_offered_where_a_file_is_gone_and_nowhere_else(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    assert controls(open_page(visitor, questionnaire).content.decode()) == []
    lose(questionnaire, 2)
    html = open_page(visitor, questionnaire).content.decode()
    assert controls(html) == [2]
    assert "Without it this can’t be judged" in html
    assert "Picture (Question 2) is missing." in html


def test_it_speaks_russian(visitor: Client, questionnaire: Questionnaire) -> None:
    lose(questionnaire, 2)
    html = open_page(visitor, questionnaire, language="ru").content.decode()
    assert "Без этого оценить нельзя" in html
    assert ">Without it" not in html


def test_what_is_gone_is_no_answer_and_no_skip(visitor: Client, questionnaire: Questionnaire) -> None:
    lose(questionnaire, 2)
    assignment = submit_unseen(visitor, questionnaire, 2)
    assert reasons(assignment) == ["", "file:gone", "", "", ""]
    unseen = assignment.responses.get(position=2)
    assert (unseen.answer, unseen.is_correct, unseen.ratings.count()) == ("", None, 0)
    assert list(Assignment.objects.filter(is_skipped())) == []


def test_what_is_there_was_not_shown_only_as_the_worker_says(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    assert reasons(submit_unseen(visitor, questionnaire, 1, 3)) == ["file:unseen", "", "file:unseen", "", ""]


def test_an_item_that_shows_no_file_cant_be_unseen(visitor: Client, questionnaire: Questionnaire) -> None:
    Picture.objects.all().delete()
    answers = full_answers(open_page(visitor, questionnaire))
    response = post(visitor, questionnaire, without(answers, 2) | {"i2-skip-unseen": "file:unseen"})
    assert "Some answers are missing" in response.content.decode()
    assert Assignment.objects.get().saved_at is None


@pytest.mark.parametrize("value", ["yes", "file:gone", ""])
def test_no_other_word_for_it_is_taken(visitor: Client, questionnaire: Questionnaire, value: str) -> None:
    lose(questionnaire, 2)
    answers = full_answers(open_page(visitor, questionnaire))
    response = post(visitor, questionnaire, without(answers, 2) | {"i2-skip-unseen": value})
    assert "Some answers are missing" in response.content.decode()


def test_a_survey_type_with_reasons_of_its_own_has_no_second_way(
    visitor: Client, db: None, own_pictures: None
) -> None:
    definition = replace(TALE, is_sequence=False)
    tale = make_questionnaire(definition=definition, n_items=1, review_policy=NEVER)
    lose(tale, 1)
    page = open_page(visitor, tale)
    assert controls(page.content.decode()) == []
    post(visitor, tale, {"token": token_of(page), "i1-skip-unseen": "file:unseen"})
    assert Assignment.objects.get().saved_at is None


def test_a_draft_keeps_it_and_the_page_shows_it_again(visitor: Client, questionnaire: Questionnaire) -> None:
    token = token_of(open_page(visitor, questionnaire))
    kept = draft(
        visitor,
        questionnaire,
        token=token,
        position=3,
        answers={"skip-unseen": ["file:unseen"], "answer": ""},
    )
    assert kept.status_code == 200
    html = open_page(visitor, questionnaire).content.decode()
    assert controls(html) == [3]
    assert CONTROL.format(3) + ' id="i3-skip-unseen-1" checked' in html


def test_a_copy_rebuilds_it_and_ours_is_left_alone(visitor: Client, questionnaire: Questionnaire) -> None:
    lose(questionnaire, 2)
    assignment = submit_unseen(visitor, questionnaire, 2)
    lost = forget_answers(assignment, task_answers(assignment))
    assert recover(lost, questionnaire=questionnaire) is True
    assert reasons(lost) == ["", "file:gone", "", "", ""]


def test_a_copy_that_says_more_than_we_saw_changes_nothing(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    assignment = submit_unseen(visitor, questionnaire, 2)
    entries = json.loads(task_answers(assignment))
    forged = json.dumps([e | {"skip": "file:gone"} if e["position"] == 2 else e for e in entries])
    lost = forget_answers(assignment, forged)
    assert recover(lost, questionnaire=questionnaire) is True
    assert reasons(lost) == ["", "file:unseen", "", "", ""]
    again = Assignment.objects.get(pk=lost.pk)
    assert recover(again, questionnaire=questionnaire) is False
    assert AnswerRevision.objects.count() == 0


# -- Pay


def judged(*is_correct: bool | None, n_gone: int = 0, n_unseen: int = 0, policy: dict = THREE_OF_FIVE):
    evidence = Evidence(is_correct=is_correct, n_gone=n_gone, n_unseen=n_unseen)
    return read_policy(policy, items_per_hit=5).judge(evidence)


@pytest.mark.parametrize(
    ("n_right", "n_wrong", "n_gone", "verdict"),
    [
        (2, 2, 1, "approve"),
        (1, 3, 1, "reject"),
        (1, 2, 2, "approve"),
        (0, 3, 2, "reject"),
        (1, 1, 3, "approve"),
        (0, 2, 3, "reject"),
        (0, 1, 4, "approve"),
        (0, 0, 5, "flag"),
    ],
)
def test_what_was_gone_is_neither_right_nor_wrong(
    n_right: int, n_wrong: int, n_gone: int, verdict: str
) -> None:
    answers = [True] * n_right + [False] * n_wrong + [None] * n_gone
    assert judged(*answers, n_gone=n_gone).verdict == verdict


def test_of_several_that_could_be_judged_one_has_to_be_right() -> None:
    found = [
        judged(right, False, False, False, None, n_gone=1, policy=at_least(1, 5)).verdict
        for right in (True, False)
    ]
    assert found == ["approve", "reject"]


def test_the_worker_reads_what_was_counted() -> None:
    found = judged(True, False, False, False, None, n_gone=1)
    assert found.reason == "You answered 1 of 4 questions correctly; at least 2 are needed."


@pytest.mark.parametrize("policy", [NEVER, THREE_OF_FIVE, policy_of({"kind": "straight_lining"})])
def test_a_person_looks_at_what_only_the_worker_says(policy: dict) -> None:
    found = judged(True, True, True, True, None, n_unseen=1, policy=policy)
    said = "1 of 5 items were not judged: a file was not shown, the annotator says; we have it."
    assert found.verdict == "flag"
    assert found.flags[-1] == Flag("unseen", said, is_hit=False)


def test_a_page_without_any_file_is_looked_at_under_any_policy() -> None:
    assert judged(*[None] * 5, n_gone=5, policy=NEVER).verdict == "flag"
    assert judged(True, None, None, None, None, n_gone=4, policy=NEVER).verdict == "approve"


@pytest.mark.parametrize(("is_lost", "verdict", "n_graded"), [(True, "approve", 4), (False, "flag", 4)])
def test_a_hit_is_decided_by_what_we_saw(
    visitor: Client, questionnaire: Questionnaire, is_lost: bool, verdict: str, n_graded: int
) -> None:
    questionnaire.batch.review_policy = THREE_OF_FIVE
    questionnaire.batch.save()
    if is_lost:
        lose(questionnaire, 2)
    assignment = submit_unseen(visitor, questionnaire, 2)
    decisions.record_decision(assignment, batch=questionnaire.batch)
    decision = Decision.objects.get()
    assert (decision.verdict, decision.n_correct, decision.n_graded) == (verdict, 4, n_graded), (
        decision.reason
    )


# -- Numbers


def test_files_and_numbers_have_it_as_missing(visitor: Client, questionnaire: Questionnaire) -> None:
    lose(questionnaire, 2)
    assignment = submit_unseen(visitor, questionnaire, 2)
    frame = read_batch(questionnaire.batch)
    row = frame.responses.set_index("position").loc[2]
    assert (bool(row["is_skipped"]), row["skip_reason"]) == (True, "file:gone")
    assert [row.isna()[name] for name in ("answer", "answer_correct", "ofa-x.justifies")] == [True] * 3
    summary = make_report(frame).summary.all.systems[0]
    assert (summary.responses, summary.skipped) == (4, 1)
    assert [(r.key, r.label, r.count) for r in summary.reasons] == [
        ("file:gone", "A file was missing, as we saw ourselves", 1)
    ]
    lines = [line for line in _lines(frame) if line["skip_reason"]]
    assert [(line["normal"], line["justifies"]) for line in lines] == [(False, None)] * 2
    assert Rating.objects.filter(response__assignment=assignment, response__position=2).count() == 0


def test_review_says_so(visitor: Client, questionnaire: Questionnaire) -> None:
    assignment = submit_unseen(visitor, questionnaire, 2)
    items = answered_items(assignment, definition=questionnaire.batch.definition)
    assert items[1].skip_reason == "A file was not shown, the annotator says"


@pytest.mark.django_db
def test_what_is_shown_again_and_not_seen_waits_for_a_person_too(visitor: Client, own_pictures: None) -> None:
    questionnaire = make_questionnaire(repeats_per_hit=2, review_policy=THREE_OF_FIVE)
    answers = full_answers(open_page(visitor, questionnaire))
    shown = QuestionnaireItem.objects.filter(questionnaire=questionnaire).select_related("item")
    answers |= {f"i{one.position}-answer": one.item.gold for one in shown}
    again = {"i6-skip-unseen": "file:unseen", "i7-skip-unseen": "file:unseen"}
    assert post(visitor, questionnaire, without(answers, 6, 7) | again).status_code == 200
    assignment = Assignment.objects.get()
    Assignment.objects.update(status="Submitted", submitted_at=timezone.now())
    assignment.refresh_from_db()
    assert reasons(assignment) == ["", "", "", "", "", "file:unseen", "file:unseen"]
    assert decisions.record_decision(assignment, batch=questionnaire.batch).verdict == "flag"


def test_files_as_mturk_and_e_vil_write_them_have_no_wrong_answer_for_it(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    lose(questionnaire, 2)
    submit_unseen(visitor, questionnaire, 2)
    own = read_batch(questionnaire.batch)
    raw = frame_from_csv("".join(raw_lines(questionnaire.batch)).encode(), study="x", system="ofa-x")
    counts = [
        (one.responses, one.correct.count)
        for one in (make_report(own).summary.all, make_report(raw).summary.all)
    ]
    assert counts == [(4, 4), (4, 4)]
    rows = processed_rows(own)
    said = [name for name in rows if name.startswith(("confusing", "prefer_", "insufficient"))]
    assert len(said) > 3
    [unseen] = rows.index[rows[said].isna().any(axis=1)]
    assert rows.loc[unseen, said].isna().all()
    assert rows.drop(index=unseen)[said].notna().all().all()


def test_simulated_people_take_it_for_no_question(visitor: Client, questionnaire: Questionnaire) -> None:
    lose(questionnaire, 2)
    page = read_hit_page(parse(open_page(visitor, questionnaire).content.decode()))
    assert [group.name for item in page.items for group in item.all_groups() if "unseen" in group.name] == []


# -- Changed afterwards


def by_link(answers: dict[str, str]) -> tuple[Visitor, Assignment]:
    """Somebody who came by link, has sent this and was paid for it, as everybody is."""
    batch = make_link_batch(n_items=1, definition=get_definition("xai"), review_policy=NEVER)
    visitor = Visitor(path_of(invite_one(batch)))
    resend(visitor, answers)
    assignment = Assignment.objects.get()
    assert assignment.saved_at is not None
    return visitor, assignment


def resend(visitor: Visitor, answers: dict[str, str]) -> HttpResponse:
    """Post the page with its first choices, as it does beside a tick too, and with these answers."""
    page = visitor.open(1)
    names = re.findall(r'type="radio" name="([^"]+)" value="([^"]+)"', page.content.decode())
    first = dict(reversed(names))
    return visitor.client.post(visitor.at(1), visitor.scores(page) | first | answers)


def paid(assignment: Assignment) -> None:
    decision = decisions.record_decision(assignment, batch=batch_of(assignment))
    assert decision.verdict == "approve"
    assert link_work.approve(assignment, feedback="") is True


STAYS = "What you answered here has been accepted, so it can’t become something that you could not see."


def refused(response: HttpResponse) -> tuple[int, bool]:
    html = response.content.decode()
    assert ("<title>This was not saved" in html, "Some answers are missing" in html) == (STAYS in html, False)
    return response.status_code, STAYS in html


@pytest.mark.django_db
@pytest.mark.parametrize("is_told", [True, False])
def test_what_was_judged_and_accepted_can_not_become_unseen(own_pictures: None, is_told: bool) -> None:
    visitor, assignment = by_link({})
    paid(assignment) if is_told else decisions.record_decision(assignment, batch=batch_of(assignment))
    judged_before = given_answers(assignment)
    assert "data-judged" in visitor.open(1).content.decode()
    assert refused(resend(visitor, {"i1-skip-unseen": "file:unseen"})) == (422, True)
    assert (reasons(assignment), given_answers(assignment)) == ([""], judged_before)
    lose(assignment.hit.questionnaire, 1)
    assert controls(visitor.open(1).content.decode()) == []
    assert refused(resend(visitor, {"i1-skip-unseen": "file:unseen"})) == (422, True)
    assert reasons(assignment) == [""]


@pytest.mark.django_db
def test_what_is_accepted_while_a_change_is_on_its_way_stays_judged(
    own_pictures: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor, assignment = by_link({})
    is_valid = HitForm.is_valid

    def accepted(form: HitForm) -> bool:
        monkeypatch.undo()
        paid(assignment)
        return is_valid(form)

    monkeypatch.setattr(HitForm, "is_valid", accepted)
    assert refused(resend(visitor, {"i1-skip-unseen": "file:unseen"})) == (422, True)
    assert reasons(assignment) == [""]


@pytest.mark.django_db
def test_what_becomes_unseen_while_it_is_judged_is_judged_as_that(
    own_pictures: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitor, assignment = by_link({})
    lock = budget.lock

    def changed(batch_pk: int) -> Batch:
        monkeypatch.undo()
        assert resend(visitor, {"i1-skip-unseen": "file:unseen"}).status_code == 303
        return lock(batch_pk)

    monkeypatch.setattr(budget, "lock", changed)
    assert decisions.record_decision(assignment, batch=batch_of(assignment)).verdict == "flag"


@pytest.mark.django_db(transaction=True)
def test_what_is_sent_while_its_acceptance_is_written_down_waits_for_it(
    own_pictures: None, monkeypatch: pytest.MonkeyPatch, in_parallel: Callable[..., list[Any]]
) -> None:
    visitor, assignment = by_link({})
    is_written, is_answered, audit = Event(), Event(), decisions.audit_decision

    def written(decision: Decision, **details: object) -> None:
        audit(decision, **details)
        is_written.set()
        is_answered.wait(0.5)

    def sent() -> HttpResponse:
        is_written.wait(10)
        response = resend(visitor, {"i1-skip-unseen": "file:unseen"})
        is_answered.set()
        return response

    monkeypatch.setattr(decisions, "audit_decision", written)
    decide = partial(decisions.record_decision, assignment, batch=batch_of(assignment))
    decision, response = in_parallel(decide, sent)
    assert (decision.verdict, refused(response)) == ("approve", (422, True))
    assert reasons(assignment) == [""]


@pytest.mark.django_db
def test_before_it_is_accepted_it_can_and_a_person_looks(own_pictures: None) -> None:
    visitor, assignment = by_link({})
    assert "data-judged" not in visitor.open(1).content.decode()
    assert resend(visitor, {"i1-skip-unseen": "file:unseen"}).status_code == 303
    assert reasons(assignment) == ["file:unseen"]
    assignment.refresh_from_db()
    assert decisions.record_decision(assignment, batch=batch_of(assignment)).verdict == "flag"


@pytest.mark.django_db
def test_what_was_gone_when_it_was_said_stays_gone(own_pictures: None) -> None:
    batch = make_link_batch(n_items=1, definition=get_definition("xai"), review_policy=NEVER)
    visitor = Visitor(path_of(invite_one(batch)))
    visitor.open(1)
    picture = Picture.objects.get()
    default_storage.delete(picture.file.name)
    unseen = {"i1-skip-unseen": "file:unseen"}
    assert resend(visitor, unseen).status_code == 303
    default_storage.save(picture.file.name, ContentFile(PIXEL))
    assert resend(visitor, unseen | {"comment": "It was not there."}).status_code == 303
    assignment = Assignment.objects.get()
    assert (reasons(assignment), assignment.comment) == (["file:gone"], "It was not there.")


@pytest.mark.django_db
def test_what_was_there_when_it_was_said_does_not_become_gone(own_pictures: None) -> None:
    unseen = {"i1-skip-unseen": "file:unseen"}
    visitor, assignment = by_link(unseen)
    lose(assignment.hit.questionnaire, 1)
    assert resend(visitor, unseen | {"comment": "Really."}).status_code == 303
    assert reasons(assignment) == ["file:unseen"]
