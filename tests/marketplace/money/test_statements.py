"""The statement of a requester agrees with the double entries, and with MTurk's balance."""

import csv
import io
import re
from datetime import UTC, date, datetime, timedelta

import pytest

from marketplace.accounts import keys
from marketplace.engine import assignments, deadlines
from marketplace.models import Entry, Requester, Worker
from marketplace.money import audit, ledger, statements
from tests.marketplace.admin.researchers import researcher_of
from tests.marketplace.batches.batches_made import hits, published, work

DAY = datetime(2026, 3, 1, 23, 59, tzinfo=UTC)
MARCH = {"since": date(2026, 3, 1), "until": date(2026, 3, 31)}


@pytest.fixture
def lab(db):
    requester = Requester.objects.create(name="Vision Lab")
    ledger.deposit(requester, cents=10_000, now=DAY - timedelta(days=2))
    return requester


@pytest.fixture
def busy(lab):
    """Two HITs of one assignment: one approved with a bonus, the other rejected and expired. $0.38 each."""
    batch = published(lab, now=DAY, max_assignments=1)
    later = DAY + timedelta(minutes=2)
    first, second = (work(hit, worker=keys.create_worker()[0], answer="-", now=DAY) for hit in hits(batch))
    assignments.approve(first, now=later)
    ledger.send_bonus(first, worker_id=first.worker.worker_id, cents=150, reason="", token=None, now=later)
    assignments.reject(second, now=DAY + timedelta(days=2), feedback="-")
    deadlines.sweep(now=DAY + timedelta(days=3))
    return lab


def test_a_worker_earns_what_they_are_paid_themselves(busy):
    paid, other = Worker.objects.order_by("pk")
    assert statements.earnings_of(paid) == statements.Earnings(rewards=38, bonuses=150, waiting=0, pending=0)
    assert statements.earnings_of(other) == statements.Earnings(rewards=0, bonuses=0, waiting=0, pending=0)


def test_days_say_what_moved_and_what_was_left(busy):
    found = statements.statement(busy, **MARCH)
    days = {day: (dict(sums.cents), sums.standing) for day, sums in found.days.items()}
    assert found.opening == statements.Standing(10_000, 0)
    assert days == {
        date(2026, 3, 1): ({"held": 92}, statements.Standing(9908, 92)),
        date(2026, 3, 2): ({"rewards": 38, "fees": 8 + 30, "bonuses": 150}, statements.Standing(9728, 46)),
        date(2026, 3, 3): ({"released": 46}, statements.Standing(9774, 0)),
    }
    assert (found.total.standing, found.total.charged) == (statements.Standing(9774, 0), 226)


def test_the_closing_balance_is_the_ledgers(busy):
    closing = statements.statement(busy, **MARCH).total.standing
    balance = ledger.balance_of(busy)
    assert (closing.available, closing.on_hold) == (balance.available_cents, balance.held_cents)
    assert closing.available == ledger.account_sum(busy, account=Entry.Account.AVAILABLE)
    assert audit.statement(busy)["charged"] == "2.26"
    assert audit.report()["is_sound"] is True


def test_any_two_spans_meet(busy):
    first = statements.statement(busy, since=date(2026, 2, 1), until=date(2026, 3, 1))
    second = statements.statement(busy, since=date(2026, 3, 2), until=date(2026, 3, 31))
    assert (first.opening, first.total.standing) == (statements.Standing(), second.opening)
    assert (
        first.total.cents + second.total.cents
        == statements.statement(busy, since=date(2026, 2, 1), until=date(2026, 3, 31)).total.cents
    )


@pytest.fixture
def researcher(busy, settings):
    settings.APP_HOST = "127.0.0.1"
    return researcher_of(busy)


def table(client, busy, name):
    address = f"/admin/marketplace/requester/{busy.pk}/{name}?since=2026-03-01&until=2026-03-31"
    content = b"".join(client.get(address).streaming_content).decode()
    return list(csv.DictReader(io.StringIO(content)))


def test_the_page_shows_opening_and_closing(researcher, busy):
    page = researcher.get(
        f"/admin/marketplace/requester/{busy.pk}/statement/?since=2026-03-01&until=2026-03-31"
    ).content.decode()
    assert re.findall(r'id="(?:opening|charged|closing)">(.*?)<', page) == ["$100.00", "$2.26", "$97.74"]
    assert re.findall(r'class="n day">(.*?)<', page) == ["2026-03-01", "2026-03-02", "2026-03-03"]


def test_the_days_are_downloaded(researcher, busy):
    rows = table(researcher, busy, "statement.csv")
    assert [row["day"] for row in rows] == ["opening", "2026-03-01", "2026-03-02", "2026-03-03", "closing"]
    assert [row["total"] for row in rows] == ["100.00", "100.00", "97.74", "97.74", "97.74"]
    assert rows[-1]["charged"] == "2.26"


def test_every_entry_is_downloaded_with_what_was_left(researcher, busy):
    rows = table(researcher, busy, "entries.csv")
    assert [(row["kind"], row["dollars"], row["available"], row["on_hold"]) for row in rows] == [
        ("held", "0.46", "99.54", "0.46"),
        ("held", "0.46", "99.08", "0.92"),
        ("rewards", "0.38", "99.08", "0.54"),
        ("fees", "0.08", "99.08", "0.46"),
        ("bonuses", "1.50", "97.58", "0.46"),
        ("fees", "0.30", "97.28", "0.46"),
        ("released", "0.46", "97.74", "0.00"),
    ]
    assert rows[2]["worker_id"].startswith("A")


def test_a_period_without_entries_says_so(researcher, busy):
    page = researcher.get(
        f"/admin/marketplace/requester/{busy.pk}/statement/?since=2025-01-01&until=2025-01-31"
    )
    assert "Nothing was booked in these days." in page.content.decode()


@pytest.mark.parametrize("name", ["statement/", "statement.csv", "entries.csv"])
def test_another_requesters_statement_does_not_exist(researcher, name):
    other = Requester.objects.create(name="Other Lab")
    assert researcher.get(f"/admin/marketplace/requester/{other.pk}/{name}").status_code == 404


def test_a_statement_needs_a_permission(busy):
    client = researcher_of(busy, role="")
    assert client.get(f"/admin/marketplace/requester/{busy.pk}/statement/").status_code == 403


@pytest.mark.parametrize(
    "query",
    [
        "since=junk",
        "since=0001-01-01",
        "until=9999-12-31",
        "until=0001-01-02",
        "since=2030-01-01&until=2020-01-01",
    ],
)
def test_a_strange_period_is_no_fault_of_ours(researcher, busy, query):
    for name in ("statement/", "statement.csv", "entries.csv"):
        assert researcher.get(f"/admin/marketplace/requester/{busy.pk}/{name}?{query}").status_code == 200
