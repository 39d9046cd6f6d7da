"""Sums of money at their edges, and times that MTurk's documentation names."""

from datetime import UTC, date, datetime, timedelta

from marketplace.engine import assignments, deadlines, forgetting, hits
from marketplace.money import ledger
from marketplace.money.statements import Day, Earnings, Standing, Sums


def test_what_a_worker_was_paid_is_rewards_and_bonuses() -> None:
    assert Earnings(rewards=38, bonuses=150, waiting=2, pending=76).paid == 188
    assert Day(date(2026, 3, 1), n_hits=1, rewards=38, bonuses=150).paid == 188


def test_what_left_an_account_for_good() -> None:
    found = Sums()
    found.cents.update(
        {"rewards": 38, "bonuses": 150, "fees": 38, "held": 46, "released": 46, "deposited": 900}
    )
    assert found.charged == 226


def test_where_an_account_stands_after_an_entry() -> None:
    before = Standing(available=100, on_hold=50)
    assert before.total == 150
    moves = {
        ("available", "held"): Standing(70, 80),
        ("held", "available"): Standing(130, 20),
        ("held", "workers"): Standing(100, 20),
        ("available", "fees"): Standing(70, 50),
        ("outside", "available"): Standing(130, 50),
    }
    for (source, target), after in moves.items():
        assert before.after(source=source, target=target, cents=30) == after


def test_cents_are_written_as_mturk_writes_them() -> None:
    assert [ledger.dollars(cents) for cents in (0, 5, 99, 100, 1230)] == [
        "0.00",
        "0.05",
        "0.99",
        "1.00",
        "12.30",
    ]


def test_times_are_those_of_the_api_reference() -> None:
    assert timedelta(days=30) == assignments.OVERRIDE_WITHIN
    assert timedelta(minutes=30) == assignments.MORE_TIME
    assert timedelta(days=120) == deadlines.DISPOSED_AFTER
    assert datetime(2015, 7, 22, tzinfo=UTC) == hits.EXTENDABLE_SINCE
    assert (hits.TEN, hits.MOST_ASSIGNMENTS) == (10, 1_000_000_000)
    assert forgetting.SHORTEST_IN_TEXT == 6
