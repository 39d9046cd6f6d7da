"""Every operation against the embedded marketplace with a planned fault: done exactly once, and its ledger is ours."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db.models import Sum
from django.utils import timezone

from annotators.models import HIT, Assignment, Call, HITType
from annotators.outbox import market, outcomes
from annotators.outbox.journal import SHOWN_WITHIN, TOKEN_LIFE, perform, unsettled
from marketplace import models as marketplace
from marketplace.money import audit
from tests.annotators.crowds.offers import decide, listed, offer, pay
from tests.market_site import Site

pytestmark = pytest.mark.django_db

NOT_THERE = timedelta(days=2)
BONUS = {"amount": Decimal("1.25"), "reason": "Careful work."}
OPERATIONS = {
    "create": "CreateHITWithHITType",
    "extend": "CreateAdditionalAssignmentsForHIT",
    "approve": "ApproveAssignment",
    "reject": "RejectAssignment",
    "overturn": "ApproveAssignment",
    "expire": "UpdateExpirationForHIT",
    "bonus": "SendBonus",
}
KINDS = ("timeout", "service-fault", "throttle")


class Stage:
    """A HIT with one submitted assignment; `do` carries an operation out on it, `done` counts its effects."""

    def __init__(self, site: Site, hit: HIT) -> None:
        self.site, self.hit = site, hit
        self.assignment = listed(site, hit)

    def ready(self, name: str) -> None:
        if name == "overturn":
            self.decide("REJECT")

    def decide(self, operation: str) -> Call:
        return decide(self.site, self.assignment, operation, feedback="1 of 5")

    def do(self, name: str) -> Call:
        gateway, hit_type = self.site.gateway, self.hit.hit_type
        calls: dict[str, Callable[[], Call]] = {
            "create": lambda: offer(self.site, hit_type, token="create:2"),
            "extend": lambda: market.extend(self.hit, token="replace:1", gateway=gateway),
            "approve": lambda: self.decide("APPROVE"),
            "reject": lambda: self.decide("REJECT"),
            "overturn": lambda: self.decide("OVERTURN"),
            "expire": lambda: market.move_expiration(self.hit, when=timezone.now(), gateway=gateway),
            "bonus": lambda: pay(self.site, self.assignment, **BONUS, token="bonus:1"),
        }
        return calls[name]()

    def done(self, name: str) -> bool:
        status = marketplace.Assignment.objects.get(assignment_id=self.assignment.assignment_id).status
        shown = self.site.hit(self.hit)
        return {
            "create": marketplace.HIT.objects.filter(annotation="create:2").count() == 1,
            "extend": shown.max_assignments == 6,
            "approve": status == "Approved",
            "reject": status == "Rejected",
            "overturn": status == "Approved",
            "expire": shown.expires_at <= timezone.now(),
            "bonus": [row.cents for row in marketplace.Bonus.objects.all()] == [125],
        }[name]


@pytest.fixture
def stage(site: Site, hit: HIT, settings: Any) -> Stage:
    settings.MARKETPLACE_CONTROL_TOKEN = "for planned faults"
    return Stage(site, hit)


def go_wrong(name: str, kind: str, *, times: int = 4) -> None:
    """Let all of botocore's tries of a call fail."""
    marketplace.Fault.objects.plan(
        operation=OPERATIONS[name], requester=None, kind=marketplace.Fault.Kind(kind), times=times, seconds=0
    )


def settle(call: Call, site: Site) -> Call:
    """Settle it, and let the step that asked for more work ask again, as a sweep does."""
    market.settle(Call.objects.get(pk=call.pk), gateway=site.gateway)
    return perform(Call.objects.get(pk=call.pk), gateway=site.gateway)


def ours() -> Decimal:
    """What our ledger says is paid, fees included."""
    paying = ["ApproveAssignment", "ApproveAssignment(OverrideRejection)", "SendBonus"]
    paid = Call.objects.filter(operation__in=paying, state="done")
    return paid.aggregate(total=Sum("amount"))["total"] or Decimal("0.00")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_fault_delays_it_and_never_doubles_it(stage: Stage, site: Site, name: str, kind: str) -> None:
    stage.ready(name)
    go_wrong(name, kind)
    call = stage.do(name)
    assert call.state in {"planned", "unknown", "done"}
    assert (settle(call, site).state, stage.done(name)) == ("done", True)
    assert stage.do(name).state == "done"
    assert (stage.done(name), Decimal(site.spent()) / 100) == (True, ours())
    assert (list(unsettled()), audit.report()["is_sound"]) == ([], True)


