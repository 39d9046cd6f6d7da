"""Whatever happens in whatever order: the marketplace's own books never show more than the budget."""

import random
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from annotators.crowds.mturk.mirror import fetch
from annotators.models import Assignment
from annotators.outbox import market
from marketplace.refusals import WorkerRefusal
from surveys.models import Batch, Questionnaire, Replacement
from surveys.publishing import bonuses, budget, questionnaires, stopping
from surveys.publishing.budget import OverBudget
from surveys.review import decisions, delivery, due_work, errors, replacements
from tests.factories import make_draft, make_survey
from tests.market_site import Site
from tests.market_study import again, open_study, publish, rejected_on, work

D = Decimal
ALL = 100_000  # cents the requester begins with


def statement(site: Site) -> Decimal:
    """Dollars that are gone or on hold, by GetAccountBalance alone."""
    return D(ALL) / 100 - site.gateway.balance()


def within(site: Site, batch: Batch) -> Decimal:
    """Check the books against the budget and our own sum; return what is left."""
    money = budget.money(Batch.objects.get(pk=batch.pk))
    assert statement(site) <= money.committed
    assert money.left is not None
    assert money.left >= 0
    return money.left


class Study:
    """A small batch on a real marketplace, to which anything can happen."""

    def __init__(self, site: Site, chance: random.Random, person: User, *, limit: str) -> None:
        self.site, self.chance, self.person = site, chance, person
        self.batch = open_study(site, budget=D(limit)).batch

    def questionnaire(self) -> Questionnaire:
        members = Questionnaire.objects.filter(batch=self.batch, hit__isnull=False)
        return again(self.chance.choice(list(members)))

    def one(self, status: str) -> Assignment | None:
        found = list(Assignment.objects.filter(status=status).order_by("pk"))
        return self.chance.choice(found) if found else None

    def work(self) -> None:
        try:
            work(self.site, self.questionnaire(), n_correct=self.chance.choice([0, 5]))
        except WorkerRefusal:
            return

    def sync(self) -> None:
        questionnaire = self.questionnaire()
        hit = questionnaire.hit
        assert hit is not None
        for assignment in fetch(hit, gateway=self.site.gateway):
            decisions.record_decision(assignment, batch=questionnaire.batch)
        for assignment in due_work.to_carry_out(hit):
            delivery.carry_out(assignment, gateway=self.site.gateway)
        for assignment in replacements.to_replace(hit):
            self.replace(assignment, questionnaire)

    def replace(self, assignment: Assignment, questionnaire: Questionnaire) -> None:
        try:
            replacement = replacements.replace(
                assignment, questionnaire=questionnaire, gateway=self.site.gateway
            )
        except OverBudget:
            return
        if replacement and replacement.questionnaire.hit_id is None:
            publish(replacement.questionnaire, self.site)

    def overturn(self) -> None:
        if found := self.one("Rejected"):
            try:
                decisions.overturn(found, by=self.person, reason="Our mistake.")
            except errors.CannotDecide:
                return
            delivery.carry_out(found, gateway=self.site.gateway)

    def bonus(self) -> None:
        if found := self.one("Approved"):
            try:
                call = bonuses.give(
                    found,
                    amount=D(self.chance.choice(["0.05", "0.40", "2.00"])),
                    reason="Well done.",
                    nonce=uuid.UUID(int=self.chance.getrandbits(128)),
                    by=self.person,
                )
            except (OverBudget, bonuses.CannotPay):
                return
            market.settle(call, gateway=self.site.gateway)


@pytest.mark.django_db
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("limit", ["2.30", "2.80", "4.00"])
def test_no_sequence_of_events_exceeds_the_budget(site: Site, person: User, seed: int, limit: str) -> None:
    study = Study(site, random.Random(seed), person, limit=limit)
    events = [study.work, study.work, study.work, study.sync, study.sync, study.overturn, study.bonus]
    for _ in range(18):
        study.chance.choice(events)()
        within(site, study.batch)
    stopping.stop(study.batch)
    for questionnaire in Questionnaire.objects.filter(batch=study.batch).select_related("hit__hit_type"):
        assert questionnaire.hit is not None
        stopping.expire(questionnaire.hit, gateway=site.gateway)
    within(site, study.batch)


@pytest.mark.django_db(transaction=True)
def test_many_at_once_replace_no_more_than_the_budget(
    site: Site, in_parallel: Callable[..., list[Any]]
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time.")
    questionnaire = open_study(site)
    rejected = rejected_on(site, questionnaire, n=4)
    # Two places are open at $0.46, and the budget has room for two replacements of four.
    Batch.objects.update(budget=D("1.40"))

    def replace(assignment: Assignment) -> Replacement | None:
        target = again(questionnaire)
        return replacements.replace(assignment, questionnaire=target, gateway=site.gateway)

    results = in_parallel(*[lambda assignment=assignment: replace(assignment) for assignment in rejected])
    assert [type(result).__name__ for result in results].count("OverBudget") == 2
    assert Replacement.objects.count() == 2
    within(site, questionnaire.batch)


@pytest.mark.django_db(transaction=True)
def test_bonus_and_overturning_at_once_share_what_is_left(
    site: Site, person: User, in_parallel: Callable[..., list[Any]]
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer at a time.")
    questionnaire = open_study(site)
    first, second = rejected_on(site, questionnaire, n=2)
    Batch.objects.update(budget=D("1.90"))  # three places at $0.46 are open; $0.52 is left

    nonce = uuid.uuid4()

    def overturn() -> Any:
        return decisions.overturn(first, by=person, reason="Our mistake.")

    def bonus() -> Any:
        return bonuses.give(second, amount=D("0.30"), reason="Well done.", nonce=nonce, by=person)

    results = in_parallel(overturn, bonus, overturn, bonus)
    refused = {type(result).__name__ for result in results if isinstance(result, Exception)}
    assert refused <= {"CannotDecide", "OverBudget", "CannotPay"}
    assert refused != set()
    assert budget.money(Batch.objects.get()).left in {D("0.06"), D("0.16")}


@pytest.mark.django_db
def test_draft_is_not_begun_twice_beyond_its_budget() -> None:
    batch = make_draft(make_survey(n_items=10), budget=D("4.60"))
    assert questionnaires.start_publishing(batch) is True
    assert questionnaires.start_publishing(batch) is False
    assert budget.money(Batch.objects.get()).left == D("0.00")
