"""What the document does not name is refused wherever it stands, and no address breaks anything."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from surveys.models import Item, Protocol, Survey
from tests.factories import make_published
from tests.surveys.api.asking import Asking, person_of, problem, token_of
from tests.surveys.api.test_idempotency import CSV, STUDY

pytestmark = pytest.mark.django_db


@pytest.fixture
def script() -> Asking:
    return Asking(token_of(person_of("Researcher")))


def fields_of(answer: object) -> list[str]:
    return [one["field"] for one in answer.json()["errors"]]  # type: ignore[attr-defined]


def test_a_misspelt_dry_run_writes_nothing(script: Asking) -> None:
    script.post("/studies", STUDY)
    file = SimpleUploadedFile("items.csv", CSV)
    answer = script.upload("/studies/rain/items?dryrun=true", items=file, allow_missing="true")
    assert (problem(answer), fields_of(answer)) == ((422, "invalid"), ["dryrun"])
    assert "dry_run" in answer.json()["detail"]
    assert Item.objects.count() == 0


def test_a_misspelt_field_of_a_form_writes_nothing(script: Asking) -> None:
    script.post("/studies", STUDY)
    answer = script.upload(
        "/studies/rain/items", items=SimpleUploadedFile("i.csv", CSV), acept_warnings="true"
    )
    assert (problem(answer), fields_of(answer)) == ((422, "invalid"), ["acept_warnings"])
    file = SimpleUploadedFile("p.yaml", b"key: x")
    answer = script.upload(
        "/survey-types", file=file, shared="true", picture=SimpleUploadedFile("1.png", b"x")
    )
    assert (problem(answer), fields_of(answer)) == ((422, "invalid"), ["picture", "shared"])
    assert (Item.objects.count(), Protocol.objects.count()) == (0, 0)


@pytest.mark.parametrize("path", ["/studies", "/studies/rain", "/survey-types"])
def test_a_misspelt_part_of_a_query_is_refused(script: Asking, path: str) -> None:
    script.post("/studies", STUDY)
    answer = script.get(path, limits="3")
    assert (problem(answer), fields_of(answer)) == ((422, "invalid"), ["limits"])


def test_a_stranger_is_told_no_names() -> None:
    assert problem(Asking("assent_none").get("/studies", limits="3")) == (401, "not-signed-in")


@pytest.mark.parametrize("number", ["abc", "-1", "1.5", "%00", "a%00b", "%D9%A3", "0"])
@pytest.mark.parametrize("rest", ["", "/progress", "/assignments/1", "/files/tidy"])
def test_what_is_no_number_is_no_batch(script: Asking, number: str, rest: str) -> None:
    status, _ = problem(script.get(f"/batches/{number}{rest}"))
    assert status in (404, 422)


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 10**40])
def test_a_number_beyond_the_databases_is_no_batch(script: Asking, number: int) -> None:
    assert problem(script.get(f"/batches/{number}"))[0] in (404, 422)
    batch = make_published().batch
    assert problem(script.get(f"/batches/{batch.pk}/assignments/{number}"))[0] in (404, 422)


def test_an_answer_that_was_kept_is_for_those_who_may_have_it_still() -> None:
    ada = person_of("Researcher")
    script = Asking(token_of(ada))
    script.post("/studies", STUDY)
    first = script.post("/studies/rain/batches", {"endpoint": "link"}, key="k1")
    reader = Asking(token_of(ada, is_read_only=True))
    assert problem(reader.post("/studies/rain/batches", {"endpoint": "link"}, key="k1")) == (
        403,
        "not-allowed",
    )
    Survey.objects.get().team.clear()
    assert problem(script.post("/studies/rain/batches", {"endpoint": "link"}, key="k1")) == (404, "not-found")
    Survey.objects.get().team.add(ada)
    again = script.post("/studies/rain/batches", {"endpoint": "link"}, key="k1")
    assert (again.json() == first.json(), again["Idempotency-Replayed"]) == (True, "true")
    ada.groups.clear()
    assert problem(script.post("/studies/rain/batches", {"endpoint": "link"}, key="k1")) == (
        403,
        "not-allowed",
    )
