"""What is asked twice under one key is done once: one after the other, at once, and after a crash."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from threading import Barrier
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.utils import timezone

from surveys import sync
from surveys.api import idempotency, urls
from surveys.models import (
    ApiRequest,
    AuditEntry,
    Batch,
    Decision,
    Invitation,
    Item,
    Publishing,
    Simulation,
    Survey,
)
from tests.factories import make_draft, make_published, make_survey, submitted
from tests.policy_data import NEVER
from tests.surveys.api.asking import Asking, person_of, problem, token_of

Making = Callable[[Asking], tuple[str, Any]]
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


class Killed(BaseException):
    """What stands for `kill -9`: nothing that catches errors may catch it."""


@contextmanager
def killed(at: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the process die at a failpoint; what would be put in order on the way out stays as it is."""

    def reach(name: str) -> None:
        if name == at:
            raise Killed

    with monkeypatch.context() as dying:
        dying.setattr("surveys.api.urls.reach", reach)
        dying.setattr("surveys.api.idempotency.reach", reach)
        dying.setattr("surveys.api.idempotency.forget", lambda row: None)
        with pytest.raises(Killed):
            yield


def a_batch(script: Asking) -> tuple[str, Any]:
    make_survey(slug="rain")
    return "/studies/rain/batches", {"name": "Rain 1"}


def invitations(script: Asking) -> tuple[str, Any]:
    batch = make_published(endpoint="link", takes_links=True).batch
    return f"/batches/{batch.pk}/invitations", {"people": [{"name": "Ann"}, {"name": "Ben"}]}


def simulated_people(script: Asking) -> tuple[str, Any]:
    return f"/batches/{make_draft(make_survey(n_items=5), review_policy=NEVER).pk}/simulate", {"n_people": 3}


def more_simulated_people(script: Asking) -> tuple[str, Any]:
    path, body = simulated_people(script)
    return f"/batches/{script.post(path, body).json()['id']}/simulate", body


def a_study(script: Asking) -> tuple[str, Any]:
    return "/studies", STUDY


def a_budget(script: Asking) -> tuple[str, Any]:
    batch = make_published(budget=Decimal(100)).batch
    return f"/batches/{batch.pk}/budget", {"budget": {"amount": "200.00"}}


def a_decision(script: Asking) -> tuple[str, Any]:
    found = submitted(make_published())
    path = f"/batches/{found.hit.questionnaire.batch_id}/assignments/{found.pk}/decision"
    return path, {"action": "reject", "reason": "Empty."}


def items(script: Asking) -> tuple[str, Any]:
    make_survey(slug="rain")
    return "/studies/rain/items", {"allow_missing": "true", "accept_warnings": "true"}


def ask(script: Asking, path: str, body: Any) -> Any:
    if path.endswith("/items"):
        return script.upload(path, key="k1", items=SimpleUploadedFile("i.csv", CSV), **body)
    return script.post(path, body, key="k1")


def made() -> list[Any]:
    """All there is of what can be made or changed under a key."""
    batches = Batch.objects.order_by("pk").values_list("name", "budget")
    models = (Survey, Item, Invitation, Decision, AuditEntry)
    simulations = Simulation.objects.order_by("pk").values_list("n_people")
    return [*map(list, (batches, simulations)), *(model.objects.count() for model in models)]


MAKING = [
    a_batch, invitations, simulated_people, more_simulated_people, a_study, a_budget, a_decision, items,
]  # fmt: skip


@pytest.mark.parametrize("making", MAKING)
def test_what_dies_before_it_is_written_leaves_nothing_and_is_done_once(
    script: Asking, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, body = making(script)
    before = made()
    with killed("key.keeping", monkeypatch):
        ask(script, path, body)
    assert made() == before
    assert problem(ask(script, path, body)) == (409, "key-in-use")
    ApiRequest.objects.update(begun_at=timezone.now() - idempotency.LEASE)
    first, after = ask(script, path, body), made()
    assert (first.status_code in {200, 201}, after == before) == (True, False)
    assert (ask(script, path, body).content, made()) == (first.content, after)


@pytest.mark.parametrize("making", MAKING)
def test_what_dies_once_it_is_written_is_answered_as_it_would_have_been(
    script: Asking, making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, body = making(script)
    before = made()
    with killed("key.kept", monkeypatch):
        ask(script, path, body)
    after = made()
    answer = ask(script, path, body)
    assert (answer.status_code in {200, 201}, answer["Idempotency-Replayed"]) == (True, "true")
    assert (made(), after == before) == (after, False)


@pytest.mark.parametrize(("age", "status"), [(timedelta(minutes=9), 409), (timedelta(minutes=11), 201)])
def test_what_died_in_the_middle_is_taken_over_once_it_is_long_gone(
    script: Asking, age: timedelta, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with killed("key.begun", monkeypatch):
        script.post("/studies", STUDY, key="k1")
    ApiRequest.objects.update(begun_at=timezone.now() - age)
    assert script.post("/studies", STUDY, key="k1").status_code == status


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor == "sqlite", reason="one writes at a time")
@pytest.mark.parametrize("making", [a_batch, items])
def test_who_is_overtaken_writes_nothing(making: Making, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that only seemed dead comes back when another has its key."""
    script = Asking(token_of(person_of("Researcher")))
    path, body = making(script)
    before, real = made(), idempotency._keep

    def take_over() -> None:
        assert ApiRequest.objects.filter(status=None).update(begun_at=timezone.now()) == 1
        connection.close()

    def overtaken(row: ApiRequest, **answer: Any) -> None:
        with ThreadPoolExecutor(1) as another:
            another.submit(take_over).result()
        real(row, **answer)

    with monkeypatch.context() as slow:
        slow.setattr(idempotency, "_keep", overtaken)
        assert problem(ask(script, path, body)) == (409, "key-in-use")
    assert (made(), ApiRequest.objects.count()) == (before, 1)


def test_what_is_done_outside_of_transactions_is_known_by_an_address_there_is() -> None:
    addresses = {str(one.pattern) for one in urls.urlpatterns}
    assert urls.APART - addresses == set()


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
