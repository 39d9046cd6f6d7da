"""The command that makes a key."""

import pytest
from django.core.management import CommandError, call_command

from marketplace.models import AccessKey, Requester


def test_the_printed_pair_works(connect, db, capsys):
    call_command("marketplace_key", "Our Lab", "--deposit", "12.50")
    pair = dict(line.split("=", 1) for line in capsys.readouterr().out.splitlines())
    mturk = connect(pair["AWS_ACCESS_KEY_ID"], pair["AWS_SECRET_ACCESS_KEY"])
    assert mturk.get_account_balance()["AvailableBalance"] == "12.50"


def test_the_apps_own_pair_has_the_names_of_its_settings(db, capsys):
    """AWS_ACCESS_KEY_ID would be Amazon's to the app."""
    call_command("marketplace_key", "Our Lab", "--for-app")
    names = [line.partition("=")[0] for line in capsys.readouterr().out.splitlines()]
    assert names == ["MARKETPLACE_ACCESS_KEY_ID", "MARKETPLACE_SECRET_ACCESS_KEY"]


def test_a_second_key_is_for_the_same_requester(db):
    call_command("marketplace_key", "Our Lab")
    call_command("marketplace_key", "Our Lab")
    assert (Requester.objects.count(), AccessKey.objects.count()) == (1, 2)


@pytest.mark.parametrize("amount", ["a lot", "-1", "0.001", "NaN", "1e99"])
def test_a_strange_amount_is_refused(db, amount):
    with pytest.raises(CommandError):
        call_command("marketplace_key", "Our Lab", f"--deposit={amount}")
    assert Requester.objects.count() == 0
