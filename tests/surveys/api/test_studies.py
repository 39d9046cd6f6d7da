"""Studies and items by the API: pages of lists, and files whose every wrong place is said."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from surveys.models import Item, Picture, Survey
from tests.factories import make_draft, make_item, make_survey
from tests.surveys.api.asking import Asking, person_of, problem, token_of
from tests.surveys.studies.importing_cases import archive, png

pytestmark = pytest.mark.django_db
HEAD = "item_id,image,question,answer,choices,system,explanation\n"
GOOD = HEAD + "one,1.png,Rain?,yes,yes|no,ofa-x,Umbrellas.\none,1.png,Rain?,yes,yes|no,ground_truth,Wet.\n"
BAD = GOOD + "two,2.png,Dog?,maybe,yes|no,ofa-x,Eyes.\ntwo,2.png,Dog?,maybe,yes|no,ground_truth,Runs.\n"


@pytest.fixture
def script() -> Asking:
    return Asking(token_of(person_of("Researcher")))


@pytest.fixture
def study() -> Survey:
    return make_survey(slug="rain")


def send(script: Asking, text: str, *, query: str = "", **fields: Any) -> Any:
    return script.upload(
        f"/studies/rain/items{query}", items=SimpleUploadedFile("i.csv", text.encode()), **fields
    )


def test_every_wrong_place_is_said_and_nothing_is_written(script: Asking, study: Survey) -> None:
    answer = send(script, BAD, allow_missing="true", accept_warnings="true")
    assert problem(answer) == (422, "rows")
    errors = [one for one in answer.json()["errors"] if one["severity"] == "error"]
    assert {(one["row"], one["line"], one["column"]) for one in errors} == {(3, 4, "answer")}
    assert Item.objects.count() == 0


def test_a_dry_run_says_the_same_and_writes_nothing(script: Asking, study: Survey) -> None:
    looked = send(script, BAD, query="?dry_run=true", allow_missing="true").json()
    assert (looked["is_dry_run"], looked["can_be_imported"], Item.objects.count()) == (True, False, 0)
    assert (3, "answer") in {(one.get("row"), one.get("column")) for one in looked["problems"]}
    looked = send(script, GOOD, query="?dry_run=true", allow_missing="true").json()
    assert (looked["can_be_imported"], looked["n_items"], looked["first_ids"]) == (True, 1, ["one"])
    assert Item.objects.count() == 0


def test_warnings_wait_to_be_accepted(script: Asking, study: Survey) -> None:
    make_item(study, external_id="zero", subject="one", systems=("other",))  # with another question
    refused = send(script, GOOD, allow_missing="true")
    assert (problem(refused), Item.objects.count()) == ((422, "rows"), 1)
    assert {one["severity"] for one in refused.json()["errors"]} == {"warning"}
    assert send(script, GOOD, allow_missing="true", accept_warnings="true").status_code == 201


def test_columns_of_ones_own_names(script: Asking, study: Survey) -> None:
    text = GOOD.replace("explanation", "because")
    given = {"columns": '{"explanation": "because"}', "allow_missing": "true", "accept_warnings": "true"}
    assert send(script, text, **given).status_code == 201
    for wrong in ("because", "[]", '{"explanation": 1}'):
        answer = send(script, text, **{**given, "columns": wrong})
        assert (problem(answer), answer.json()["errors"][0]["field"]) == ((422, "invalid"), "columns")


def test_columns_without_a_word_are_read_as_those_of_the_last_file_that_had_the_same(
    script: Asking, study: Survey
) -> None:
    first, second = (
        GOOD.replace("explanation", "because").replace("one,", f"{one},") for one in ("b1", "b2")
    )
    given = {"allow_missing": "true", "accept_warnings": "true"}
    assert send(script, first, columns='{"explanation": "because"}', **given).status_code == 201
    answer = send(script, second, **given)
    assert (answer.status_code, answer.json()["columns"]) == (201, {"explanation": "because"})


def test_what_the_page_refuses_is_refused(script: Asking, study: Survey) -> None:
    answer = send(script, GOOD, system="no good", layout="sideways")
    assert problem(answer) == (422, "invalid")
    assert {one["field"] for one in answer.json()["errors"]} == {"system", "layout"}


@pytest.mark.parametrize(
    ("sent", "field"),
    [({}, "items"), ({"allow_missing": "maybe"}, "allow_missing"), ({"system": "x" * 65}, "system")],
)
def test_fields_of_a_form_are_called_as_they_are_sent(
    script: Asking, study: Survey, sent: dict[str, str], field: str
) -> None:
    answer = send(script, GOOD, **sent) if sent else script.upload("/studies/rain/items")
    assert problem(answer) == (422, "invalid")
    assert [one["field"] for one in answer.json()["errors"]] == [field]


def test_a_list_by_cursor_shows_each_once_whatever_comes_meanwhile(script: Asking) -> None:
    made = [make_survey().slug for _ in range(5)]
    first = script.get("/studies", limit=2).json()
    make_survey()
    second = script.get("/studies", limit=2, cursor=first["next"]).json()
    third = script.get("/studies", limit=2, cursor=second["next"]).json()
    shown = [one["slug"] for page in (first, second, third) for one in page["results"]]
    assert (shown, third["next"]) == (made[::-1], None)


def test_a_study_says_how_much_is_in_it(script: Asking) -> None:
    survey = make_survey(slug="full", n_items=3)
    for _ in range(2):
        make_draft(survey)
    make_survey(slug="empty")
    counts = {
        one["slug"]: (one["n_items"], one["n_batches"]) for one in script.get("/studies").json()["results"]
    }
    assert counts == {"full": (3, 2), "empty": (0, 0)}


def test_items_come_in_the_order_of_their_file(script: Asking, study: Survey) -> None:
    for position in (1, 2, 3):
        make_item(study, position=position)
    page = script.get("/studies/rain/items", limit=2).json()
    rest = script.get("/studies/rain/items", limit=2, cursor=page["next"]).json()
    assert [one["id"] for one in page["results"] + rest["results"]] == ["item-1", "item-2", "item-3"]


@pytest.mark.parametrize("query", [{"cursor": "x"}, {"cursor": "LTE"}, {"limit": 0}, {"limit": 201}])
def test_what_is_no_page(script: Asking, query: dict[str, Any]) -> None:
    assert problem(script.get("/studies", **query)) == (422, "invalid")


def test_a_new_study_is_its_makers_alone(script: Asking) -> None:
    made = script.post("/studies", {"name": "Rain", "survey_type": "xai"}).json()
    survey = Survey.objects.get()
    assert (made["slug"], survey.is_shared, [one.username for one in survey.team.all()]) == (
        "rain",
        False,
        ["ada"],
    )


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "Rain", "survey_type": "none"}, "survey_type"),
        ({"name": "???", "survey_type": "xai"}, "name"),
        ({"name": "R\0", "survey_type": "xai"}, "name"),
        ({"name": "Rain", "survey_type": "xai", "is_shared": True}, "is_shared"),
        ({"name": "Taken", "survey_type": "xai"}, "name"),
    ],
)
def test_what_is_no_study(script: Asking, body: dict[str, Any], field: str) -> None:
    make_survey(slug="taken")
    answer = script.post("/studies", body)
    assert problem(answer) == (422, "invalid")
    assert [one["field"] for one in answer.json()["errors"]] == [field]
    assert Survey.objects.count() == 1


def test_what_is_no_json(script: Asking) -> None:
    answer = script.client.post("/api/v1/studies", b"{", content_type="application/json")
    assert problem(answer) == (400, "malformed")


def test_a_type_says_which_columns_a_file_has(script: Asking) -> None:
    columns = script.get("/survey-types/xai").json()["columns"]
    assert [(one["name"], one["is_required"]) for one in columns] == [
        ("item_id", True),
        ("image", True),
        ("question", True),
        ("explanation", True),
        ("system", False),
        ("model_correct", False),
        ("references", False),
        ("check", False),
    ]
    assert columns[2]["label"] == "Label the system gave"
    assert {one["columns"] for one in script.get("/survey-types").json()["results"]} == {None}


def test_a_file_under_columns_of_ones_own(script: Asking) -> None:
    script.post("/studies", {"name": "Own", "survey_type": "xai"})
    columns = {"item_id": "uid", "image": "picture", "label": "predicted", "explanation": "why"}
    file = SimpleUploadedFile("own.csv", b"uid;picture;predicted;why\n1;1.png;owl;Round eyes.\n")
    answer = script.upload(
        "/studies/own/items", items=file, columns=json.dumps(columns), system="alpha", allow_missing="true"
    )
    ours = {"question" if name == "label" else name: column for name, column in columns.items()}
    assert (answer.status_code, answer.json()["columns"]) == (201, ours)
    assert script.get("/studies/own/items").json()["results"][0]["outputs"][0]["system"] == "alpha"


def zipped(**files: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("pictures.zip", archive({f"{name}.png": data for name, data in files.items()}))


def test_pictures_come_later(
    script: Asking, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setattr("surveys.api.studies.enqueue", lambda *_: None)
    script.post("/studies", {"name": "Own", "survey_type": "xai"})
    lines = b"item_id,image,label,explanation,system\n1,one.png,owl,Eyes.,a\n2,two.png,hen,Comb.,a\n"
    script.upload("/studies/own/items", items=SimpleUploadedFile("i.csv", lines), allow_missing="true")
    path = "/studies/own/pictures"
    broken = script.upload(path, archive=zipped(one=b"GIF89a", two=png()))
    assert (problem(broken), broken.json()["errors"][0]["detail"].startswith("The picture")) == (
        (422, "rows"),
        True,
    )
    none = script.upload(path, archive=SimpleUploadedFile("p.zip", b"none"))
    assert (problem(none), none.json()["errors"][0]["field"]) == ((422, "invalid"), "archive")
    assert Picture.objects.exclude(file="").count() == 0
    pictures = zipped(one=png(), other=png()).read()  # once: an archive says when it was packed
    archives = [SimpleUploadedFile("pictures.zip", pictures) for _ in range(2)]
    answers = [script.upload(path, "k1", archive=each).json() for each in archives]
    assert answers == [{"n_attached": 1, "n_missing": 1}] * 2
    assert script.upload(path, archive=zipped(two=png())).json() == {"n_attached": 1, "n_missing": 0}
