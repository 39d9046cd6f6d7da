"""What the database itself refuses, and what is derived from rows."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError
from django.utils import timezone

from surveys.models import (
    Batch,
    Decision,
    Item,
    Output,
    Picture,
    Questionnaire,
    QuestionnaireItem,
    Rating,
    Replacement,
    Response,
    Survey,
    definition_choices,
    new_code,
)
from surveys.protocols.criteria import Choice
from surveys.protocols.definition import DefinitionError
from tests.factories import (
    make_assignment,
    make_batch,
    make_draft,
    make_hit,
    make_item,
    make_published,
    make_questionnaire,
    make_survey,
    open_for,
)
from tests.protocols import ESNLIVE, VQAX

pytestmark = pytest.mark.django_db


def copy_of(row: Any, **changes: Any) -> None:
    """Write the row once more, with these changes."""
    values = {
        field.attname: getattr(row, field.attname) for field in row._meta.fields if not field.primary_key
    }
    type(row).objects.create(**{**values, **changes})


def test_a_survey_slug_exists_once() -> None:
    with pytest.raises(IntegrityError):
        copy_of(make_survey())


@pytest.mark.parametrize("changes", [{"position": 2}, {"external_id": "other"}])
def test_an_item_is_in_a_survey_once_and_has_a_place_of_its_own(changes: dict[str, Any]) -> None:
    item = make_item(make_survey())
    copy_of(item, survey_id=make_survey().pk)
    with pytest.raises(IntegrityError):
        copy_of(item, **changes)


def test_a_system_says_one_thing_about_an_item() -> None:
    output = make_item(make_survey()).outputs.all()[0]
    copy_of(output, system="third", code=new_code())
    with pytest.raises(IntegrityError):
        copy_of(output, code=new_code())


def test_codes_are_opaque_and_unlike() -> None:
    make_item(make_survey(), systems=("a", "b", "c"))
    codes = list(Output.objects.values_list("code", flat=True))
    assert len(set(codes)) == 3
    assert all(len(code) == 16 for code in codes)


def test_a_picture_has_a_place_of_its_own() -> None:
    picture = Picture.objects.create(item=make_item(make_survey()), name="a.jpg")
    assert picture.get_absolute_url() == f"/pictures/{picture.code}"
    with pytest.raises(IntegrityError):
        copy_of(picture, code=new_code())


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"snapshot": None}, "published_batch_has_snapshot"),
        ({"items_per_hit": 0}, "batch_has_items_per_hit"),
        ({"assignments_per_hit": 0}, "batch_has_assignments_per_hit"),
        ({"reward": Decimal(0)}, "batch_pays"),
        ({"assumed_minutes": Decimal(0)}, "batch_takes_time"),
    ],
)
def test_a_batch_the_database_refuses(changes: dict[str, Any], constraint: str) -> None:
    batch = make_batch(make_survey())
    with pytest.raises(IntegrityError, match=constraint):
        Batch.objects.filter(pk=batch.pk).update(**changes)


def test_a_batch_uses_todays_definition_until_it_is_published() -> None:
    batch = make_draft(make_survey())
    assert batch.definition == VQAX
    frozen = {**VQAX.to_snapshot(), "title": "As it was"}
    assert make_batch(make_survey(), snapshot=frozen).definition.title == "As it was"


def test_a_survey_of_an_unknown_type_says_so() -> None:
    with pytest.raises(DefinitionError, match="Unknown survey type 'gone'"):
        _ = Survey(definition_key="gone").definition
    assert ("evil-vqax", "e-ViL: VQA-X") in definition_choices()


def test_choices_are_the_definitions_or_the_items_own() -> None:
    item = make_item(make_survey(), choices=("no", "yes"))
    assert item.choices_for(VQAX) == (Choice("no", "No"), Choice("yes", "Yes"))
    assert ESNLIVE.answer is not None
    assert item.choices_for(ESNLIVE) == ESNLIVE.answer.choices


def test_a_questionnaire_has_its_place_and_shows_an_item_once() -> None:
    questionnaire = make_published(n_items=2)
    with pytest.raises(IntegrityError):
        make_questionnaire(questionnaire.batch, items=[], position=1)


@pytest.mark.parametrize("field", ["position", "item_id"])
def test_a_slot_is_taken_once(field: str) -> None:
    slots = list(make_published(n_items=2).slots.all())
    with pytest.raises(IntegrityError):
        QuestionnaireItem.objects.filter(pk=slots[0].pk).update(**{field: getattr(slots[1], field)})


def test_a_hit_is_of_one_questionnaire() -> None:
    questionnaire = make_published()
    with pytest.raises(IntegrityError):
        make_questionnaire(questionnaire.batch, items=[], hit=questionnaire.hit)


def test_the_database_shows_a_worker_an_item_once_in_a_batch() -> None:
    response = open_for(make_published(n_items=1)).responses.get()
    elsewhere = make_assignment(make_hit(), worker=response.worker)
    copy_of(response, assignment_id=elsewhere.pk)
    assert Response.objects.filter(assignment=elsewhere).update(is_claim=False) == 1
    with pytest.raises(IntegrityError):
        Response.objects.filter(pk=response.pk).update(is_claim=False)


def test_a_response_is_once_per_assignment_and_item() -> None:
    response = open_for(make_published(n_items=1)).responses.get()
    other = make_batch(make_survey())
    with pytest.raises(IntegrityError):
        copy_of(response, batch_id=other.pk)


def test_active_seconds_are_not_negative() -> None:
    open_for(make_published(n_items=1))
    with pytest.raises(IntegrityError, match="active_seconds_not_negative"):
        Response.objects.update(active_seconds=-1)


@pytest.mark.parametrize("is_about_output", [True, False])
def test_a_criterion_is_rated_once(is_about_output: bool) -> None:
    response = open_for(make_published(n_items=1)).responses.get()
    output = response.item.outputs.all()[0] if is_about_output else None
    rating = Rating.objects.create(response=response, output=output, criterion="good", value="yes", score=1)
    copy_of(rating, criterion="other")
    with pytest.raises(IntegrityError):
        copy_of(rating)


def test_an_assignment_is_decided_and_replaced_once() -> None:
    questionnaire = make_published()
    assert questionnaire.hit is not None
    rejected = make_assignment(questionnaire.hit, status="Rejected")
    replacement = Replacement.objects.create(
        replaces=rejected, questionnaire=questionnaire, opened_by="extend"
    )
    assert str(replacement) == f"for {rejected}"
    with pytest.raises(IntegrityError):
        copy_of(replacement)


def test_an_assignment_has_one_decision() -> None:
    decision = Decision.objects.create(
        assignment=make_assignment(make_hit()), verdict="flag", decided_at=timezone.now()
    )
    with pytest.raises(IntegrityError):
        copy_of(decision)


def test_names_and_addresses() -> None:
    questionnaire = make_published(n_items=1)
    assert str(questionnaire) == f"{questionnaire.batch.name} #1"
    assert questionnaire.get_absolute_url() == f"/hits/{questionnaire.pk}/"
    assert str(QuestionnaireItem.objects.get()) == f"{questionnaire}/1"
    assert [str(o) for o in Output.objects.all()] == ["model on item-1", "ground_truth on item-1"]
    assert (str(Item.objects.get()), Questionnaire.objects.get().hit) == ("item-1", questionnaire.hit)
