"""A column that is read only when somebody asks says the same as one that is read at once."""

import json

import pytest

from surveys.models import Batch
from surveys.models.unread import Unread
from tests.factories import make_published

pytestmark = pytest.mark.django_db


@pytest.fixture
def batch() -> Batch:
    return Batch.objects.get(pk=make_published().batch.pk)


def test_its_definition_needs_no_look_at_it(batch: Batch) -> None:
    assert batch.definition == batch.survey.definition
    assert type(batch.__dict__["snapshot"]) is Unread


def test_looked_at_it_is_data_of_its_own(batch: Batch) -> None:
    assert batch.snapshot == json.loads(json.dumps(batch.survey.definition.to_snapshot()))
    batch.snapshot["output_label"] = "Reason {n}"
    assert batch.definition.output_label == "Reason {n}"
    again = Batch.objects.get(pk=batch.pk)
    assert again.snapshot["output_label"] != "Reason {n}" != again.definition.output_label


@pytest.mark.parametrize("is_looked_at", [True, False])
def test_it_is_written_back_as_it_was(batch: Batch, is_looked_at: bool) -> None:
    before = json.loads(Batch.objects.values_list("snapshot", flat=True).get(pk=batch.pk))
    if is_looked_at:
        assert batch.snapshot == before
    batch.save()
    assert Batch.objects.get(pk=batch.pk).snapshot == before


def test_it_is_looked_into_by_the_database(batch: Batch) -> None:
    code = batch.definition.key
    assert Batch.objects.filter(snapshot__key=code).get() == batch
    assert Batch.objects.values_list("snapshot__key", flat=True).get() == code


def test_one_that_was_not_read_is_read_when_it_is_asked_for(batch: Batch) -> None:
    assert Batch.objects.defer("snapshot").get(pk=batch.pk).snapshot == batch.snapshot


def test_an_empty_one_is_none(batch: Batch) -> None:
    Batch.objects.update(snapshot={})
    empty = Batch.objects.get(pk=batch.pk)
    assert empty.definition == batch.survey.definition
    assert empty.snapshot == {}


def test_a_draft_has_none(batch: Batch) -> None:
    draft = Batch(survey=batch.survey)
    assert draft.snapshot is None
    assert draft.definition == batch.survey.definition
