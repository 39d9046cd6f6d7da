from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotators.models import Assignment, Worker
from surveys.answering import arrival
from surveys.answering.arrival import (
    PREVIEW,
    CannotServe,
    Claims,
    is_entity_id,
    named,
    open_assignment,
    read_claims,
)
from surveys.answering.claiming import most_from_one
from surveys.answering.collection import save_draft
from surveys.answering.orders import History
from surveys.answering.presentation import opened_responses, preview_items
from surveys.models import Questionnaire, Response
from tests.factories import (
    claims_for,
    make_assignment,
    make_batch,
    make_hit,
    make_item,
    make_published,
    make_questionnaire,
    make_worker,
    open_for,
    shown_items,
)

pytestmark = pytest.mark.django_db
QUERY = {
    "assignmentId": "3ASSIGNMENT",
    "hitId": "3HIT",
    "workerId": "AWORKER",
    "turkSubmitTo": "https://www.mturk.com",
}


def refusal_of(questionnaire: Questionnaire, claims: Claims) -> str:
    with pytest.raises(CannotServe) as caught:
        open_assignment(questionnaire, claims=claims)
    assert str(caught.value) != ""
    return caught.value.kind


def test_claims_are_read() -> None:
    claims = read_claims(QUERY, endpoint="production")
    assert claims == Claims("3ASSIGNMENT", "3HIT", "AWORKER", "https://www.mturk.com")
    assert claims.is_preview is False


def test_claims_with_escaped_separators_are_read() -> None:
    keys = ["assignmentId", "amp;hitId", "amp;workerId", "amp;turkSubmitTo"]
    mangled = dict(zip(keys, QUERY.values(), strict=True))
    assert read_claims(mangled, endpoint="production") == read_claims(QUERY, endpoint="production")


def test_claims_may_end_in_a_slash_and_have_blanks() -> None:
    loose = {**QUERY, "turkSubmitTo": "https://www.mturk.com/", "workerId": " AWORKER "}
    assert read_claims(loose, endpoint="production") == read_claims(QUERY, endpoint="production")


def test_a_preview_needs_neither_worker_nor_address() -> None:
    claims = read_claims({"assignmentId": PREVIEW, "hitId": "3HIT"}, endpoint="production")
    assert claims == Claims(PREVIEW, "3HIT", "", "")
    assert claims.is_preview is True
    assert read_claims({}, endpoint="production").is_preview is True


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example",
        "https://workersandbox.mturk.com",  # another endpoint's
        "https://www.mturk.com.evil.example",
        "https://www.mturk.com/mturk/externalSubmit",
        "http://www.mturk.com",
        "javascript:alert(1)",
    ],
)
def test_a_foreign_address_to_submit_to_is_refused(address: str) -> None:
    with pytest.raises(CannotServe) as caught:
        read_claims({**QUERY, "turkSubmitTo": address}, endpoint="production")
    assert caught.value.kind == "bad_claims"


def test_opening_writes_one_response_an_item() -> None:
    questionnaire = make_published()
    assignment = open_assignment(
        questionnaire, claims=claims_for(questionnaire), user_agent="x" * 300
    ).assignment
    assert (assignment.status, assignment.saved_at, len(assignment.user_agent)) == ("Accepted", None, 255)
    assert [r.position for r in assignment.responses.all()] == [1, 2, 3, 4, 5]
    assert {(r.batch, r.worker) for r in Response.objects.all()} == {(questionnaire.batch, assignment.worker)}


@pytest.mark.parametrize(
    "changes",
    [
        {"hit_id": "3OTHER"},
        {"worker_id": ""},
        {"worker_id": "A\x00B"},
        {"assignment_id": "3\x00"},
        {"worker_id": "<b>"},
        {"worker_id": "Ａ١"},
        {"assignment_id": PREVIEW},
        {"assignment_id": ""},
    ],
)
def test_claims_that_dont_fit_are_refused(changes: dict[str, str]) -> None:
    questionnaire = make_published()
    claims = Claims(**{**asdict(claims_for(questionnaire)), **changes})
    assert refusal_of(questionnaire, claims) == "bad_claims"
    assert (Worker.objects.count(), Assignment.objects.count()) == (0, 0)


