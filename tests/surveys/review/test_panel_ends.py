"""Each way a panel's visit can end has a code of its own, and the first that was told stays."""

from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from annotators.crowds.links import work
from surveys.answering.admissions import admit_panel
from surveys.answering.completions import Completion, end
from surveys.models import Batch, Outcome, Panel, PanelVisit, Response
from surveys.review import decisions
from surveys.review.panels import completion
from tests.link_people import (
    answered,
    from_prolific,
    invite_one,
    make_batch,
    make_panel,
    make_person,
    run_out,
    take,
)
from tests.policy_data import at_least

pytestmark = pytest.mark.django_db
BACK = "https://app.prolific.com/submissions/complete?cc="
CODES = {"checks_failed": "BAD1", "nothing_left": "FULL1", "no_consent": "NO1"}


def with_codes(batch: Batch, **values: object) -> Panel:
    panel = make_panel(batch, **values)
    for outcome, code in CODES.items():
        panel.codes.create(outcome=outcome, code=code)
    return panel


def outcome_of(panel: Panel) -> str:
    return PanelVisit.objects.get(panel=panel).outcome


def judged(*, is_right: bool, **values: object) -> Panel:
    """A batch whose rule wants one right answer, and somebody who has given their only one."""
    batch = make_batch(n_items=1, copies=3, items_per_hit=1, review_policy=at_least(1, 1))
    panel = with_codes(batch, **values)
    admission = admit_panel(panel.code, from_prolific())
    done = answered(take(batch, admission.worker, channel="panel"))
    Response.objects.filter(assignment=done).update(is_correct=is_right)
    return panel


@pytest.mark.parametrize(
    ("is_right", "expected"),
    [
        (True, Completion("C1A2B3", f"{BACK}C1A2B3", "completed")),
        (False, Completion("BAD1", f"{BACK}BAD1", "checks_failed")),
    ],
)
def test_who_is_done_takes_back_what_the_checks_say(is_right: bool, expected: Completion) -> None:
    panel = judged(is_right=is_right)
    assert completion(admit_panel(panel.code, from_prolific())) == expected
    assert outcome_of(panel) == expected.outcome


def test_without_a_code_of_their_own_failed_checks_are_completed() -> None:
    panel = judged(is_right=False)
    panel.codes.all().delete()
    found = completion(admit_panel(panel.code, from_prolific()))
    assert found == Completion("C1A2B3", f"{BACK}C1A2B3", "checks_failed")


@pytest.mark.parametrize("is_right", [True, False])
def test_what_was_told_first_is_told_again_whatever_is_answered_since(is_right: bool) -> None:
    panel = judged(is_right=is_right)
    first = completion(admit_panel(panel.code, from_prolific()))
    Response.objects.update(is_correct=not is_right)
    assert completion(admit_panel(panel.code, from_prolific())) == first


def test_a_persons_word_counts_more_than_the_rules(django_user_model: type) -> None:
    panel = judged(is_right=False)
    admission = admit_panel(panel.code, from_prolific())
    assignment = admission.worker.assignments.get()
    work.submit(assignment)
    assignment.refresh_from_db()
    decisions.approve(assignment, by=django_user_model.objects.create(username="ada"))
    assert completion(admission).outcome == "completed"


@pytest.mark.parametrize("why", ["stopped", "budget"])
def test_who_did_what_could_be_done_is_completed_though_more_was_asked(why: str) -> None:
    batch = make_batch(n_items=2, reward=Decimal("0.38"), budget=Decimal("0.76"))
    panel = with_codes(batch, assignments_per_worker=2)
    left = take(batch, make_person(), channel="panel")
    admission = admit_panel(panel.code, from_prolific())
    answered(take(batch, admission.worker, channel="panel"))
    run_out(left)
    Batch.objects.update(budget=Decimal("1.14"))
    assert completion(admit_panel(panel.code, from_prolific())) is None
    Batch.objects.update(**({"status": "stopped"} if why == "stopped" else {"budget": Decimal("0.76")}))
    found = completion(admit_panel(panel.code, from_prolific()))
    assert found == Completion("C1A2B3", f"{BACK}C1A2B3", "completed")


def test_who_comes_when_all_is_taken_takes_a_code_back() -> None:
    batch = make_batch(n_items=1)
    panel = with_codes(batch)
    take(batch, invite_one(batch).invitation.worker)
    for _ in range(2):
        page = Client().get(reverse("panel", args=[panel.code]), from_prolific())
        assert (page.status_code, f'href="{BACK}FULL1"' in page.content.decode()) == (403, True)
        assert outcome_of(panel) == "nothing_left"


def test_who_comes_when_it_is_over_takes_a_code_back() -> None:
    batch = make_batch(n_items=1)
    panel = with_codes(batch)
    Batch.objects.update(status="complete")
    page = Client().get(reverse("panel", args=[panel.code]), from_prolific())
    assert (page.status_code, f'href="{BACK}FULL1"' in page.content.decode()) == (403, True)
    assert outcome_of(panel) == "nothing_left"


def test_without_a_code_who_found_nothing_is_asked_to_return() -> None:
    batch = make_batch(n_items=1)
    panel = make_panel(batch)
    take(batch, invite_one(batch).invitation.worker)
    page = Client().get(reverse("panel", args=[panel.code]), from_prolific()).content.decode()
    assert ("return it on your panel" in page, "Back to your panel" in page) == (True, False)
    assert outcome_of(panel) == "nothing_left"


def test_nobody_has_come_to_an_end_before_it_has_begun() -> None:
    batch = make_batch(n_items=1)
    panel = with_codes(batch)
    Batch.objects.update(status="publishing")
    page = Client().get(reverse("panel", args=[panel.code]), from_prolific()).content.decode()
    assert "has not begun yet" in page
    assert outcome_of(panel) == ""


def test_who_found_nothing_may_come_again_and_complete() -> None:
    batch = make_batch(n_items=1)
    panel = with_codes(batch)
    visit = admit_panel(panel.code, from_prolific()).visit
    assert visit
    assert end(visit, Outcome.NOTHING_LEFT).code == "FULL1"
    admission = admit_panel(panel.code, from_prolific())
    assert completion(admission) is None
    answered(take(batch, admission.worker, channel="panel"))
    assert completion(admission).outcome == outcome_of(panel) == "completed"


def test_without_consent_they_take_their_code_back() -> None:
    panel = with_codes(make_batch(n_items=1))
    admission = admit_panel(panel.code, from_prolific())
    assert admission.visit
    for _ in range(2):
        assert end(admission.visit, Outcome.NO_CONSENT) == Completion("NO1", f"{BACK}NO1", "no_consent")
    assert completion(admission) == Completion("NO1", f"{BACK}NO1", "no_consent")


def test_the_end_is_told_once(django_user_model: type) -> None:
    panel = judged(is_right=True)
    visit = admit_panel(panel.code, from_prolific()).visit
    assert visit
    end(visit, Outcome.COMPLETED)
    at = PanelVisit.objects.get().ended_at
    assert end(visit, Outcome.CHECKS_FAILED).outcome == "completed"
    assert PanelVisit.objects.get().ended_at == at
