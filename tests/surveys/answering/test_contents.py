"""What comes in a column of its item's row is what the item's own query sets read."""

from typing import Any

import pytest
from django.db import connection
from django.db.models import F, OuterRef
from pytest_django import DjangoAssertNumQueries

from annotators.models import Worker
from statements import Statement
from statements.gathered import Gathered, Tallied
from surveys.answering.contents import OUTPUTS, PICTURES, contents_of, with_contents
from surveys.models import Item, Output, Picture, QuestionnaireItem, Survey
from tests.factories import make_item, make_published

pytestmark = pytest.mark.django_db

TEXTS = ['"quoted" \\ and \\u0041', "a\nb\tc\x01d\u2028e", "Да 😀 \U0010ffff", "", "[1, 2]", "null", "1.0"]


def columns(row: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(row).items() if name != "_state"}


def read(*names: str) -> list[Item]:
    statement = Statement(
        lambda: with_contents(QuestionnaireItem.objects.all(), *names).order_by("position", "pk")
    )
    return [slot.item for slot in contents_of(statement, *names)]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("is_correct", [None, True, False])
def test_outputs_are_the_query_sets(text: str, is_correct: bool | None) -> None:
    make_published(n_items=2)
    Output.objects.update(text=text, answer=text, model_correct=is_correct)
    items = read(OUTPUTS)
    assert [len(item.outputs.all()) for item in items] == [2, 2]
    for item in items:
        assert [columns(one) for one in item.outputs.all()] == [
            columns(one) for one in Output.objects.filter(item=item)
        ]


@pytest.mark.parametrize("widths", [None, [], [320, 640]])
@pytest.mark.parametrize("file", ["", "pictures/Дом.png"])
def test_pictures_are_the_query_sets(widths: list[int] | None, file: str) -> None:
    make_published(n_items=2)
    for item in Item.objects.all():
        for position in (2, 3, 1):
            Picture.objects.update_or_create(
                item=item,
                position=position,
                defaults={"name": f"{position}.png", "file": file, "width": 640, "widths": widths},
            )
    for item in read(PICTURES):
        stored = list(Picture.objects.filter(item=item))
        assert [picture.position for picture in item.pictures.all()] == [1, 2, 3]
        assert [columns(one) for one in item.pictures.all()] == [columns(one) for one in stored]
        assert [one.is_there for one in item.pictures.all()] == [one.is_there for one in stored]


def test_what_an_item_has_none_of_is_asked_of_nobody(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    questionnaire = make_published(n_items=1)
    Output.objects.all().delete()
    Picture.objects.all().delete()
    with django_assert_num_queries(1):
        (item,) = read(OUTPUTS, PICTURES)
        assert (list(item.outputs.all()), list(item.pictures.all())) == ([], [])
    assert item.survey_id == questionnaire.batch.survey_id


def test_each_item_has_its_own() -> None:
    make_published(n_items=3)
    make_item(Item.objects.earliest("pk").survey, position=9)  # shown nowhere
    assert {output.item_id == item.pk for item in read(OUTPUTS) for output in item.outputs.all()} == {True}


def test_saved_rows_know_that_they_are_there() -> None:
    make_published(n_items=1)
    (item,) = read(OUTPUTS)
    output = item.outputs.all()[0]
    assert (output._state.adding, output._state.db) == (False, connection.alias)


def test_moments_are_not_gathered() -> None:
    with pytest.raises(TypeError, match="created_at"):
        Gathered(Worker, by="source", order="pk")


def test_keys_that_are_no_numbers_are_not_gathered() -> None:
    with pytest.raises(TypeError, match="questionnaire"):
        Gathered(QuestionnaireItem, by="item", order="position")


def test_rows_are_tallied_by_what_they_have_in_common() -> None:
    survey = make_published(n_items=3).batch.survey
    for item, payload in zip(survey.items.all(), ({"a": ["=1", 2]}, {"a": ["=1", 2]}, {}), strict=True):
        item.payload = payload
        item.save()
    of_survey = Item.objects.filter(survey=OuterRef("pk")).annotate(
        first=F("payload__a__0"), second=F("payload__a__1")
    )
    columns = {
        "tally": Tallied(of_survey, "first", "second"),
        "none": Tallied(of_survey.filter(pk=0), "first", "second"),
    }
    one: Any = Statement(lambda: Survey.objects.filter(pk=survey.pk).annotate(**columns)).get()
    assert sorted(one.tally, key=str) == [["=1", 2, 2], [None, None, 1]]
    assert not one.none
