"""Another policy for a batch that runs: written down, and used for what no person has decided."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotators.models import Assignment, Call
from annotators.outbox import market
from surveys import sync
from surveys.models import AuditEntry, Batch, Decision, Item, Questionnaire, Response
from surveys.protocols.policy import Policy, parse, rule_version
from surveys.protocols.rules import PolicyError, Verdict
from surveys.results.dry_run import dry_run
from surveys.review import decisions, delivery, policy_change
from surveys.review.decisions import INCOMPLETE, decide_all
from surveys.review.errors import CannotDecide
from surveys.review.evidence import evidence_of_batch
from tests.factories import make_hit, make_published, make_questionnaire, make_survey, submitted
from tests.judged import change, handed_in, handed_in_unsaved, verdicts
from tests.policy_data import FLAG_ONLY, NEVER, THREE_OF_FIVE, at_least, policy_of

pytestmark = pytest.mark.django_db


def test_another_policy_judges_again_what_no_person_has_decided(
    cautious: Questionnaire, person: User
) -> None:
    handed_in(cautious, n_correct=1)
    handed_in(cautious, n_correct=2)
    assert change(cautious, at_least(2, 5), person) == 1
    assert verdicts() == ["propose", "approve"]
    assert set(Decision.objects.values_list("rule_version", flat=True)) == {rule_version(at_least(2, 5))}
    assert change(cautious, FLAG_ONLY, person) == 2
    assert verdicts() == ["flag", "flag"]


def test_what_a_person_decided_stays_with_its_rule_version(cautious: Questionnaire, person: User) -> None:
    kept, rejected, waiting = (handed_in(cautious, n_correct=1) for _ in range(3))
    decisions.approve(kept, by=person)
    decisions.reject(rejected, by=person, reason="Empty.")
    assert change(cautious, NEVER, person) == 1
    assert verdicts() == ["approve", "reject", "approve"]
    versions = dict(Decision.objects.values_list("assignment", "rule_version"))
    old, new = rule_version(THREE_OF_FIVE), rule_version(NEVER)
    assert versions == {kept.pk: old, rejected.pk: old, waiting.pk: new}


def test_what_the_marketplace_knows_stays(cautious: Questionnaire, person: User) -> None:
    assignment = handed_in(cautious, n_correct=1)
    Assignment.objects.filter(pk=assignment.pk).update(status="Approved", approved_at=assignment.submitted_at)
    assert change(cautious, NEVER, person) == 0
    assert verdicts() == ["propose"]


def test_a_bonus_on_its_way_tells_nothing_of_the_verdict(cautious: Questionnaire, person: User) -> None:
    assignment = handed_in(cautious, n_correct=1)
    Call.objects.create(token="bonus:1", operation="SendBonus", endpoint="embedded", assignment=assignment)
    assert change(cautious, NEVER, person) == 1
    assert verdicts() == ["approve"]


def test_a_change_is_in_the_audit_trail(cautious: Questionnaire, person: User) -> None:
    change(cautious, NEVER, person, rejects_automatically=True)
    entry = AuditEntry.objects.get(kind="policy")
    assert (entry.batch, entry.actor, entry.reason) == (cautious.batch, person, "Too hard on hard items.")
    assert entry.rule_version == rule_version(NEVER)
    assert entry.details == {
        "before": {"policy": THREE_OF_FIVE, "rejects_automatically": False},
        "after": {"policy": NEVER, "rejects_automatically": True},
    }
    batch = Batch.objects.get()
    assert (batch.review_policy, batch.rejects_automatically) == (NEVER, True)


def test_a_changed_verdict_is_in_the_audit_trail_too(cautious: Questionnaire, person: User) -> None:
    assignment = handed_in(cautious, n_correct=1)
    change(cautious, NEVER, person)
    entry = AuditEntry.objects.filter(kind="payment", assignment=assignment).first()
    assert entry is not None
    assert (entry.outcome, entry.actor, entry.details["before"]) == ("approve", None, "propose")


@pytest.mark.parametrize("again", [1, 2])
def test_judging_again_twice_changes_nothing_more(cautious: Questionnaire, person: User, again: int) -> None:
    handed_in(cautious, n_correct=1)
    change(cautious, NEVER, person)
    n_entries = AuditEntry.objects.count()
    assert [policy_change.judge_again(Batch.objects.get()) for _ in range(again)] == [0] * again
    assert AuditEntry.objects.count() == n_entries


def test_what_comes_in_while_it_is_judged_again_is_judged_by_the_new_one(
    cautious: Questionnaire, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sync that hands it in has read the batch before."""
    handed_in(cautious, n_correct=1)

    def decided(batch: Batch, *, policy: Policy) -> dict[int, Verdict]:
        found = decide_all(batch, policy=policy)
        handed_in(cautious, n_correct=1)
        return found

    monkeypatch.setattr(policy_change, "decide_all", decided)
    assert change(cautious, NEVER, person) == 1
    assert verdicts() == ["approve", "approve"]
    assert set(Decision.objects.values_list("rule_version", flat=True)) == {rule_version(NEVER)}