def test_a_hit_not_yet_recorded_is_to_be_reloaded() -> None:
    questionnaire = make_published()
    claims = claims_for(questionnaire)
    Questionnaire.objects.update(hit=None)
    assert refusal_of(Questionnaire.objects.get(), claims) == "not_published"


def test_an_excluded_worker_is_turned_away() -> None:
    questionnaire = make_published()
    make_worker("AWORKER", standing="excluded")
    assert refusal_of(questionnaire, claims_for(questionnaire, worker="AWORKER")) == "excluded"
    assert Assignment.objects.count() == 0


def test_a_watched_worker_and_one_excluded_elsewhere_may_work() -> None:
    questionnaire = make_published()
    make_worker("AWATCHED", standing="watch")
    make_worker("AELSEWHERE", standing="excluded", source="production")
    assert open_for(questionnaire, worker="AWATCHED").status == "Accepted"
    assert open_for(questionnaire, worker="AELSEWHERE").status == "Accepted"


def test_a_reload_keeps_draft_and_orders() -> None:
    questionnaire = make_published()
    first = open_for(questionnaire, worker="AWORKER", assignment="3A")
    save_draft(first, position=2, data={"answer": "no"}, version=4, active_seconds=3.0)
    before = [(r.pk, r.shown) for r in first.responses.all()]
    again = open_for(questionnaire, worker="AWORKER", assignment="3A")
    assert (again.pk, again.nonce) == (first.pk, first.nonce)
    assert [(r.pk, r.shown) for r in again.responses.all()] == before
    assert [item.draft for item in shown_items(again)] == [{}, {"answer": "no"}, {}, {}, {}]


def test_a_claim_that_made_room_is_not_counted_as_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    questionnaire, counted = make_published(n_items=1), []
    assert questionnaire.hit is not None
    most = most_from_one(questionnaire.hit)
    for _ in range(most):
        open_for(questionnaire)
    monkeypatch.setattr(History, "_count_item", lambda self, *firsts: counted.append(firsts[-1]))
    open_for(questionnaire)
    assert (Assignment.objects.count(), sum(counted)) == (most, most - 1)


def test_who_came_twice_at_once_has_one_assignment_and_its_orders() -> None:
    """Both were told that nobody has opened the HIT under this AssignmentId; the second waited for the first."""
    questionnaire = make_published()
    claims, unknown = claims_for(questionnaire, worker="AWORKER", assignment="3A"), {"is_new": True}
    unknown |= {"is_unknown": True}
    first, second = (open_assignment(questionnaire, claims=claims, **unknown) for _ in range(2))
    assert (first.is_newcomer, second.is_newcomer, Worker.objects.count()) == (True, False, 1)
    assert (second.assignment.pk, second.drawn) == (first.assignment.pk, [])
    assert [one.pk for one in second.responses(questionnaire.batch)] == [
        one.pk for one in first.responses(questionnaire.batch)
    ]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"assignmentId": "3A"}, "3A"),
        ({"amp;assignmentId": " 3A "}, "3A"),
        ({"assignmentId": "3" * 65}, "3" * 64),
        ({"assignmentId": PREVIEW}, ""),
        ({"assignmentId": "3A\0"}, ""),
        ({}, ""),
    ],
)
def test_the_assignment_is_named_as_in_the_claims(query: dict[str, str], expected: str) -> None:
    assert named(query)[0] == expected
    claimed = read_claims(query, endpoint="production").assignment_id
    assert expected in {claimed, ""}
    assert (expected == "") == (not is_entity_id(claimed))


