"""Batches by the API: the launch page's rules, its price, and what is decided about the work."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from annotators.crowds.mturk.gateway import Gateway
from annotators.models import Assignment
from surveys import sync
from surveys.models import AuditEntry, Batch, Decision, Simulation
from surveys.publishing import questionnaires
from tests.factories import make_draft, make_published, make_survey, submitted
from tests.policy_data import NEVER
from tests.surveys.api.asking import Asking, hand_in, person_of, problem, token_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What workers were asked for."""
    tasks: list[Any] = []
    monkeypatch.setattr("surveys.api.batches.enqueue", lambda task, pk, *_: tasks.append((task.name, pk)))
    monkeypatch.setattr("surveys.api.review.enqueue", lambda task, pk: tasks.append((task.name, pk)))
    monkeypatch.setattr(Gateway, "balance", lambda self: Decimal(1000))
    return tasks


@pytest.fixture
def script() -> Asking:
    return Asking(token_of(person_of("Researcher")))


def dollars(amount: str) -> dict[str, str]:
    return {"amount": amount, "currency": "USD"}


def test_a_draft_left_alone_is_what_the_launch_page_proposes(script: Asking) -> None:
    make_survey(slug="rain", name="Rain", n_items=10)
    made = script.post("/studies/rain/batches", {}).json()
    assert (made["name"], made["status"], made["problems"]) == ("Rain 1", "draft", [])
    terms = made["terms"]
    assert (terms["endpoint"], terms["reward"], terms["items_per_hit"]) == ("embedded", dollars("1.60"), 5)
    assert (made["price"]["total"], made["price"]["n_assignments"]) == (dollars("19.20"), 10)
    assert Batch.objects.get().created_by is not None


def test_given_terms_are_kept_to_the_cent_and_the_second(script: Asking) -> None:
    make_survey(slug="rain", n_items=4)
    given = {
        "name": "Mine", "endpoint": "link", "items_per_hit": 2, "assignments_per_hit": 3, "reward": dollars("0.07"),
        "budget": dollars("12.30"), "assignment_duration_seconds": 95, "lifetime_seconds": 86_400, "seed": 11,
        "keywords": "rain, dogs", "pilot_items": 2, "page_language": "ru",
        "rejects_automatically": True, "replaces_auto_approved": False,
    }  # fmt: skip
    made = script.post("/studies/rain/batches", given).json()
    assert {name: made["terms"][name] for name in given} == given


def test_a_change_keeps_what_it_does_not_name(script: Asking) -> None:
    batch = make_draft(make_survey(n_items=5), endpoint="link", reward="0.40", review_policy=NEVER)
    changed = script.patch(f"/batches/{batch.pk}", {"assignments_per_hit": 7}).json()
    assert (changed["terms"]["assignments_per_hit"], changed["terms"]["reward"]) == (7, dollars("0.40"))
    again = script.patch(f"/batches/{batch.pk}", {"budget": dollars("9.00"), "takes_links": True}).json()
    assert (again["terms"]["assignments_per_hit"], again["terms"]["takes_links"]) == (7, True)
    none = script.patch(f"/batches/{batch.pk}", {"budget": None, "takes_links": False}).json()
    assert (none["terms"]["budget"], none["terms"]["takes_links"]) == (None, False)


