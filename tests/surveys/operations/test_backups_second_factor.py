"""A second factor comes back with a backup, which holds its secrets."""

import zipfile
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django_otp.oath import totp
from django_otp.plugins.otp_totp.models import TOTPDevice

from surveys.pages.sign_in import factors
from tests.surveys.operations.backup_state import destroy, everything, without_hold

SECRETS = "database/otp_totp_totpdevice.jsonl", "database/otp_static_statictoken.jsonl"


@pytest.mark.django_db(transaction=True)
def test_a_second_factor_is_asked_for_after_a_restore_as_before(tmp_path: Path) -> None:
    ada = User.objects.create_superuser("ada", password="right-horse")
    app = TOTPDevice.objects.create(user=ada, name="app")
    recovery, *_ = factors.new_recovery_codes(ada)
    before, archive = everything(), tmp_path / "backup.zip"
    call_command("backup", str(archive))
    with zipfile.ZipFile(archive) as members:
        kept = [members.read(name).decode() for name in SECRETS]
    assert (app.key in kept[0], recovery.replace("-", "") in kept[1]) == (True, True)
    destroy()
    call_command("restore", str(archive), "--force")
    assert without_hold(everything()) == without_hold(before)
    client = Client()
    client.post("/admin/login/", {"username": "ada", "password": "right-horse"})
    assert client.get("/admin/").status_code == 302
    client.post("/sign-in/code/", {"code": f"{totp(bytes.fromhex(app.key)):06}"})
    assert client.get("/admin/").status_code == 200
