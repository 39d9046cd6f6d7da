"""SECRET_KEY is changed, because somebody has seen it: with the old one among the fallbacks nobody is locked out."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core import signing
from django.core.management import call_command
from django.utils import timezone

from annotators.crowds.links import addresses
from annotators.models import Worker
from annotators.people.names import pseudonym, purged_name
from annotators.people.pseudonyms import worker_of
from marketplace import models as marketplace
from marketplace.accounts import invitations, keys
from surveys.operations.backups import state
from surveys.operations.system_checks import check_keys

pytestmark = pytest.mark.django_db
OLD, NEW = "the old key" * 6, "the new key" * 6


@pytest.fixture(autouse=True)
def old_key(settings: Any) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = OLD, []


def rotate(settings: Any) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]


def test_codes_invitations_and_access_keys_stay_good(settings: Any) -> None:
    worker, code = keys.create_worker()
    now = timezone.now()
    token, *_ = invitations.create(number=1, most_uses=1, days=1, note="", now=now)
    requester = marketplace.Requester.objects.create(name="Lab")
    key, secret = keys.create_key(requester)
    rotate(settings)
    assert keys.check_code(worker, code=code)
    assert not keys.check_code(worker, code="another")
    assert invitations.find(token, now=now + timedelta(hours=1)) is not None
    assert secret in keys.secrets_of(key)
    made, code = keys.create_worker()
    settings.SECRET_KEY_FALLBACKS = []
    assert (keys.check_code(made, code=code), keys.check_code(worker, code=code)) == (True, False)


def test_a_seeded_worker_is_found_again_with_a_code_that_opens(settings: Any) -> None:
    worker, code = keys.seeded_worker(seed=7, number=1)
    rotate(settings)
    assert keys.seeded_worker(seed=7, number=1) == (worker, code)
    settings.SECRET_KEY_FALLBACKS = []
    assert not keys.check_code(worker, code=code)
    found, another = keys.seeded_worker(seed=7, number=1)
    assert (found, another != code, keys.check_code(found, code=another)) == (worker, True, True)


def test_links_and_signed_tokens_stay_good(settings: Any) -> None:
    signed = signing.dumps(["a"], salt="surveys.hit")
    link = addresses._signer().sign("1")
    rotate(settings)
    assert (signing.loads(signed, salt="surveys.hit"), addresses._signer().unsign(link)) == (["a"], "1")


def test_pseudonyms_stay_and_purged_workers_are_known_again(settings: Any) -> None:
    before = pseudonym("A1EXAMPLE")
    purged = Worker.objects.create(
        worker_id=purged_name("A1EXAMPLE"), source="embedded", purged_at=timezone.now()
    )
    rotate(settings)
    assert (pseudonym("A1EXAMPLE"), worker_of("A1EXAMPLE", source="embedded")) == (before, purged)
    settings.PSEUDONYM_KEY, settings.SECRET_KEY_FALLBACKS = OLD, []
    assert (pseudonym("A1EXAMPLE"), worker_of("A1EXAMPLE", source="embedded")) == (before, purged)


def test_a_pseudonym_key_of_its_own_keeps_the_purged_of_before(settings: Any) -> None:
    purged = Worker.objects.create(
        worker_id=purged_name("A1EXAMPLE"), source="embedded", purged_at=timezone.now()
    )
    before = pseudonym("A1EXAMPLE")
    settings.PSEUDONYM_KEY = "a key of its own"
    assert pseudonym("A1EXAMPLE") != before
    assert worker_of("A1EXAMPLE", source="embedded") == purged


def test_a_pseudonym_is_what_it_always_was() -> None:
    """HMAC-SHA256 of the id, keyed with HMAC-SHA256(SECRET_KEY, "worker pseudonyms")."""
    assert pseudonym("A1EXAMPLE") == "84db270f88b7"


def test_a_backup_of_the_old_key_fits(settings: Any) -> None:
    before = state.key_print()
    rotate(settings)
    assert before in state.key_prints()


def ids() -> list[str | None]:
    return [found.id for found in check_keys(None)]


def test_check_says_what_a_change_voids(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    assert ids() == []
    settings.SECRET_KEY = NEW
    (warning,) = check_keys(None)
    assert (warning.id, "access codes" in str(warning.msg)) == ("surveys.W002", True)
    rotate(settings)
    assert ids() == ["surveys.W003"]
    settings.PSEUDONYM_KEY, settings.MARKETPLACE_KEY = OLD, OLD
    assert ids() == []
    call_command("check")


@pytest.mark.parametrize("left", [b"", b"\n", b"\xff\xfe"])
def test_a_mark_that_says_nothing_warns_of_nothing(settings: Any, tmp_path: Path, left: bytes) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "key_mark").write_bytes(left)
    assert ids() == []


def test_an_empty_mark_is_written_again(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "key_mark").touch()
    assert ids() == []
    settings.SECRET_KEY = NEW
    assert ids() == ["surveys.W002"]


def test_a_mark_that_cannot_be_read_stops_no_command(
    settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = tmp_path
    assert ids() == []

    def refused(*args: Any, **kwargs: Any) -> str:
        raise PermissionError("key_mark")

    monkeypatch.setattr(Path, "read_text", refused)
    assert ids() == []