def test_a_second_accept_begins_anew_and_leaves_the_first_alone() -> None:
    questionnaire = make_published()
    first = open_for(questionnaire, worker="AWORKER", assignment="3OLD")
    save_draft(first, position=2, data={"answer": "no"}, version=4, active_seconds=3.0)
    again = open_for(questionnaire, worker="AWORKER", assignment="3NEW")
    first.refresh_from_db()
    assert (again.pk != first.pk, again.assignment_id, first.assignment_id) == (True, "3NEW", "3OLD")
    assert [item.draft for item in shown_items(again)] == [{}] * 5
    assert [item.draft for item in shown_items(first)] == [{}, {"answer": "no"}, {}, {}, {}]


def test_a_hit_that_was_handed_in_opens_under_its_own_id_alone() -> None:
    questionnaire = make_published()
    first = open_for(questionnaire, worker="AWORKER", assignment="3OLD")
    Assignment.objects.filter(pk=first.pk).update(status="Submitted", submitted_at=timezone.now())
    assert (
        refusal_of(questionnaire, claims_for(questionnaire, worker="AWORKER", assignment="3NEW"))
        == "seen_before"
    )
    assert open_for(questionnaire, worker="AWORKER", assignment="3OLD").pk == first.pk


def test_a_recycled_assignment_id_opens_an_assignment_of_its_own() -> None:
    questionnaire = make_published()
    first = open_for(questionnaire, worker="AFIRST", assignment="3A")
    save_draft(first, position=1, data={"answer": "no"}, version=1, active_seconds=3.0)
    second = open_for(questionnaire, worker="ASECOND", assignment="3A")
    assert second.pk != first.pk
    assert [item.draft for item in shown_items(second)] == [{}] * 5
    assert Assignment.objects.filter(assignment_id="3A").count() == 2


def sibling_of(questionnaire: Questionnaire) -> Questionnaire:
    return make_questionnaire(
        questionnaire.batch, items=list(questionnaire.items.all()), hit=make_hit(), sibling_of=questionnaire
    )


def test_who_saw_the_items_cant_work_on_a_sibling() -> None:
    questionnaire = make_published()
    sibling = sibling_of(questionnaire)
    open_for(questionnaire, worker="AWORKER")
    assert refusal_of(sibling, claims_for(sibling, worker="AWORKER")) == "seen_before"
    assert open_for(sibling, worker="AOTHER").hit == sibling.hit
    assert refusal_of(questionnaire, claims_for(questionnaire, worker="AOTHER")) == "seen_before"


def test_one_item_seen_is_enough_to_be_turned_away() -> None:
    questionnaire = make_published()
    item = make_item(questionnaire.batch.survey, position=9)
    overlap = make_questionnaire(
        questionnaire.batch, items=[item, questionnaire.items.all()[0]], hit=make_hit()
    )
    open_for(questionnaire, worker="AWORKER")
    assert refusal_of(overlap, claims_for(overlap, worker="AWORKER")) == "seen_before"


def test_the_same_items_in_another_batch_may_be_rated_again() -> None:
    questionnaire = make_published()
    batch = make_batch(questionnaire.batch.survey)
    repeat = make_questionnaire(batch, items=list(questionnaire.items.all()), hit=make_hit())
    open_for(questionnaire, worker="AWORKER")
    assert open_for(repeat, worker="AWORKER").hit == repeat.hit


def test_an_assignment_id_claimed_for_two_hits_is_refused() -> None:
    questionnaire = make_published()
    survey = questionnaire.batch.survey
    other = make_questionnaire(questionnaire.batch, items=[make_item(survey, position=9)], hit=make_hit())
    open_for(questionnaire, worker="AWORKER", assignment="3A")
    assert refusal_of(other, claims_for(other, worker="AWORKER", assignment="3A")) == "seen_before"
    assert Assignment.objects.count() == 1


def test_another_fault_of_the_database_is_not_taken_for_work_seen_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def draw(questionnaire: Questionnaire, *, assignment: Assignment, **known: bool) -> None:
        Assignment.objects.update(status="Approved")

    monkeypatch.setattr(arrival, "draw_responses", draw)
    with pytest.raises(IntegrityError, match="time"):
        open_for(make_published(), worker="AWORKER")
    assert Assignment.objects.count() == 0