@pytest.mark.parametrize(
    ("terms", "field"),
    [
        ({"reward": dollars("0.00")}, "reward"),
        ({"reward": {"amount": "1.001"}}, "reward.amount"),
        ({"reward": {"amount": "1.00", "currency": "EUR"}}, "reward.currency"),
        ({"reward": "1.00"}, "reward.amount"),
        ({"items_per_hit": 0}, "items_per_hit"),
        ({"lifetime_seconds": 29}, "lifetime_seconds"),
        ({"pilot_items": 0}, "pilot_items"),
        ({"page_language": "xx"}, "page_language"),
        ({"review": {"kind": "own"}}, "review.kind"),
        ({"review": {"kind": "own", "rules": {"luck": 1}}}, "review.rules"),
        ({"review": {"kind": "own", "rules": {"minimum_correct": 9}}}, "review.rules.minimum_correct"),
        ({"endpoint": "elsewhere"}, "endpoint"),
        ({"status": "open"}, "status"),
        ({"assumed_minutes": "many"}, "assumed_minutes"),
    ],
)
def test_wrong_terms_are_named_and_nothing_is_made(script: Asking, terms: dict[str, Any], field: str) -> None:
    make_survey(slug="rain", n_items=5)
    answer = script.post("/studies/rain/batches", terms)
    assert problem(answer) == (422, "invalid")
    assert field in {one["field"] for one in answer.json()["errors"]}
    assert Batch.objects.count() == 0


def test_rules_of_ones_own(script: Asking) -> None:
    make_survey(slug="rain", n_items=5)
    review = {"kind": "own", "rules": {"minimum_correct": 4, "too_fast": 3}, "cap_percent": 20}
    made = script.post("/studies/rain/batches", {"review": review}).json()
    rules = {rule["kind"]: rule for rule in made["terms"]["review_policy"]["rules"]}
    assert sorted(rules) == ["minimum_correct", "too_fast", "worker_cap"]
    assert (rules["minimum_correct"]["minimum"], rules["worker_cap"]["share"]) == (4, 0.2)


def test_publishing_wants_todays_price(script: Asking, sent: list[Any]) -> None:
    batch = make_draft(make_survey(n_items=5), endpoint="link", review_policy=NEVER)
    wrong = script.post(f"/batches/{batch.pk}/publish", {"total": dollars("1.00")})
    assert (problem(wrong), wrong.json()["errors"][0]["field"]) == ((422, "invalid"), "total.amount")
    total = script.get(f"/batches/{batch.pk}").json()["price"]["total"]
    first, second = (script.post(f"/batches/{batch.pk}/publish", {"total": total}) for _ in range(2))
    assert [(one.status_code, one.json()["status"]) for one in (first, second)] == [(200, "publishing")] * 2
    assert sent == [("surveys.sync.publish_batch", batch.pk)]
    sync.publish_batch(batch.pk)
    [entry] = AuditEntry.objects.all()
    assert (entry.outcome, entry.actor.username if entry.actor else "") == ("publish", "ada")


def test_where_money_is_real_the_name_is_wanted(script: Asking, settings: Any) -> None:
    settings.APP_URL = "https://assent.example.org"
    batch = make_draft(make_survey(n_items=5), endpoint="production", name="Real", review_policy=NEVER)
    total = script.get(f"/batches/{batch.pk}").json()["price"]["total"]
    path = f"/batches/{batch.pk}/publish"
    for body in ({"total": total}, {"total": total, "confirmation": "Reel"}):
        assert script.post(path, body).json()["errors"][0]["field"] == "confirmation"
    assert script.post(path, {"total": total, "confirmation": "Real"}).status_code == 200


@pytest.mark.parametrize("balance", [Decimal(0), Decimal("2.29")])
def test_an_account_that_holds_too_little_publishes_nothing(
    script: Asking, balance: Decimal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Gateway, "balance", lambda self: balance)
    batch = make_draft(make_survey(n_items=5), review_policy=NEVER)  # $2.30 with the fee
    total = script.get(f"/batches/{batch.pk}").json()["price"]["total"]
    assert total == dollars("2.30")
    assert problem(script.post(f"/batches/{batch.pk}/publish", {"total": total})) == (409, "refused")
    assert Batch.objects.get().status == "draft"


def test_a_budget_that_is_too_small_publishes_nothing(script: Asking) -> None:
    batch = make_draft(make_survey(n_items=5), endpoint="link", budget="0.50", review_policy=NEVER)
    total = script.get(f"/batches/{batch.pk}").json()["price"]["total"]
    answer = script.post(f"/batches/{batch.pk}/publish", {"total": total})
    assert (problem(answer), "budget is $0.50" in answer.json()["detail"]) == ((409, "refused"), True)


