"""Survey types that show one output at a time: each row is an item, several can be about one subject."""

import pytest

from surveys.models import Item, Survey
from surveys.studies.importing.pictures import FolderPictures, check_pictures
from surveys.studies.importing.plan import Plan
from surveys.studies.importing.reading import read_items
from surveys.studies.importing.writing import taken_ids, write_items
from tests.protocols import XAI
from tests.surveys.studies.importing_cases import batch_csv, jsonl, long_csv, places, png, slot, xai_row


def read(data: bytes, **options) -> Plan:
    return read_items(data, definition=XAI, **options)


def ids(plan: Plan) -> list[tuple[str, str]]:
    return [(item.external_id, item.subject) for item in plan.items]


def test_a_row_of_the_xai_survey_is_an_item() -> None:
    plan = read(long_csv([xai_row("a", model_correct="no"), xai_row("b", model_correct="yes")]))
    assert plan.problems == ()
    first = plan.items[0]
    assert ids(plan) == [("a", "a"), ("b", "b")]
    assert (first.question, first.gold, first.choices) == ("goldfish", "", [])
    assert [(o.system, o.text, o.model_correct) for o in first.outputs] == [
        ("lime", "Something orange in a bowl.", False)
    ]
    assert first.references == ()
    assert [picture.name for picture in first.pictures] == ["a.png"]
    assert first.payload == {
        "question": "goldfish",
        "header": ["id_0", "image_0", "label_0", "system_0", "explanation_0", "model_correct_0"],
        "columns": {
            "id": "a",
            "image": "a.png",
            "label": "goldfish",
            "system": "lime",
            "explanation": "Something orange in a bowl.",
            "model_correct": "no",
        },
        "row": {},
    }


def test_two_systems_make_two_items_of_one_subject() -> None:
    plan = read(long_csv([xai_row("a"), xai_row("a", system="shap", label="bowl"), xai_row("b")]))
    assert plan.problems == ()
    assert ids(plan) == [("a/lime", "a"), ("a/shap", "a"), ("b/lime", "b")]
    assert [item.question for item in plan.items] == ["goldfish", "bowl", "goldfish"]


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("FALSE", False), ("1", True), ("0", False), ("Yes", True), ("no", False), ("", None)],
)
def test_whether_the_model_is_right(text: str, value: bool | None) -> None:
    plan = read(long_csv([xai_row(model_correct=text)]))
    assert (plan.problems, plan.items[0].outputs[0].model_correct) == ((), value)


def test_json_says_true_and_false() -> None:
    plan = read(jsonl([xai_row("a") | {"model_correct": True}, xai_row("b") | {"model_correct": None}]))
    assert [item.outputs[0].model_correct for item in plan.items] == [True, None]


def test_a_value_that_says_neither_is_told_by_row_and_column() -> None:
    plan = read(long_csv([xai_row("a", model_correct="true"), xai_row("b", model_correct="maybe")]))
    message = '"maybe" says neither right nor wrong; write one of true, 1, yes, false, 0, no.'
    assert places(plan) == [("error", 2, 3, "model_correct", message)]


@pytest.mark.parametrize("column", ["references", "reference"])
def test_references_are_texts_to_measure_against(column: str) -> None:
    plan = read(long_csv([xai_row("a", **{column: "A fish in a bowl. | An orange fish. |"})]))
    assert (plan.problems, plan.items[0].references) == ((), ("A fish in a bowl.", "An orange fish."))


def test_the_same_output_twice() -> None:
    plan = read(long_csv([xai_row("a"), xai_row("b"), xai_row("a", explanation="Again.")]))
    assert places(plan) == [("error", 3, 4, "system", 'The item has an output by "lime" already, in row 1.')]


def test_every_gap_and_missing_column_is_named() -> None:
    plan = read(long_csv([xai_row("a"), xai_row("b", label=" ", explanation=""), xai_row("", system="模型")]))
    assert places(plan) == [
        ("error", 2, 3, "label", "The cell is empty."),
        ("error", 2, 3, "explanation", "The cell is empty."),
        ("error", 3, 4, "item_id", "The cell is empty."),
        ("error", 3, 4, "system", "A system name may hold only letters, digits, - and _ (at most 64)."),
    ]
    assert places(read(b"item_id,label\n1,x\n")) == [
        ("error", None, 1, name, "The column is missing. The file has item_id, label.")
        for name in ("image", "system", "explanation")
    ]


