from decimal import Decimal

import pytest

from annotators.crowds.mturk.fees import fee, fee_rate, price


@pytest.mark.parametrize(
    ("reward", "max_assignments", "expected"),
    [
        ("0.38", 5, "0.08"),  # 0.076
        ("0.38", 9, "0.08"),
        ("0.38", 10, "0.15"),  # 0.152
        ("0.01", 1, "0.01"),  # the minimum
        ("0.125", 5, "0.03"),  # 0.025, half a cent up
        ("1.00", 5, "0.20"),
        ("1.00", 10, "0.40"),
    ],
)
def test_fee_of_one_assignment(reward: str, max_assignments: int, expected: str) -> None:
    assert fee(Decimal(reward), max_assignments=max_assignments) == Decimal(expected)


def test_fee_rate_doubles_at_ten_assignments() -> None:
    rates = [fee_rate(max_assignments=n) for n in (1, 9, 10, 25)]
    assert rates == [Decimal("0.20"), Decimal("0.20"), Decimal("0.40"), Decimal("0.40")]


def test_price_of_a_hit_rounds_each_assignment() -> None:
    assert price(Decimal("0.38"), max_assignments=5, n=300) == Decimal("138.00")
    assert price(Decimal("0.38"), max_assignments=5) == Decimal("0.46")