def test_what_is_published_is_not_changed(script: Asking) -> None:
    batch = make_published().batch
    assert problem(script.patch(f"/batches/{batch.pk}", {"name": "Other"})) == (409, "refused")


def test_stopped_twice_it_is_stopped_once(script: Asking) -> None:
    batch = make_published().batch
    statuses = [script.post(f"/batches/{batch.pk}/stop").json()["status"] for _ in range(2)]
    assert (statuses, AuditEntry.objects.filter(outcome="stop").count()) == (["stopped"] * 2, 1)
    draft = make_draft(make_survey())
    assert problem(script.post(f"/batches/{draft.pk}/stop")) == (409, "refused")


def test_a_budget_is_only_raised(script: Asking) -> None:
    batch = make_published(budget="50.00").batch
    answers = [
        script.post(f"/batches/{batch.pk}/budget", {"budget": dollars(amount)}) for amount in ("49.99", "60")
    ]
    assert [one.status_code for one in answers] == [422, 200]
    assert answers[1].json()["terms"]["budget"] == dollars("60.00")


def test_progress_counts_what_is_kept_and_what_waits(script: Asking) -> None:
    assignment = submitted(make_published(n_items=5))
    batch = assignment.hit.questionnaire.batch
    Decision.objects.create(
        assignment=assignment, verdict="flag", reason="Odd.", decided_at=assignment.submitted_at
    )
    found = script.get(f"/batches/{batch.pk}/progress").json()
    assert (found["n_kept"], found["n_wanted"], found["n_waiting"], found["is_done"]) == (1, 5, 1, False)
    assert found["money"]["left"] is None


def test_what_waits_is_decided_and_the_worker_gets_a_reason(script: Asking, sent: list[Any]) -> None:
    assignment = submitted(make_published(n_items=5))
    batch = assignment.hit.questionnaire.batch
    Decision.objects.create(
        assignment=assignment, verdict="flag", reason="Odd.", decided_at=assignment.submitted_at
    )
    path = f"/batches/{batch.pk}/assignments"
    [waiting] = script.get(path).json()["results"]
    assert (waiting["id"], waiting["verdict"]) == (assignment.pk, "flag")
    assert assignment.worker.worker_id not in str(waiting)
    decide = f"{path}/{assignment.pk}/decision"
    assert problem(script.post(decide, {"action": "reject"})) == (422, "invalid")
    decided = script.post(decide, {"action": "reject", "reason": "All blank."}).json()
    assert (decided["verdict"], sent) == ("reject", [("surveys.sync.sync_hit", assignment.hit_id)])
    assert script.get(path).json()["results"] == []
    assert [one["id"] for one in script.get(path, waiting="all").json()["results"]] == [assignment.pk]
    assert problem(script.post(decide, {"action": "overturn", "reason": "No."}))[0] in (409, 200)
    assert Assignment.objects.count() == 1


def test_simulated_people_answer_a_copy_of_a_draft(script: Asking, sent: list[Any]) -> None:
    draft = make_draft(make_survey(slug="rain", n_items=5), endpoint="link", review_policy=NEVER)
    first, second = (
        script.post(f"/batches/{draft.pk}/simulate", {"n_people": 4}, key="k1") for _ in range(2)
    )
    copy = first.json()
    assert (first.status_code, second.json() == copy) == (201, True)
    assert (copy["is_simulated"], copy["study"], copy["terms"]["reward"]) == (True, "rain", dollars("0.00"))
    assert script.get(f"/batches/{draft.pk}").json()["is_simulated"] is False
    assert Simulation.objects.get().n_people == 4
    assert script.post(f"/batches/{copy['id']}/simulate", {"n_people": 3}).json()["id"] == copy["id"]
    assert Simulation.objects.get().n_people == 7
    assert sent == [("surveys.sync.simulate", copy["id"])] * 2