@pytest.mark.parametrize("way", ["lose", "cut"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_first_try_that_was_carried_out_is_read_and_not_repeated(
    stage: Stage, site: Site, name: str, way: str
) -> None:
    """All answers were lost or broke off, and the marketplace has forgotten its tokens since."""
    stage.ready(name)
    getattr(site.wire, way).add(OPERATIONS[name])
    call = stage.do(name)
    site.wire.heal()
    assert (call.state, stage.done(name)) == ("unknown", True)
    before = site.wire.calls[OPERATIONS[name]]
    marketplace.Token.objects.all().delete()
    long_gone(call)
    assert settle(call, site).state == "done"
    assert (stage.done(name), site.wire.calls[OPERATIONS[name]]) == (True, before)


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_intent_older_than_its_token_that_never_arrived_is_made(
    stage: Stage, site: Site, name: str
) -> None:
    stage.ready(name)
    site.wire.block.add(OPERATIONS[name])
    call = stage.do(name)
    assert (call.state, stage.done(name)) == ("unknown", False)
    site.wire.heal()
    long_gone(call)
    assert (settle(call, site).state, stage.done(name)) == ("done", True)


@pytest.mark.parametrize("name", ["create", "extend", "bonus"])
def test_not_shown_yet_is_not_taken_for_not_done(stage: Stage, site: Site, name: str) -> None:
    """The token is forgotten, and lists lag: until they can be trusted nothing is sent."""
    stage.ready(name)
    site.wire.block.add(OPERATIONS[name])
    call = stage.do(name)
    site.wire.heal()
    before = site.wire.calls[OPERATIONS[name]]
    now = timezone.now()
    Call.objects.filter(pk=call.pk).update(created_at=now - TOKEN_LIFE, sent_at=now - SHOWN_WITHIN / 2)
    again = settle(call, site)
    assert (again.state, again.sent_at) == ("unknown", now - SHOWN_WITHIN / 2)
    assert site.wire.calls[OPERATIONS[name]] == before
    Call.objects.filter(pk=call.pk).update(sent_at=now - SHOWN_WITHIN)
    assert (settle(call, site).state, stage.done(name)) == ("done", True)


def long_gone(call: Call) -> None:
    Call.objects.filter(pk=call.pk, state__in=["planned", "sent", "unknown"]).update(
        sent_at=timezone.now() - TOKEN_LIFE, created_at=timezone.now() - NOT_THERE
    )


def test_what_it_could_have_used_up_is_no_refusal(stage: Stage, site: Site, hit_type: HITType) -> None:
    """The first try takes the last dollars unheard, the second hears that there are none: it was paid."""
    marketplace.Balance.objects.update(available_cents=150)
    go_wrong("bonus", "timeout", times=1)
    call = stage.do("bonus")
    assert (call.state, stage.done("bonus"), call.amount) == ("done", True, Decimal("1.50"))


def test_without_money_a_bonus_is_refused_and_nothing_moves(stage: Stage, site: Site) -> None:
    marketplace.Balance.objects.update(available_cents=149)
    call = stage.do("bonus")
    assert (call.state, marketplace.Bonus.objects.count()) == ("refused", 0)
    assert call.error.startswith("Your account does not have enough money")


def bonus_of(stage: Stage, token: str) -> Call:
    return pay(stage.site, stage.assignment, **BONUS, token=token)


def test_two_equal_bonuses_are_told_apart(stage: Stage, site: Site) -> None:
    """The first never arrived. Only once it is settled the second is paid, so neither is taken for the other."""
    site.wire.block.add("SendBonus")
    first = bonus_of(stage, "bonus:1")
    site.wire.heal()
    second = bonus_of(stage, "bonus:2")
    assert (first.state, second.state, marketplace.Bonus.objects.count()) == ("unknown", "planned", 0)
    long_gone(first)
    assert (settle(first, site).state, marketplace.Bonus.objects.count()) == ("done", 1)
    assert (settle(second, site).state, marketplace.Bonus.objects.count()) == ("done", 2)
    assert Decimal(site.spent()) / 100 == ours() == Decimal("3.00")


def test_an_equal_bonus_paid_before_is_not_taken_for_ours(stage: Stage, site: Site) -> None:
    """Somebody paid the same by hand; ours never arrived."""
    worker_id = stage.assignment.worker.worker_id
    site.gateway.send_bonus(stage.assignment.assignment_id, worker_id=worker_id, **BONUS, token="by hand")
    site.wire.block.add("SendBonus")
    call = bonus_of(stage, "bonus:1")
    site.wire.heal()
    long_gone(call)
    assert (settle(call, site).state, marketplace.Bonus.objects.count()) == ("done", 2)


def test_two_extensions_are_told_apart(stage: Stage, site: Site) -> None:
    """The first never arrived. Were the second made now, MaxAssignments would look as if the first had been."""
    site.wire.block.add("CreateAdditionalAssignmentsForHIT")
    first = market.extend(stage.hit, token="replace:1", gateway=site.gateway)
    site.wire.heal()
    second = market.extend(stage.hit, token="replace:2", gateway=site.gateway)
    assert (first.state, second.state, site.hit(stage.hit).max_assignments) == ("unknown", "planned", 5)
    long_gone(first)
    assert (settle(first, site).state, site.hit(stage.hit).max_assignments) == ("done", 6)
    assert (perform(second, gateway=site.gateway).state, site.hit(stage.hit).max_assignments) == ("done", 7)


def test_extensions_in_a_row_are_told_apart_though_the_mirror_is_old(stage: Stage, site: Site) -> None:
    market.extend(stage.hit, token="replace:1", gateway=site.gateway)
    site.wire.block.add("CreateAdditionalAssignmentsForHIT")
    second = market.extend(stage.hit, token="replace:2", gateway=site.gateway)
    site.wire.heal()
    long_gone(second)
    assert settle(second, site).state == "done"
    assert (site.hit(stage.hit).max_assignments, HIT.objects.get(pk=stage.hit.pk).max_assignments) == (7, 7)


def test_an_extension_that_was_refused_explains_no_place(stage: Stage, site: Site) -> None:
    Call.objects.create(
        token="replace:refused",
        operation=Call.Operation.EXTEND,
        endpoint="embedded",
        hit=stage.hit,
        state="refused",
        finished_at=timezone.now(),
    )
    site.wire.lose.add("CreateAdditionalAssignmentsForHIT")
    call = market.extend(stage.hit, token="replace:1", gateway=site.gateway)
    site.wire.heal()
    assert outcomes.booked(call) == 5
    assert outcomes.is_unexplained(call, gateway=site.gateway)


@pytest.mark.parametrize(
    ("name", "there", "sentence"),
    [
        ("reject", "approve", "It was approved on the marketplace before it could be rejected, at "),
        ("approve", "reject", "It was rejected on the marketplace before it could be approved, at "),
    ],
)
def test_decided_elsewhere_in_the_meantime(
    stage: Stage, site: Site, name: str, there: str, sentence: str
) -> None:
    site.wire.block.add(OPERATIONS[name])
    call = stage.do(name)
    site.wire.heal()
    getattr(site.gateway, there)(stage.assignment.assignment_id, feedback="By hand.")
    sent = site.wire.calls[OPERATIONS[name]]
    again = market.settle(Call.objects.get(pk=call.pk), gateway=site.gateway)
    assert (again.state, again.error.startswith(sentence)) == ("refused", True)
    assert site.wire.calls[OPERATIONS[name]] == sent
    stage.assignment.refresh_from_db()
    assert stage.assignment.status == {"approve": "Approved", "reject": "Rejected"}[there]


def test_a_decision_on_which_all_agree_is_done(stage: Stage, site: Site) -> None:
    site.wire.block.add("ApproveAssignment")
    call = stage.do("approve")
    site.wire.heal()
    site.gateway.approve(stage.assignment.assignment_id, feedback="By hand.")
    again = market.settle(Call.objects.get(pk=call.pk), gateway=site.gateway)
    assert (again.state, Assignment.objects.get().status) == ("done", "Approved")


def test_an_overtaken_expiration_does_not_open_a_stopped_hit_again(stage: Stage, site: Site) -> None:
    site.wire.block.add("UpdateExpirationForHIT")
    opening = market.move_expiration(stage.hit, when=timezone.now() + timedelta(days=3), gateway=site.gateway)
    site.wire.heal()
    assert stage.do("expire").state == "done"
    again = market.settle(opening, gateway=site.gateway)
    assert (again.state, again.error) == ("refused", "The HIT was given another expiration since.")
    assert site.hit(stage.hit).expires_at <= timezone.now()


def test_only_another_expiration_overtakes_one(stage: Stage, site: Site) -> None:
    site.wire.block.add("UpdateExpirationForHIT")
    ending = stage.do("expire")
    site.wire.heal()
    assert stage.do("extend").state == "done"
    assert market.settle(ending, gateway=site.gateway).state == "done"
    assert site.hit(stage.hit).expires_at <= timezone.now()


def test_what_cannot_be_read_stays_unknown(stage: Stage, site: Site) -> None:
    """A refusal to show is no refusal of the call: nobody may plan it again as if it had not happened."""
    site.wire.lose.add("SendBonus")
    call = stage.do("bonus")
    site.wire.replies["ListBonusPayments"] = (
        400,
        {"Content-Type": "application/x-amz-json-1.1"},
        b'{"__type":"AccessDeniedException","Message":"Not for you"}',
    )
    again = market.settle(call, gateway=site.gateway)
    assert (again.state, again.error, list(unsettled())) == ("unknown", "Not for you", [call])
    site.wire.heal()
    assert (market.settle(again, gateway=site.gateway).state, stage.done("bonus")) == ("done", True)


def test_a_bonus_that_could_not_be_told_afterwards_is_not_sent(stage: Stage, site: Site) -> None:
    """What tells an effect is read first; where that fails, the call waits for the next try as it is."""
    site.wire.block.add("ListBonusPayments")
    call = stage.do("bonus")
    assert (call.state, bool(call.error), site.wire.calls["SendBonus"]) == ("planned", True, 0)
    site.wire.heal()
    assert market.settle(call, gateway=site.gateway).state == "done"
    assert stage.done("bonus")
