"""The steps of an import, as a researcher takes them in a browser."""

from pathlib import Path

from django.contrib.auth.models import Permission, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from surveys.models import KeptReport
from surveys.results import reports
from tests.surveys.studies.importing_cases import archive, png

NEW = {"name": "My Study", "definition_key": "evil-vqax", "system": "ofa-x", "layout": "auto"}
TWO = {"1.png": png("red"), "2.png": png("blue")}


def researcher(name: str = "ada", *, permission: str = "add_item", is_staff: bool = True) -> Client:
    person = User.objects.create_user(name, is_staff=is_staff)
    if permission:
        person.user_permissions.add(Permission.objects.get(codename=permission))
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(person)
    return client


def upload(client: Client, items: bytes, *, pictures: dict[str, bytes] | None = None, **data: object):
    files = {"items": SimpleUploadedFile("items.csv", items)}
    if pictures is not None:
        files["archive"] = SimpleUploadedFile("p.zip", archive(pictures))
    return client.post(reverse("import_items"), NEW | data | files)


def preview_of(client: Client, items: bytes, **options) -> str:
    """Upload and return the address of the preview."""
    response = upload(client, items, **options)
    assert response.status_code == 302
    return response["Location"]


def make_what_is_asked() -> list[bool]:
    """Do the worker's part: what pages have asked for is made."""
    return [reports.make(row.pk) for row in KeptReport.objects.exclude(asked_version="").order_by("pk")]


def seen(client: Client, url: str) -> str:
    """Look at an upload that takes long: the page waits, the worker looks."""
    assert "a note tells you when" in client.get(url).text
    assert make_what_is_asked() == [True]
    return url


def staged(folders: Path) -> list[str]:
    return sorted(path.name for path in (folders / "imports").glob("*"))


def said(response) -> list[str]:
    return [str(message) for message in response.context["messages"]]