def test_a_rehearsal_that_rests_says_so(script: Asking, sent: list[Any]) -> None:
    draft = make_draft(make_survey(n_items=5), endpoint="link", review_policy=NEVER)
    copy = script.post(f"/batches/{draft.pk}/simulate", {"n_people": 1}).json()
    assert script.get(f"/batches/{copy['id']}/progress").json()["error"] == ""
    Simulation.objects.update(ended_at=timezone.now())
    assert "send more" in script.get(f"/batches/{copy['id']}/progress").json()["error"]


@pytest.mark.parametrize("n_people", [0, 61, "many"])
def test_nobody_sends_a_crowd_of_simulated_people(script: Asking, sent: list[Any], n_people: Any) -> None:
    draft = make_draft(make_survey(n_items=5), endpoint="link")
    answer = script.post(f"/batches/{draft.pk}/simulate", {"n_people": n_people})
    assert (problem(answer), Batch.objects.count(), sent) == ((422, "invalid"), 1, [])


def test_what_is_for_people_is_not_simulated(script: Asking, sent: list[Any]) -> None:
    batch = make_published().batch
    assert problem(script.post(f"/batches/{batch.pk}/simulate", {})) == (409, "refused")
    assert (Batch.objects.count(), sent) == (1, [])


def test_a_budget_of_nothing_can_be_raised(script: Asking) -> None:
    batch = make_published().batch
    Batch.objects.filter(pk=batch.pk).update(budget=0)
    answer = script.post(f"/batches/{batch.pk}/budget", {"budget": dollars("50.00")})
    assert (answer.status_code, answer.json()["terms"]["budget"]) == (200, dollars("50.00"))
    assert AuditEntry.objects.get().details == {"before": "0.00", "after": "50.00"}


def piloted(minutes: int | None = None) -> Batch:
    """A published pilot of two of five items; where one person has handed in, they took so long."""
    terms = {
        "endpoint": "link",
        "takes_links": True,
        "pilot_items": 2,
        "review_policy": NEVER,
        "reward": "0.50",
    }
    draft = make_draft(make_survey(n_items=5), items_per_hit=2, assignments_per_hit=1, **terms)
    pilot = Batch.objects.get(pk=draft.pk)
    assert questionnaires.start_publishing(pilot)
    questionnaires.write(pilot)
    if minutes:
        hand_in(pilot)
        work = Assignment.objects.get()
        Assignment.objects.update(submitted_at=work.accepted_at + timedelta(minutes=minutes))
    return pilot


def test_the_rest_of_a_pilot_has_its_other_items_and_the_reward_of_a_wage(script: Asking) -> None:
    pilot = piloted(minutes=6)
    answer = script.post(f"/batches/{pilot.pk}/rest", {"wage": dollars("12.00")})
    rest = answer.json()
    assert (answer.status_code, rest["status"], rest["follows"]) == (201, "draft", pilot.pk)
    assert (rest["price"]["n_items"], rest["terms"]["reward"]) == (3, dollars("1.20"))
    as_before = script.post(f"/batches/{pilot.pk}/rest", {}).json()
    assert (as_before["terms"]["reward"], as_before["terms"]["pilot_items"]) == (dollars("0.50"), None)


def test_a_wage_needs_a_measured_time(script: Asking) -> None:
    answer = script.post(f"/batches/{piloted().pk}/rest", {"wage": dollars("12.00")})
    assert (problem(answer), answer.json()["errors"][0]["field"]) == ((422, "invalid"), "wage")
    assert Batch.objects.count() == 1


@pytest.mark.parametrize("body", [{}, {"wage": {"amount": "12.00"}}])
def test_what_is_no_pilot_has_no_rest(script: Asking, body: dict[str, Any]) -> None:
    draft = make_draft(make_survey(n_items=5), pilot_items=2)
    assert problem(script.post(f"/batches/{draft.pk}/rest", body)) == (409, "refused")
    whole = make_published().batch
    assert problem(script.post(f"/batches/{whole.pk}/rest", {})) == (409, "refused")
    assert Batch.objects.count() == 2