def test_what_changes_while_it_is_judged_again_is_left_to_the_next_time(
    cautious: Questionnaire, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By link, answers change until they are accepted."""
    assignment = handed_in(cautious, n_correct=1)

    def decided(batch: Batch, *, policy: Policy) -> dict[int, Verdict]:
        found = decide_all(batch, policy=policy)
        Response.objects.filter(assignment=assignment).update(is_correct=True)
        Assignment.objects.filter(pk=assignment.pk).update(saved_at=timezone.now())
        return found

    with monkeypatch.context() as patched:
        patched.setattr(policy_change, "decide_all", decided)
        assert change(cautious, at_least(2, 5), person) == 0
    assert (verdicts(), policy_change.to_judge_again()) == (["propose"], [cautious.batch])
    assert policy_change.judge_again(Batch.objects.get()) == 1
    assert verdicts() == ["approve"]


def test_a_policy_changed_while_it_is_judged_again_is_left_to_the_next_time(
    cautious: Questionnaire, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed_in(cautious, n_correct=1)
    batch = Batch.objects.get()
    batch.review_policy = FLAG_ONLY  # as it was read before somebody applied another one
    Batch.objects.update(review_policy=NEVER)
    assert policy_change.judge_again(batch) == 0
    assert verdicts() == ["propose"]
    assert policy_change.to_judge_again() == [batch]
    assert policy_change.judge_again(Batch.objects.get()) == 1
    assert (verdicts(), policy_change.to_judge_again()) == (["approve"], [])


def test_the_task_judges_again(cautious: Questionnaire) -> None:
    handed_in(cautious, n_correct=1)
    Batch.objects.update(review_policy=NEVER)
    sync.judge_again(cautious.batch_id)
    assert verdicts() == ["approve"]


def test_a_rejection_nobody_was_told_of_ends_with_rejecting_automatically(person: User) -> None:
    """The rules stay as they are."""
    strict = make_published(rejects_automatically=True)
    assignment = handed_in(strict, n_correct=1)
    assert verdicts() == ["reject"]
    assert change(strict, THREE_OF_FIVE, person) == 1
    assert verdicts() == ["propose"]
    entry = AuditEntry.objects.filter(kind="payment", assignment=assignment).first()
    assert entry is not None
    assert (entry.outcome, entry.details["before"]) == ("propose", "reject")


@pytest.mark.parametrize(
    ("state", "verdict"), [("planned", "reject"), ("done", "reject"), ("refused", "propose")]
)
def test_what_the_marketplace_is_being_told_stays(person: User, state: str, verdict: str) -> None:
    strict = make_published(rejects_automatically=True)
    assignment = handed_in(strict, n_correct=1)
    call = market.plan_decision(assignment, Call.Operation.REJECT, feedback="1 of 5", endpoint="embedded")
    Call.objects.filter(pk=call.pk).update(
        state=state, finished_at=None if state == "planned" else timezone.now()
    )
    change(strict, THREE_OF_FIVE, person)
    assert verdicts() == [verdict]


def test_no_rejection_by_the_policy_before_is_carried_out(person: User) -> None:
    """Not even before it is judged again."""
    strict = make_published(rejects_automatically=True)
    assignment = handed_in(strict, n_correct=1)
    Assignment.objects.update(channel="link")
    Batch.objects.update(rejects_automatically=False)
    delivery.carry_out(again(assignment), gateway=None)
    assert again(assignment).status == "Submitted"
    decisions.reject(again(assignment), by=person, reason="Empty.")
    delivery.carry_out(again(assignment), gateway=None)
    assert again(assignment).status == "Rejected"


def test_a_sync_that_began_before_rejects_nobody_after_it(person: User) -> None:
    strict = make_published(rejects_automatically=True)
    Batch.objects.update(rejects_automatically=False)
    assert strict.batch.rejects_automatically is True
    handed_in(strict, n_correct=1)
    assert verdicts() == ["propose"]


def again(assignment: Assignment) -> Assignment:
    return Assignment.objects.get(pk=assignment.pk)


def test_two_people_at_once_do_not_overwrite_each_other(cautious: Questionnaire, person: User) -> None:
    change(cautious, NEVER, person)
    with pytest.raises(CannotDecide) as caught:
        change(cautious, FLAG_ONLY, person, instead_of=rule_version(THREE_OF_FIVE))
    expected = "Somebody has changed the policy in the meantime. Look at it before you change it."
    assert str(caught.value) == expected
    assert Batch.objects.get().review_policy == NEVER


@pytest.mark.parametrize("status", ["complete", "draft"])
def test_only_a_running_batch_can_change_its_policy(
    cautious: Questionnaire, person: User, status: str
) -> None:
    Batch.objects.update(status=status)
    with pytest.raises(CannotDecide) as caught:
        change(cautious, NEVER, person)
    assert str(caught.value) == "The policy of this batch can’t be changed on this page: it is not running."


def test_a_policy_that_cant_hold_is_not_applied(cautious: Questionnaire, person: User) -> None:
    with pytest.raises(PolicyError):
        change(cautious, at_least(3, 4), person)
    with pytest.raises(CannotDecide):
        change(cautious, NEVER, person, reason=" ")
    assert (Batch.objects.get().review_policy, AuditEntry.objects.count()) == (THREE_OF_FIVE, 0)


# -- Work without answers

UNSAVED = {
    "nothing": NEVER,
    "time": policy_of({"kind": "too_fast", "divisor": 3, "rejects_alone": True}),
    "gold": at_least(3, 5),
    "attention": policy_of({"kind": "planted_checks", "failed": 2, "rejects_alone": True}),
}


@pytest.mark.parametrize("policy", UNSAVED.values(), ids=UNSAVED)
def test_work_whose_answers_we_do_not_have_waits_for_a_person(
    cautious: Questionnaire, person: User, policy: dict
) -> None:
    Item.objects.filter(position__lte=3).update(payload={"check": "answer"})
    opened = handed_in_unsaved(cautious)
    decision = decisions.record_decision(opened, batch=cautious.batch)
    assert (decision.verdict, decision.reason) == ("flag", INCOMPLETE.reason)
    assert decide_all(cautious.batch, policy=parse(policy)) == {opened.pk: INCOMPLETE}
    assert dry_run(cautious.batch, policy=parse(policy)).rejected == []
    change(cautious, policy, person)
    decision.refresh_from_db()
    assert (decision.verdict, decision.reason) == ("flag", INCOMPLETE.reason)


def test_what_was_not_saved_says_nothing_about_its_workers_other_work(person: User) -> None:
    first = make_published(rejects_automatically=False)
    second = make_questionnaire(first.batch, items=list(make_survey(n_items=5).items.all()), hit=make_hit())
    Item.objects.filter(slots__questionnaire=first).update(payload={"check": "answer"})
    handed_in_unsaved(first, worker="ALICE")
    good = submitted(second, worker="ALICE")
    found = evidence_of_batch(first.batch)[good.pk]
    assert (found.is_saved, found.worker.checks) == (True, ())


# -- How long the work took


def test_the_pages_own_clock_counts_and_the_marketplaces_where_there_is_none(cautious: Questionnaire) -> None:
    """Nine minutes lie between accepting and submitting."""
    measured, unmeasured = submitted(cautious, worker="AONE"), submitted(cautious, worker="ATWO")
    Response.objects.update(active_seconds=0)
    measured.responses.update(active_seconds=7)
    found = evidence_of_batch(cautious.batch)
    assert [found[one.pk].seconds for one in (measured, unmeasured)] == [35, 540]


def test_a_planted_check_that_can_not_be_read_is_none(person: User) -> None:
    batch = make_published(rejects_automatically=False).batch
    answer, broken, *_ = Item.objects.order_by("position")
    Item.objects.filter(pk=answer.pk).update(payload={"check": "answer"})
    Item.objects.filter(pk=broken.pk).update(payload={"check": "no_such_scale=5"})
    done = submitted(batch.questionnaires.get())
    assert evidence_of_batch(batch)[done.pk].worker.checks == (True,)
