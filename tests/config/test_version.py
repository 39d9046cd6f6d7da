"""The version stands in pyproject.toml, and whatever else names it takes it from there or is compared with it here."""

import re
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

ROOT = Path(settings.BASE_DIR)


def test_it_is_what_pyproject_says() -> None:
    assert f'\nversion = "{settings.VERSION}"\n' in (ROOT / "pyproject.toml").read_text()


def test_the_changelog_has_it() -> None:
    """The newest release, with its day, is this version's."""
    releases = re.findall(r"^## ([0-9.]+) - (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert releases[0][0] == settings.VERSION
    days = [date.fromisoformat(day) for _, day in releases]
    assert days == sorted(days, reverse=True)


def test_the_image_is_called_by_it() -> None:
    images = re.findall(r"image: assent:(.+)", (ROOT / "docker-compose.yml").read_text())
    assert images == [settings.VERSION]


def test_who_cites_it_names_it() -> None:
    assert f"\nversion: {settings.VERSION}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_image_can_read_it() -> None:
    assert "!pyproject.toml" in (ROOT / ".dockerignore").read_text().splitlines()


def test_the_command() -> None:
    """As a process: Django answers `version` before it looks for commands."""
    command = [sys.executable, "manage.py", "version"]
    assert subprocess.check_output(command, cwd=ROOT, text=True) == f"Assent {settings.VERSION}\n"


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/admin/", "/appeals/open/", "/admin/marketplace/requester/"])
def test_the_foot_of_researchers_pages(client: Client, settings: Any, address: str) -> None:
    settings.VERSION = "1.2.3"
    client.force_login(User.objects.create_superuser("ada"))
    page = client.get(address, headers={"host": "127.0.0.1"}).content.decode()
    assert '<footer id="footer"><p>Assent 1.2.3</p></footer>' in page


@pytest.mark.django_db
def test_strangers_are_not_told(client: Client, settings: Any) -> None:
    settings.VERSION = "1.2.3"
    assert "1.2.3" not in client.get("/admin/login/", headers={"host": "127.0.0.1"}).content.decode()