@pytest.mark.django_db(transaction=True)
def test_two_tabs_at_once_are_one_assignment(in_parallel: Callable[..., list[Any]]) -> None:
    questionnaire = make_published()
    results = in_parallel(*[lambda: open_for(questionnaire, worker="AWORKER", assignment="3A")] * 4)
    assert {result.pk for result in results} == {Assignment.objects.get().pk}
    assert Response.objects.count() == 5


@pytest.mark.django_db(transaction=True)
def test_two_siblings_at_once_are_one_assignment(in_parallel: Callable[..., list[Any]]) -> None:
    questionnaire = make_published()
    sibling = sibling_of(questionnaire)
    results = in_parallel(
        lambda: open_for(questionnaire, worker="AWORKER", assignment="3A"),
        lambda: open_for(sibling, worker="AWORKER", assignment="3B"),
    )
    assert sorted(type(result).__name__ for result in results) == ["Assignment", "CannotServe"]
    assert (Assignment.objects.count(), Response.objects.count()) == (1, 5)


@pytest.mark.django_db(transaction=True)
def test_five_workers_at_once_stay_balanced(in_parallel: Callable[..., list[Any]]) -> None:
    questionnaire = make_published()
    workers = [f"AWORKER{n}" for n in range(5)]
    in_parallel(*[lambda w=w: open_for(questionnaire, worker=w) for w in workers])
    for item in questionnaire.items.all():
        model = item.outputs.get(system="model").pk
        assert sum(r.shown["outputs"][0] == model for r in item.responses.all()) in {2, 3}


def n_locks() -> int:
    """Return how many statements lock a row and nothing else: on SQLite a transaction locks everything."""
    return int(connection.features.has_select_for_update)


@pytest.mark.parametrize("n_items", [1, 5, 12])
def test_queries_dont_grow_with_the_items(
    n_items: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    questionnaire = make_published(n_items=n_items)
    for _ in range(3):
        open_for(questionnaire)
    questionnaire = Questionnaire.objects.select_related("batch__survey", "hit").get()
    claims = claims_for(questionnaire, worker="ANEW")
    with django_assert_num_queries(8 + n_locks()):
        opened = open_assignment(questionnaire, claims=claims)
        assert len(opened.responses(questionnaire.batch)) == n_items
    assignment = opened.assignment
    with django_assert_num_queries(1):
        assert len(opened_responses(assignment, batch=questionnaire.batch)) == n_items
    with django_assert_num_queries(1):
        assert len(preview_items(questionnaire)) == n_items


def test_of_a_newcomer_nothing_is_asked_and_of_others_what_they_have_seen(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    make_worker("AKNOWN")
    first, second = (make_published() for _ in range(2))
    with django_assert_num_queries(8 + n_locks()):
        opened = open_assignment(first, claims=claims_for(first, worker="ANEW"))
    assert opened.is_newcomer
    with django_assert_num_queries(8 + n_locks()):  # one question more, and no worker to be written
        opened = open_assignment(second, claims=claims_for(second, worker="AKNOWN"))
    assert not opened.is_newcomer


def test_another_assignment_in_the_way_is_not_taken_over() -> None:
    """The database's one row per (HIT, worker) is found even if the marketplace wrote it first."""
    questionnaire = make_published()
    assert questionnaire.hit is not None
    mirrored = make_assignment(questionnaire.hit, status="Submitted", worker=make_worker("AWORKER"))
    claims = claims_for(questionnaire, worker="AWORKER", assignment="3B")
    assert refusal_of(questionnaire, claims) == "seen_before"
    opened = open_for(questionnaire, worker="AWORKER", assignment=mirrored.assignment_id)
    assert (opened.pk, opened.assignment_id) == (mirrored.pk, mirrored.assignment_id)
    assert opened.responses.count() == 5


def test_nobody_comes_to_a_batch_without_a_marketplace_as_if_by_one() -> None:
    with pytest.raises(CannotServe, match="personal link") as refused:
        read_claims({"assignmentId": "A", "turkSubmitTo": "https://x.example"}, endpoint="link")
    assert refused.value.kind == "unknown"