def test_systems_go_by_names_that_columns_can_have() -> None:
    rows = [
        xai_row("a", system="GPT-4o (May)"),
        xai_row("b", system="Émile 3.1"),
        xai_row("c", system="GPT-4o (May)"),
    ]
    plan = read(long_csv(rows))
    assert places(plan) == [
        ("warning", 1, 2, "system", "The system “GPT-4o (May)” is called GPT-4o-May here."),
        ("warning", 2, 3, "system", "The system “Émile 3.1” is called Emile-3-1 here."),
    ]
    assert [item.outputs[0].system for item in plan.items] == ["GPT-4o-May", "Emile-3-1", "GPT-4o-May"]


@pytest.mark.parametrize("names", [("a b", "a-b"), ("模型 1", "模型 2"), ("...", "—")])
def test_systems_that_would_be_called_alike_or_nothing_are_refused(names: tuple[str, str]) -> None:
    plan = read(long_csv([xai_row("a", system=names[0]), xai_row("b", system=names[1])]))
    assert [p.message for p in plan.errors][:1] == [
        "A system name may hold only letters, digits, - and _ (at most 64)."
    ]


def test_any_script_is_kept_as_it_is() -> None:
    texts = {"item_id": "объект-1", "label": "рыбка 🐠", "explanation": "Внутри круга — «оранжевое» пятно 👀"}
    plan = read(long_csv([xai_row("a") | texts]))
    item = plan.items[0]
    assert plan.problems == ()
    assert (item.subject, item.question, item.outputs[0].text) == tuple(texts.values())


def test_a_batch_csv_of_one_output_a_question() -> None:
    plan = read(batch_csv([slot(1), slot(1)], [slot(2), slot(3)]), system="lime")
    assert [item.subject for item in plan.items] == ["item-1", "item-1", "item-2", "item-3"]
    assert places(plan) == [("error", 1, 2, "id_1", 'The id "item-1" stands in row 1, column id_0 already.')]


def test_an_id_too_long_with_its_system() -> None:
    plan = read(long_csv([xai_row("x" * 252), xai_row("b", system="shap")]))
    assert places(plan) == [
        ("error", 1, 2, "item_id", "The text has 257 characters; at most 255 are allowed.")
    ]


@pytest.mark.django_db
def test_files_of_several_systems_one_after_the_other(settings, tmp_path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    (tmp_path / "a.png").write_bytes(png())
    pictures = FolderPictures(tmp_path)
    survey = Survey(name="X", slug="x", definition_key="xai")
    for system in ("lime", "shap"):
        row = xai_row("a", system=system, model_correct="0", references="A fish.")
        plan = check_pictures(read(long_csv([row]), taken=taken_ids(survey)), pictures=pictures)
        assert write_items(plan, survey=survey, pictures=pictures) == 1
    assert list(Item.objects.values_list("external_id", "subject", "references")) == [
        ("a", "a", ["A fish."]),
        ("a/shap", "a", ["A fish."]),
    ]
    found = Item.objects.values_list("outputs__system", "outputs__model_correct", "pictures__name")
    assert list(found) == [("lime", False, "a.png"), ("shap", False, "a.png")]
    assert taken_ids(survey) == {"a", "a/shap", "a/lime"}


@pytest.mark.django_db
@pytest.mark.parametrize("system", ["lime", "shap"])
def test_an_output_the_survey_has_is_refused(settings, tmp_path, system: str) -> None:
    settings.MEDIA_ROOT = tmp_path
    survey = Survey(name="X", slug="x", definition_key="xai")
    data = long_csv([xai_row("a"), xai_row("a", system="shap")])
    plan = check_pictures(read(data), pictures=None, allow_missing=True)
    write_items(plan, survey=survey, pictures=None)
    again = read(long_csv([xai_row("b"), xai_row("a", system=system)]), taken=taken_ids(survey))
    message = f'The survey has an output by "{system}" on item "a" already.'
    assert message in [problem.message for problem in again.errors]
