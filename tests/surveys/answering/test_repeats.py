"""Items asked twice of the same person: which, how far apart, how evenly; shown, kept, graded and rebuilt."""

import json
from collections import Counter, defaultdict
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from annotators.models import Assignment
from surveys.answering.answer_copy import IncompleteAnswers
from surveys.answering.collection import recover, task_answers
from surveys.answering.presentation import preview_items
from surveys.models import AuditEntry, Batch, Questionnaire, Rating, Response
from surveys.pages.publishing.batches import terms
from surveys.publishing import preconditions, questionnaires
from surveys.publishing.design import repeated, williams
from surveys.review.decisions import decide
from surveys.review.evidence import evidence_of_batch
from tests.factories import (
    answer,
    answer_xml,
    make_draft,
    make_hit,
    make_item,
    make_survey,
    open_for,
    shown_items,
    submitted,
)


@settings(max_examples=300, deadline=None)
@given(
    n_items=st.integers(1, 30),
    wanted=st.integers(0, 15),
    checks=st.sets(st.integers(0, 29), max_size=6),
    data=st.data(),
)
def test_both_times_lie_as_far_apart_as_a_hit_has_items_less_its_checks(
    n_items: int, wanted: int, checks: set[int], data: st.DataObject
) -> None:
    page = data.draw(st.permutations(range(n_items)))
    checks &= set(page)
    again = repeated(page, wanted=wanted, checks=checks)
    assert len(again) == len(set(again)) == min(wanted, (n_items - len(checks)) // 2)
    assert not checks & set(again)
    whole = [*page, *again]
    for place, item in enumerate(again, n_items):
        assert place - whole.index(item) >= n_items - len(checks)
        assert checks or place - whole.index(item) == n_items


@settings(max_examples=100, deadline=None)
@given(n_items=st.integers(2, 12), data=st.data())
def test_as_many_people_as_there_are_items_repeat_each_equally_often(
    n_items: int, data: st.DataObject
) -> None:
    """Pages are rows of a Williams square, each row once: so `draw_places` draws them."""
    wanted = data.draw(st.integers(1, n_items // 2))
    for square in williams(n_items):
        times = Counter(item for row in square for item in repeated(row, wanted=wanted))
        assert times == dict.fromkeys(range(n_items), wanted)


def published(*, n_items: int = 6, n_checks: int = 0, **values: Any) -> Questionnaire:
    survey = make_survey(n_items=n_items)
    for n in range(n_items + 1, n_items + n_checks + 1):
        make_item(survey, position=n, payload={"question": "Which?", "check": "answer"})
    policy = {"rules": [{"kind": "minimum_correct", "minimum": 3, "out_of": n_items, "rejects_alone": True}]}
    batch = make_draft(
        survey,
        items_per_hit=n_items + n_checks,
        **{
            "repeats_per_hit": 2,
            "review_policy": {**policy, "reject_at": 2} if not n_checks else NEVER,
            **values,
        },
    )
    questionnaires.start_publishing(batch)
    Batch.objects.filter(pk=batch.pk).update(status=Batch.Status.OPEN)
    questionnaire = batch.questionnaires.get()
    questionnaire.hit = make_hit()
    questionnaire.save()
    return Questionnaire.objects.select_related("batch__survey", "hit").get(pk=questionnaire.pk)


NEVER: dict[str, Any] = {"rules": [], "reject_at": 2}


def page_of(assignment: Assignment) -> list[Response]:
    return sorted(assignment.responses.all(), key=lambda response: response.place)


@pytest.mark.django_db
def test_six_people_are_asked_each_of_six_items_twice_by_two_of_them_at_the_end_of_their_pages() -> None:
    questionnaire = published()
    times: Counter[int] = Counter()
    for _ in range(6):
        page = page_of(open_for(questionnaire))
        assert [response.place for response in page] == [*range(1, 9)]
        assert [response.is_repeat for response in page] == [False] * 6 + [True] * 2
        assert [r.item_id for r in page[6:]] == [r.item_id for r in page[:2]]
        assert [r.position for r in page[6:]] == [7, 8]
        assert [r.shown["outputs"] for r in page[6:]] == [r.shown["outputs"] for r in page[:2]]
        times.update(response.item_id for response in page[6:])
    assert sorted(times.values()) == [2] * 6


@pytest.mark.django_db
def test_sides_stay_balanced_over_first_answers() -> None:
    questionnaire = published()
    led: dict[int, Counter[int]] = defaultdict(Counter)
    for _ in range(4):
        for response in open_for(questionnaire).responses.filter(is_repeat=False):
            led[response.item_id][response.shown["outputs"][0]] += 1
    assert [sorted(counts.values()) for counts in led.values()] == [[2, 2]] * 6


@pytest.mark.django_db
def test_planted_checks_are_not_asked_again() -> None:
    questionnaire = published(n_checks=2)
    for _ in range(5):
        again = [response for response in page_of(open_for(questionnaire)) if response.is_repeat]
        assert len(again) == 2
        assert all("check" not in response.item.payload for response in again)


@pytest.mark.django_db
def test_the_page_and_the_preview_have_all_questions() -> None:
    questionnaire = published()
    preview = preview_items(questionnaire)
    assert [item.question for item in preview[6:]] == [item.question for item in preview[:2]]
    assert [item.position for item in preview] == [*range(1, 9)]
    shown = shown_items(open_for(questionnaire))
    assert [item.question for item in shown[6:]] == [item.question for item in shown[:2]]


@pytest.mark.django_db
def test_rows_that_are_lost_are_rebuilt_from_the_copy_repeats_and_all() -> None:
    questionnaire = published()
    opened = answer(open_for(questionnaire))
    fields = ("position", "item_id", "is_repeat", "answer")
    before, copy = [[getattr(r, f) for f in fields] for r in page_of(opened)], task_answers(opened)
    assert [entry["position"] for entry in json.loads(copy)][6:] == [7, 8]
    Assignment.objects.filter(pk=opened.pk).update(saved_at=None, answer_xml=answer_xml(copy))
    for response in Response.objects.filter(assignment=opened):
        response.ratings.all().delete()
        response.delete()
    opened.refresh_from_db()
    assert recover(opened, questionnaire=questionnaire) is True
    assert [[getattr(r, f) for f in fields] for r in page_of(opened)] == before


@pytest.mark.django_db
@pytest.mark.parametrize("left_out", [0, 7])
def test_a_copy_without_some_question_is_refused(left_out: int) -> None:
    questionnaire = published()
    opened = answer(open_for(questionnaire))
    copy = [entry for n, entry in enumerate(json.loads(task_answers(opened))) if n != left_out]
    Assignment.objects.filter(pk=opened.pk).update(saved_at=None, answer_xml=answer_xml(copy))
    opened.refresh_from_db()
    with pytest.raises(IncompleteAnswers, match="does not answer every question"):
        recover(opened, questionnaire=questionnaire)


@pytest.mark.django_db
def test_rules_count_the_first_answers_and_all_of_the_time() -> None:
    questionnaire = published()
    assignment = submitted(questionnaire, n_correct=3)
    firsts = list(assignment.responses.filter(is_repeat=False).values_list("is_correct", flat=True))
    found = evidence_of_batch(questionnaire.batch)[assignment.pk]
    assert list(found.is_correct) == firsts
    assert len(firsts) == 6
    assert found.seconds == 8 * 12.5
    assert decide(assignment, batch=questionnaire.batch).verdict == "approve"


@pytest.mark.django_db
def test_what_somebody_says_again_is_in_nobodys_mean_of_the_others() -> None:
    questionnaire = published()
    mine, theirs = (submitted(questionnaire) for _ in range(2))
    again = Rating.objects.filter(response__assignment=theirs, response__is_repeat=True)
    first = Rating.objects.filter(response__assignment=theirs, response__is_repeat=False)
    headline = questionnaire.batch.definition.headline
    assert again.filter(criterion=headline).update(score=0.25) == 4
    assert first.filter(criterion=headline).update(score=0.75) == 12
    found = evidence_of_batch(questionnaire.batch, kinds={"agreement"})[mine.pk]
    assert [rating.mean_of_others for rating in found.worker.ratings] == [0.75] * 12


@pytest.mark.django_db
def test_at_most_half_of_a_hit_is_asked_twice() -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        make_draft(make_survey(), items_per_hit=5, repeats_per_hit=3)
    assert make_draft(make_survey(), items_per_hit=4, repeats_per_hit=2).repeats_per_hit == 2


@pytest.mark.django_db
def test_a_person_is_asked_twice_at_most() -> None:
    opened = open_for(published())
    again = page_of(opened)[-1]
    with pytest.raises(IntegrityError), transaction.atomic():
        Response.objects.create(
            assignment=opened,
            batch=again.batch,
            worker=opened.worker,
            item=again.item,
            position=9,
            is_repeat=True,
        )


@pytest.mark.django_db
def test_the_launch_page_says_how_many_questions_the_reward_is_for() -> None:
    batch = make_draft(make_survey(n_items=4), items_per_hit=4, repeats_per_hit=2, review_policy=NEVER)
    assert preconditions.warnings(batch) == [
        "2 of a HIT's 4 items are asked twice: an assignment has up to 6 questions, and its reward and minutes are "
        "for all of them."
    ]
    assert ("Asked twice", "2 of 4 items of each HIT: 6 questions") in terms(batch)


@pytest.mark.django_db
def test_the_design_and_the_audit_trail_say_so() -> None:
    batch = published().batch
    words = AuditEntry.objects.get(batch=batch, outcome="publish").details["design"]
    assert batch.design["repeats"] == 2
    assert words.endswith(
        "The first 2 items of each page were asked again at its end, as far apart as a page allows, for agreement "
        "within raters; the first answer counts, the second in that alone."
    )
