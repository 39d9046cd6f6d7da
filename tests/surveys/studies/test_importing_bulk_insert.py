"""Rows inserted without objects are what objects would have made them."""

import pytest
from django.db import IntegrityError, connection
from django.forms import model_to_dict
from django.test.utils import CaptureQueriesContext

from surveys.models import Item, Output, Picture
from surveys.studies.importing import writing
from surveys.studies.importing.bulk_insert import insert
from tests.factories import make_survey

pytestmark = pytest.mark.django_db


def columns_of(row):
    return {field.name for field in row._meta.concrete_fields}


def test_a_row_is_what_an_object_would_be():
    survey = make_survey()
    payload, choices = {"question": "Как?", "columns": {"a": 'b"c%s'}}, [{"value": "1", "label": "one"}]
    values = ("i1", "s1", 1, None, payload, choices, "1", [])
    insert(Item, columns=writing.ITEM, rows=[(survey.pk, *values)])
    plain = Item.objects.create(
        survey=survey,
        **dict(zip(writing.ITEM[1:], ("i2", "s1", 2, *values[3:]), strict=True)),
    )
    row = Item.objects.get(external_id="i1")
    ours, theirs = ({**model_to_dict(one), "id": 0} for one in (row, Item.objects.get(pk=plain.pk)))
    assert ours | {"external_id": "i2", "position": 2} == theirs
    assert abs((plain.created_at - row.created_at).total_seconds()) < 60


def test_defaults_are_the_models_and_a_code_is_each_rows_own():
    survey = make_survey()
    insert(Item, columns=writing.ITEM, rows=[(survey.pk, "i1", "s1", 1, 3, {}, [], "", [])])
    item = Item.objects.get()
    insert(Output, columns=writing.OUTPUT, rows=[(item.pk, name, "said", "", None) for name in ("a", "b")])
    insert(
        Picture,
        columns=writing.PICTURE,
        rows=[(item.pk, n, "p.png", "", *writing.NOT_THERE) for n in (1, 2)],
    )
    plain = Picture.objects.create(item=item, position=3, name="p.png")
    codes = [*Output.objects.values_list("code", flat=True), *Picture.objects.values_list("code", flat=True)]
    assert (len(set(codes)), {len(code) for code in codes}) == (5, {len(plain.code)})
    first, last = Picture.objects.get(position=1), Picture.objects.get(position=3)
    own = {"id", "position", "code"}
    for name in columns_of(first) - own:
        assert getattr(first, name) == getattr(last, name), name


def test_the_database_still_refuses():
    survey = make_survey()
    twice = [(survey.pk, "i1", "s1", n, None, {}, [], "", []) for n in (1, 2)]
    with pytest.raises(IntegrityError):
        insert(Item, columns=writing.ITEM, rows=twice)


def test_nothing_is_asked_for_no_rows():
    with CaptureQueriesContext(connection) as captured:
        insert(Picture, columns=writing.PICTURE, rows=[])
    assert len(captured) == 0
