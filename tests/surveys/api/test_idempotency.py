"""What is asked twice under one key is done once: one after the other, at once, and after a crash."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.utils import timezone

from surveys import sync
from surveys.api import idempotency
from surveys.models import ApiRequest, AuditEntry, Batch, Publishing, Survey
from tests.factories import make_draft, make_survey
from tests.policy_data import NEVER
from tests.surveys.api.asking import Asking, person_of, problem, token_of

STUDY = {"name": "Rain", "survey_type": "evil-vqax"}
CSV = b"""item_id,image,question,answer,choices,system,explanation
one,one.png,Is it raining?,yes,yes|no,ofa-x,People hold umbrellas.
one,one.png,Is it raining?,yes,yes|no,ground_truth,The street is wet.
"""


@pytest.fixture
def script(db: None) -> Asking:
    return Asking(token_of(person_of("Researcher")))


def test_the_second_is_answered_as_the_first(script: Asking) -> None:
    first, second = (script.post("/studies", STUDY, key="k1") for _ in range(2))
    assert (first.status_code, second.status_code, first.json() == second.json()) == (201, 201, True)
    assert ("Idempotency-Replayed" in first, second["Idempotency-Replayed"]) == (False, "true")
    assert Survey.objects.count() == 1


def test_without_a_key_it_is_asked_anew(script: Asking) -> None:
    script.post("/studies", STUDY)
    assert problem(script.post("/studies", STUDY)) == (422, "invalid")


@pytest.mark.parametrize("other", [{**STUDY, "name": "Snow"}, {**STUDY, "survey_type": "xai"}])
def test_a_key_is_for_one_thing(script: Asking, other: dict[str, str]) -> None:
    script.post("/studies", STUDY, key="k1")
    assert problem(script.post("/studies", other, key="k1")) == (422, "key-reused")
    assert Survey.objects.count() == 1


def test_the_same_body_to_another_address_is_another_thing(script: Asking) -> None:
    for slug in ("rain", "snow"):
        make_survey(slug=slug)
    assert script.post("/studies/rain/batches", {}, key="k1").status_code == 201
    assert problem(script.post("/studies/snow/batches", {}, key="k1")) == (422, "key-reused")


def test_keys_of_two_people_are_two_keys(script: Asking) -> None:
    other = Asking(token_of(person_of("Researcher", "eve")))
    script.post("/studies", STUDY, key="k1")
    assert other.post("/studies", {**STUDY, "name": "Snow"}, key="k1").status_code == 201


def test_a_refusal_leaves_the_key_free(script: Asking) -> None:
    assert problem(script.post("/studies", {**STUDY, "survey_type": "none"}, key="k1")) == (422, "invalid")
    assert script.post("/studies", STUDY, key="k1").status_code == 201


def test_after_a_day_a_key_is_new(script: Asking) -> None:
    script.post("/studies", STUDY, key="k1")
    ApiRequest.objects.update(begun_at=timezone.now() - timedelta(hours=24, seconds=1))
    assert script.post("/studies", {**STUDY, "name": "Snow"}, key="k1").status_code == 201


def test_what_has_ended_is_deleted_though_nobody_asks_again(script: Asking) -> None:
    for key in ("old", "young"):
        script.post("/studies", {**STUDY, "name": key}, key=key)
    ApiRequest.objects.filter(key="old").update(begun_at=timezone.now() - timedelta(hours=25))
    for _ in range(2):
        sync.forget_api_requests()
    assert [row.key for row in ApiRequest.objects.all()] == ["young"]


@pytest.mark.parametrize(("age", "status"), [(timedelta(minutes=9), 409), (timedelta(minutes=11), 201)])
def test_what_died_in_the_middle_is_taken_over_once_it_is_long_gone(
    script: Asking, age: timedelta, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(idempotency, "finish", lambda *_: None)
        broken.setattr("surveys.api.studies.founding.found", lambda *_, **__: make_survey(slug="other"))
        script.post("/studies", STUDY, key="k1")
    ApiRequest.objects.update(begun_at=timezone.now() - age)
    assert script.post("/studies", STUDY, key="k1").status_code == status


def test_a_failure_leaves_the_key_free(script: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("broken")

    with monkeypatch.context() as broken:
        broken.setattr("surveys.api.studies.founding.found", fail)
        with pytest.raises(RuntimeError):
            script.post("/studies", STUDY, key="k1")
    assert script.post("/studies", STUDY, key="k1").status_code == 201


@pytest.mark.parametrize("key", ["", "x" * 256, "\x01"])
def test_what_is_no_key(script: Asking, key: str) -> None:
    assert problem(script.post("/studies", STUDY, key=key)) == (400, "malformed")
    assert Survey.objects.count() == 0


def test_a_file_sent_again_is_imported_once(script: Asking) -> None:
    make_survey(slug="rain")
    sent = {"allow_missing": "true", "accept_warnings": "true"}

    def send(content: bytes) -> Any:
        return script.upload(
            "/studies/rain/items", key="k1", items=SimpleUploadedFile("i.csv", content), **sent
        )

    first, second = send(CSV), send(CSV)
    assert (first.status_code, second.status_code, second["Idempotency-Replayed"]) == (201, 201, "true")
    assert problem(send(CSV.replace(b"wet", b"dry"))) == (422, "key-reused")
    assert Survey.objects.get().items.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor == "sqlite", reason="one writes at a time")
@pytest.mark.parametrize("keys", [("same", "same"), ("one", "two"), (None, None)])
def test_published_twice_at_once_it_is_published_once(
    keys: tuple[str | None, str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("surveys.api.batches.enqueue", lambda *_: None)
    batch = make_draft(make_survey(n_items=5), endpoint="link", review_policy=NEVER)
    token = token_of(person_of("Researcher"))
    total = Asking(token).get(f"/batches/{batch.pk}").json()["price"]["total"]
    barrier = Barrier(2)

    def publish(key: str | None) -> int:
        try:
            barrier.wait()
            return Asking(token).post(f"/batches/{batch.pk}/publish", {"total": total}, key=key).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        statuses = sorted(pool.map(publish, keys))
    assert statuses[0] == 200
    assert statuses[1] in ({200, 409} if keys[0] == keys[1] == "same" else {200})
    assert Publishing.objects.count() == 1
    sync.publish_batch(batch.pk)
    assert AuditEntry.objects.filter(kind="publishing", outcome="publish").count() == 1
    assert Batch.objects.get().questionnaires.count() == 1
