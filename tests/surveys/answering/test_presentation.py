"""What a browser gets to know about an item, and what never."""

from dataclasses import asdict
from typing import Any

import pytest
from django.core.files.base import ContentFile

from annotators.models import Assignment, Worker
from surveys.answering.presentation import preview_items
from surveys.models import Picture, Questionnaire, Response
from tests.factories import (
    make_batch,
    make_hit,
    make_item,
    make_published,
    make_questionnaire,
    make_survey,
    open_for,
    shown_items,
)

pytestmark = pytest.mark.django_db


def secret_study() -> Questionnaire:
    """A questionnaire whose gold, systems, ids and file names would each be recognised anywhere."""
    survey = make_survey()
    for position in range(1, 6):
        item = make_item(
            survey,
            position=position,
            external_id=f"SECRETID{position}",
            systems=("SECRETSYSTEM", "SECRETREFERENCE"),
            payload={"question": "What?", "columns": {"answer": "SECRETCOLUMN"}},
        )
        Picture.objects.create(
            item=item, name="SECRETFILE.jpg", file=ContentFile(b"x", name=f"SECRETFILE{position}.jpg")
        )
    return make_questionnaire(make_batch(survey), items=list(survey.items.all()), hit=make_hit())


def everything_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in everything_in(part)]
    if isinstance(value, list | tuple):
        return [text for part in value for text in everything_in(part)]
    return [str(value)]


def test_nothing_shown_tells_gold_system_or_id(settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path
    questionnaire = secret_study()
    for items in (shown_items(open_for(questionnaire)), preview_items(questionnaire)):
        texts = everything_in([asdict(item) for item in items])
        assert [text for text in texts if "SECRET" in text] == []
        assert set(asdict(items[0])) == {
            *(
                "position",
                "place",
                "question",
                "pictures",
                "blocks",
                "choices",
                "outputs",
                "draft",
                "stays_judged",
                "among",
                "markable",
            )
        }
        assert set(asdict(items[0])["outputs"][0]) == {"code", "label", "text", "kind", "files"}
        codes = {output.code for item in items for output in item.outputs}
        assert len(codes) == 10
        assert all(len(code) == 16 and int(code, 16) >= 0 for code in codes)


def test_outputs_are_labelled_in_the_order_shown() -> None:
    questionnaire = make_published()
    assignment = open_for(questionnaire)
    for item, response in zip(shown_items(assignment), assignment.responses.all(), strict=True):
        assert [output.label for output in item.outputs] == ["Explanation 1", "Explanation 2"]
        codes = {o.pk: o.code for o in response.item.outputs.all()}
        assert [output.code for output in item.outputs] == [codes[pk] for pk in response.shown["outputs"]]
        assert [choice.value for choice in item.choices] == response.shown["choices"]
        assert item.question == f"Question {item.position}?"


def test_a_preview_writes_nothing_and_is_the_same_for_all() -> None:
    questionnaire = make_published()
    assert preview_items(questionnaire) == preview_items(questionnaire)
    assert (Assignment.objects.count(), Response.objects.count(), Worker.objects.count()) == (0, 0, 0)


def test_a_batch_shows_its_frozen_definition() -> None:
    questionnaire = make_published()
    batch = questionnaire.batch
    batch.snapshot["output_label"] = "Reason {n}"
    batch.save()
    questionnaire = Questionnaire.objects.get()
    assert shown_items(open_for(questionnaire))[0].outputs[0].label == "Reason 1"
    assert preview_items(questionnaire)[0].outputs[1].label == "Reason 2"


def test_a_picture_that_has_not_arrived_has_no_address(settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path
    questionnaire = secret_study()
    code = Picture.objects.order_by("item__position").values_list("code", flat=True)[1]
    Picture.objects.exclude(code=code).update(file="")
    urls = [picture.url for item in preview_items(questionnaire) for picture in item.pictures]
    assert urls == ["", f"/pictures/{code}", "", "", ""]
