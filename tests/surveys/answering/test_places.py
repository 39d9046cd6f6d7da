"""Where an item stands on a person's page: drawn, balanced over people, kept; nothing else depends on it."""

import json

import pytest

from annotators.models import Assignment
from surveys.answering.collection import recover, task_answers
from surveys.models import Batch, Questionnaire, Response
from surveys.publishing import questionnaires
from tests.factories import (
    answer,
    answer_xml,
    make_draft,
    make_hit,
    make_published,
    make_survey,
    open_for,
    shown_items,
)


def published(**values: object) -> Questionnaire:
    batch = make_draft(make_survey(n_items=5), **values)
    questionnaires.start_publishing(batch)
    Batch.objects.filter(pk=batch.pk).update(status=Batch.Status.OPEN)
    questionnaire = batch.questionnaires.get()
    questionnaire.hit = make_hit()
    questionnaire.save()
    return Questionnaire.objects.select_related("batch__survey", "hit").get(pk=questionnaire.pk)


def places(assignment: Assignment) -> list[int]:
    return [response.place for response in assignment.responses.order_by("position")]


@pytest.mark.django_db
def test_five_people_see_each_of_five_items_once_at_each_place() -> None:
    questionnaire = published()
    drawn = [places(open_for(questionnaire)) for n in range(5)]
    assert [sorted(column) for column in zip(*drawn, strict=True)] == [[1, 2, 3, 4, 5]] * 5
    assert [sorted(row) for row in drawn] == [[1, 2, 3, 4, 5]] * 5


@pytest.mark.django_db
def test_a_batch_published_before_designs_were_drawn_keeps_the_order_of_its_questionnaires() -> None:
    questionnaire = make_published()
    assert questionnaire.batch.design is None
    assert [places(open_for(questionnaire)) for n in range(3)] == [[1, 2, 3, 4, 5]] * 3
    assert all("place" not in response.shown for response in questionnaire.batch.responses.all())


@pytest.mark.django_db
def test_the_page_has_the_items_in_the_drawn_order_and_names_them_by_their_positions() -> None:
    opened = open_for(published())
    items = shown_items(opened)
    assert [item.place for item in items] == [1, 2, 3, 4, 5]
    assert [places(opened)[item.position - 1] for item in items] == [1, 2, 3, 4, 5]
    assert [item.question for item in items] == [f"Question {item.position}?" for item in items]
    assert [item.position for item in shown_items(opened)] == [item.position for item in items]


@pytest.mark.django_db
def test_the_copy_of_the_answers_is_in_the_order_of_the_page_and_rebuilds_the_places() -> None:
    questionnaire = published()
    opened = answer(open_for(questionnaire))
    before, copy = places(opened), task_answers(opened)
    by_place = sorted(range(1, 6), key=lambda position: before[position - 1])
    assert [entry["position"] for entry in json.loads(copy)] == by_place
    Assignment.objects.filter(pk=opened.pk).update(saved_at=None, answer_xml=answer_xml(copy))
    for response in Response.objects.filter(assignment=opened):
        response.ratings.all().delete()
        response.delete()
    opened.refresh_from_db()
    assert recover(opened, questionnaire=questionnaire) is True
    assert places(opened) == before
