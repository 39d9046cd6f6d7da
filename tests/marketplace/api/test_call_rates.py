"""The rate limit: per requester and operation, with MTurk's throttle, by the marketplace's clock."""

from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ClientError

from marketplace.accounts import limits
from marketplace.models import CallRate
from tests.marketplace.threads import at_once

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def limit(settings):
    def limit(**rates):
        settings.MARKETPLACE_RATE_LIMITS = {name.replace("any", "*"): rate for name, rate in rates.items()}

    return limit


@pytest.fixture
def calls(requester):
    """A function that makes calls at these seconds and returns which went through."""

    def calls(*moments, operation="GetHIT"):
        return [
            limits.may_call(requester, operation=operation, now=START + timedelta(seconds=moment))
            for moment in moments
        ]

    return calls


def test_without_a_limit_nothing_is_counted(calls):
    assert calls(*[0] * 50) == [True] * 50
    assert CallRate.objects.count() == 0


def test_a_second_has_room_for_so_many_calls(limit, calls):
    limit(any=4)
    assert calls(0, 0, 0, 0, 0) == [True] * 4 + [False]
    assert calls(0.25, 0.25, 0.5) == [True, False, True]
    assert calls(60, 60, 60, 60, 60) == [True] * 4 + [False]


def test_less_than_one_call_a_second(limit, calls):
    limit(GetHIT=0.5)
    assert calls(0, 1, 2, 3, 4.5) == [True, False, True, False, True]


def test_a_named_operation_has_its_own_limit(limit, calls):
    limit(any=2, CreateHIT=1)
    assert calls(0, 0, 0, operation="CreateHIT") == [True, False, False]
    assert calls(0, 0, 0, operation="ListHITs") == [True, True, False]
    assert calls(0, 0, 0, operation="GetHIT") == [True, True, False]


def test_an_unnamed_operation_has_none(limit, calls):
    limit(CreateHIT=1)
    assert calls(*[0] * 20) == [True] * 20


def test_boto3_is_throttled_and_another_requester_is_not(limit, mturk, demo):
    limit(GetAccountBalance=0.001)
    mturk.get_account_balance()
    with pytest.raises(ClientError, match="Rate exceeded") as caught:
        mturk.get_account_balance()
    answer = caught.value.response
    assert answer["Error"]["Code"] == "ThrottlingException"
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert "TurkErrorCode" not in answer
    mturk.list_hits()
    demo.get_account_balance()


def test_the_marketplace_clock_lets_calls_through_again(limit, mturk, later):
    limit(GetAccountBalance=0.001)
    mturk.get_account_balance()
    later(seconds=1000)
    mturk.get_account_balance()


def test_a_throttled_call_does_nothing(limit, mturk, values):
    limit(CreateHIT=0.001)
    mturk.create_hit(**values)
    with pytest.raises(ClientError, match="Rate exceeded"):
        mturk.create_hit(**values)
    assert mturk.list_hits()["NumResults"] == 1


@pytest.mark.django_db(transaction=True)
def test_calls_at_once_share_one_limit(limit, requester):
    limit(any=3)
    call = lambda: limits.may_call(requester, operation="GetHIT", now=START)  # noqa: E731
    assert sorted(at_once([call] * 6)).count(True) <= 3
    assert limits.may_call(requester, operation="GetHIT", now=START + timedelta(seconds=60))
