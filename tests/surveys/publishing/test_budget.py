"""What a batch can come to cost, by hand, and what its budget refuses."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import transaction
from django.utils import timezone

from annotators.models import HIT, Assignment, Call
from surveys.models import AnnotationSlot, Batch, Decision, Questionnaire, Replacement
from surveys.publishing import budget, hits, questionnaires
from surveys.publishing.budget import Money, OverBudget
from tests.factories import (
    make_assignment,
    make_batch,
    make_draft,
    make_hit,
    make_published,
    make_questionnaire,
    make_survey,
)

pytestmark = pytest.mark.django_db
D = Decimal


def money(of: Questionnaire) -> Money:
    return budget.money(Batch.objects.get(pk=of.batch_id))


def rejected(hit: HIT) -> Assignment:
    found = make_assignment(hit, status="Rejected")
    Decision.objects.create(assignment=found, verdict="reject", reason="No.", decided_at=timezone.now())
    return found


def extension(replaced: Assignment, *, opened: bool = False) -> Replacement:
    return Replacement.objects.create(
        replaces=replaced,
        questionnaire=replaced.hit.questionnaire,
        opened_by="extend",
        opened_at=timezone.now() if opened else None,
    )


def bonus(assignment: Assignment, *, amount: str, state: str) -> Call:
    times = {"finished_at": timezone.now()} if state in {"done", "refused"} else {}
    return Call.objects.create(
        token=f"bonus:{assignment.pk}",
        operation=Call.Operation.BONUS,
        endpoint="embedded",
        assignment=assignment,
        amount=D(amount),
        state=state,
        **times,
    )


def set_batch(of: Questionnaire, **values) -> Batch:
    Batch.objects.filter(pk=of.batch_id).update(**values)
    return Batch.objects.get(pk=of.batch_id)


def ended(of: Questionnaire, *, looked_after: timedelta) -> None:
    """Its HIT expired two hours ago; assignments last one hour; we looked so long after that.

    The last deadline may be half an hour later, and what is handed in then is listed within ten minutes.
    """
    now = timezone.now()
    HIT.objects.filter(pk=of.hit_id).update(
        expires_at=now - timedelta(hours=2), synced_at=now - timedelta(hours=1) + looked_after
    )


def test_draft_costs_nothing_yet():
    assert budget.money(make_draft(make_survey(n_items=5), budget=D("3.00"))) == Money(limit=D("3.00"))


def test_open_hit_is_held_whole():
    # 5 x ($0.38 + 20 % = $0.08)
    assert money(make_published()) == Money(committed=D("2.30"), held=D("2.30"))


def test_ten_assignments_cost_the_higher_fee():
    # 10 x ($0.38 + 40 % = $0.15)
    questionnaire = make_published(hit=make_hit(max_assignments=10))
    Questionnaire.objects.filter(pk=questionnaire.pk).update(target_assignments=10)
    assert money(questionnaire).committed == D("5.30")


def test_decided_work_is_paid_or_returned():
    questionnaire = make_published()
    make_assignment(questionnaire.hit, status="Approved")
    make_assignment(questionnaire.hit, status="Submitted")
    rejected(questionnaire.hit)
    assert money(questionnaire) == Money(committed=D("1.84"), paid=D("0.46"), held=D("1.38"))


def test_planned_replacement_is_committed_before_it_is_held():
    questionnaire = make_published()
    extension(rejected(questionnaire.hit))
    assert money(questionnaire) == Money(committed=D("2.30"), held=D("1.84"))


def test_open_replacement_counts_once():
    questionnaire = make_published()
    extension(rejected(questionnaire.hit), opened=True)
    HIT.objects.update(max_assignments=6)
    assert money(questionnaire) == Money(committed=D("2.30"), held=D("2.30"))


def test_sibling_without_hit_is_committed():
    questionnaire = make_published()
    make_questionnaire(questionnaire.batch, items=[], sibling_of=questionnaire, target_assignments=1)
    assert money(questionnaire) == Money(committed=D("2.76"), held=D("2.30"))


def test_overturned_rejection_costs_again():
    questionnaire = make_published()
    Decision.objects.filter(assignment=rejected(questionnaire.hit)).update(
        overturned_at=timezone.now(), overturn_reason="Our mistake."
    )
    assert money(questionnaire) == Money(committed=D("2.30"), held=D("1.84"))


def test_bonuses_count_unless_refused():
    questionnaire = make_published()
    for state in ("planned", "sent", "unknown", "done", "refused"):
        bonus(make_assignment(questionnaire.hit, status="Approved"), amount="1.20", state=state)
    assert money(questionnaire).bonuses == D("4.80")
    assert money(questionnaire).committed == D("7.10")


def test_bonus_of_another_batch_does_not_count():
    questionnaire = make_published()
    bonus(make_assignment(make_published().hit, status="Approved"), amount="1.20", state="done")
    assert money(questionnaire).bonuses == D("0.00")


def test_stopped_hit_costs_until_its_last_deadline_was_looked_at():
    questionnaire = make_published(status="stopped")
    make_assignment(questionnaire.hit)
    make_assignment(questionnaire.hit, status="Submitted")
    make_assignment(questionnaire.hit, status="Approved")
    ended(questionnaire, looked_after=timedelta(minutes=39))
    assert money(questionnaire).committed == D("2.30")
    ended(questionnaire, looked_after=timedelta(minutes=40, seconds=1))
    assert money(questionnaire) == Money(committed=D("0.92"), paid=D("0.46"), held=D("0.46"))


def test_expired_hit_that_is_extended_comes_back_to_life():
    questionnaire = make_published()
    found = rejected(questionnaire.hit)
    ended(questionnaire, looked_after=timedelta(minutes=41))
    assert money(questionnaire).committed == D("0.00")
    extension(found)
    assert money(questionnaire).committed == D("2.30")


@pytest.mark.parametrize(
    ("state", "committed"),
    [
        ("planned", "0.00"),
        ("refused", "0.00"),
        ("sent", "2.30"),
        ("unknown", "2.30"),
        ("done", "2.30"),  # made, and not linked to its questionnaire yet
        (None, "0.00"),
    ],
)
def test_stopped_while_publishing_what_may_exist_counts(state, committed):
    batch = make_batch(make_survey(n_items=5), status="stopped")
    questionnaire = make_questionnaire(batch, items=[])
    if state:
        finished = {"finished_at": timezone.now()} if state in ("refused", "done") else {}
        Call.objects.create(
            token=f"create:{questionnaire.pk}",
            operation=Call.Operation.CREATE_HIT,
            endpoint="embedded",
            state=state,
            **finished,
        )
    assert money(questionnaire).committed == D(committed)


def link_study(**values) -> Questionnaire:
    survey = make_survey(n_items=5)
    batch = make_draft(survey, endpoint="link", takes_links=True, assignments_per_hit=3, **values)
    questionnaires.start_publishing(batch)
    hits.publish_here(batch)
    return batch.questionnaires.get()


def give(questionnaire: Questionnaire, *, status: str) -> Assignment:
    found = make_assignment(questionnaire.hit, status=status, channel="link")
    slot = AnnotationSlot.objects.filter(questionnaire=questionnaire, assignment=None).first()
    AnnotationSlot.objects.filter(pk=slot.pk).update(
        assignment=found, leased_until=timezone.now() + timedelta(hours=1)
    )
    return found


def test_link_work_pays_no_fee_and_holds_nothing():
    questionnaire = link_study()
    give(questionnaire, status="Approved")
    give(questionnaire, status="Accepted")
    assert money(questionnaire) == Money(committed=D("1.14"), paid=D("0.38"))


def test_rejected_link_work_costs_nothing():
    questionnaire = link_study()
    give(questionnaire, status="Rejected")
    assert money(questionnaire).committed == D("0.76")


def test_stopped_link_batch_offers_nothing_more():
    questionnaire = link_study()
    give(questionnaire, status="Submitted")
    set_batch(questionnaire, status="stopped")
    assert money(questionnaire) == Money(committed=D("0.38"))


def test_links_beside_a_marketplace_cost_on_top_of_its_places():
    questionnaire = make_published(takes_links=True)
    make_assignment(questionnaire.hit, status="Submitted", channel="link")
    assert money(questionnaire).committed == D("2.68")


def test_money_takes_few_queries(django_assert_max_num_queries):
    questionnaire = make_published(n_items=5)
    for _ in range(20):
        rejected(make_hit())
        extension(rejected(questionnaire.hit))
    batch = Batch.objects.get(pk=questionnaire.batch_id)
    with django_assert_max_num_queries(5):
        budget.money(batch)


def test_check_says_what_it_would_cost_and_what_is_left():
    batch = set_batch(make_published(), budget=D("2.75"))
    with transaction.atomic(), pytest.raises(OverBudget) as refused:
        budget.check(batch, D("0.46"))
    assert str(refused.value) == "It could cost $0.46, but $0.45 of the batch's budget is left."


def test_check_lets_the_last_cent_go():
    batch = set_batch(make_published(), budget=D("2.76"))
    with transaction.atomic():
        budget.check(batch, D("0.46"))


def test_check_reads_the_budget_as_it_is_now():
    batch = set_batch(make_published(), budget=D("9.00"))
    set_batch(batch.questionnaires.get(), budget=D("2.30"))
    with transaction.atomic(), pytest.raises(OverBudget):
        budget.check(batch, D("0.01"))


def test_without_budget_nothing_is_refused():
    with transaction.atomic():
        budget.check(make_published().batch, D("999999.00"))


def test_spending_takes_back_what_the_budget_does_not_cover():
    questionnaire = make_published(budget=D("2.30"))
    with pytest.raises(OverBudget) as refused, budget.spending(questionnaire.batch):
        make_questionnaire(questionnaire.batch, items=[], target_assignments=1)
    assert str(refused.value) == "It could cost $0.46, but $0.00 of the batch's budget is left."
    assert Questionnaire.objects.count() == 1


def test_spending_prices_everything_an_extension_brings_back_to_life():
    questionnaire = make_published(budget=D("2.29"))
    found = rejected(questionnaire.hit)
    ended(questionnaire, looked_after=timedelta(minutes=41))
    with pytest.raises(OverBudget) as refused, budget.spending(questionnaire.batch):
        extension(found)
    assert str(refused.value) == "It could cost $2.30, but $2.29 of the batch's budget is left."


def test_spending_less_is_never_refused():
    questionnaire = make_published(budget=D("1.00"))
    with budget.spending(questionnaire.batch):
        rejected(questionnaire.hit)
    assert money(questionnaire).left == D("-0.84")


def test_two_batches_have_a_limit_together_if_both_have_one() -> None:
    one = Money(limit=D("5.00"), committed=D("2.00"), paid=D("1.00"))
    other = Money(limit=D("7.00"), committed=D("3.00"), paid=D("0.50"), held=D("0.25"), bonuses=D("0.10"))
    assert one + other == Money(D("12.00"), D("5.00"), D("1.50"), D("0.25"), D("0.10"))
    assert (one + Money(committed=D("1.00"))).limit is None
    assert (Money(committed=D("1.00")) + one).limit is None
