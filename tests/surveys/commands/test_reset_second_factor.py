"""Taking a lost second factor away."""

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from surveys.pages.sign_in import factors

pytestmark = pytest.mark.django_db


def test_it_takes_one_persons_away(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("ada", "eve"):
        user = User.objects.create_user(name, is_staff=True)
        TOTPDevice.objects.create(user=user, name="app")
        factors.new_recovery_codes(user)
    call_command("reset_second_factor", "ada")
    assert capsys.readouterr().out == "The second factor of ada is taken away, with its recovery codes.\n"
    assert list(TOTPDevice.objects.values_list("user__username", flat=True)) == ["eve"]
    assert list(StaticDevice.objects.values_list("user__username", flat=True)) == ["eve"]


def test_it_says_when_there_is_nothing_to_take_away() -> None:
    User.objects.create_user("ada", is_staff=True)
    with pytest.raises(CommandError, match=r"^ada has no second factor\.$"):
        call_command("reset_second_factor", "ada")
    with pytest.raises(CommandError, match=r"^There is no user eve\.$"):
        call_command("reset_second_factor", "eve")
