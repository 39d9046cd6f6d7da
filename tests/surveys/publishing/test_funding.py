"""Whether there is money: a budget that is too small, an account that is, and asking it before anything is made."""

from decimal import Decimal
from typing import Any

import pytest

from annotators.crowds.mturk.gateway import MarketError
from marketplace.models import Balance
from marketplace.money import ledger
from surveys import sync
from surveys.models import Batch
from surveys.publishing import hits, preconditions, pricing, questionnaires
from tests.factories import make_draft, make_survey
from tests.market_site import Site

pytestmark = pytest.mark.django_db
D = Decimal


def draft(**values: Any) -> Batch:
    """$2.30 on the marketplace: one HIT of five assignments at $0.38 and $0.08."""
    return make_draft(make_survey(n_items=5), **values)


def set_balance(site: Site, cents: int) -> None:
    ledger.balance_of(site.requester)
    Balance.objects.filter(requester=site.requester).update(available_cents=cents)


def started(**values: Any) -> Batch:
    batch = draft(**values)
    assert questionnaires.start_publishing(batch) is True
    return batch


@pytest.mark.parametrize(
    ("budget", "problems"),
    [
        (D("2.29"), ["Publishing it costs $2.30, but its budget is $2.29."]),
        (D("2.30"), []),
        (None, []),
    ],
)
def test_budget_has_to_cover_the_quote(budget: Decimal | None, problems: list[str]) -> None:
    assert preconditions.problems(draft(budget=budget)) == problems


def test_budget_lowered_at_the_last_moment_is_kept(monkeypatch: Any) -> None:
    batch = draft(budget=D("2.00"))
    monkeypatch.setattr("surveys.publishing.questionnaires.problems", lambda batch: [])
    with pytest.raises(questionnaires.CannotPublish) as refused:
        questionnaires.start_publishing(batch)
    assert str(refused.value) == "It could cost $2.30, but $2.00 of the batch's budget is left."
    assert Batch.objects.get().status == "draft"
    assert batch.questionnaires.count() == 0


@pytest.mark.parametrize(
    ("values", "proposed"),
    [
        ({}, "2.53"),  # and one in ten is rejected
        ({"takes_links": True}, "4.43"),  # and five people who come by link get $0.38
        ({"takes_links": True, "endpoint": "link"}, "2.09"),  # 5 x $0.38, and one in ten
    ],
)
def test_a_budget_is_proposed(values: dict[str, Any], proposed: str) -> None:
    batch = draft(**values)
    assert preconditions.proposed_budget(batch, price=pricing.quote(batch)) == D(proposed)


@pytest.mark.parametrize(
    ("cents", "problem"),
    [(229, "The account holds $2.29; this batch may need $2.30."), (230, "")],
)
def test_account_has_to_cover_a_draft(site: Site, cents: int, problem: str) -> None:
    set_balance(site, cents)
    assert preconditions.balance_problem(draft(), gateway=site.gateway) == problem


def test_what_is_held_already_is_not_needed_again(site: Site) -> None:
    batch = started()
    hits.register_hit_type(batch, gateway=site.gateway)
    set_balance(site, 230)
    hits.publish_questionnaire(batch.questionnaires.get(), gateway=site.gateway)
    assert preconditions.balance_problem(batch, gateway=site.gateway) == ""


def test_unreachable_marketplace_is_the_callers_to_handle(site: Site) -> None:
    site.wire.block.add("GetAccountBalance")
    with pytest.raises(MarketError):
        preconditions.balance_problem(draft(), gateway=site.gateway)


def test_nothing_is_made_before_the_account_holds_enough(site: Site, eager: None) -> None:
    batch = started()
    set_balance(site, 100)
    sync.publish_batch(batch.pk)
    batch.refresh_from_db()
    assert (batch.status, batch.error) == (
        "publishing",
        "The account holds $1.00; this batch may need $2.30.",
    )
    assert dict(site.wire.calls) == {"GetAccountBalance": 1}
    set_balance(site, 230)
    sync.publish_batch(batch.pk)
    batch.refresh_from_db()
    assert (batch.status, batch.error) == ("open", "")
    assert site.held() == 230


def test_publishing_waits_for_an_account_that_cannot_be_read(site: Site, eager: None) -> None:
    batch = started()
    site.wire.block.add("GetAccountBalance")
    sync.publish_batch(batch.pk)
    batch.refresh_from_db()
    assert batch.status == "publishing"
    assert batch.error != ""
    assert batch.hit_type is None


def test_link_batch_asks_no_account(site: Site, eager: None) -> None:
    batch = started(endpoint="link", takes_links=True)
    sync.publish_batch(batch.pk)
    assert Batch.objects.get().status == "open"
    assert dict(site.wire.calls) == {}
