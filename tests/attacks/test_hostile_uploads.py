"""Files and addresses a researcher's browser could be made to send: nothing is written, fetched or left lying."""

import io
import json
import socket
import stat
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from surveys.models import Item, Picture, Survey
from surveys.studies.importing import fetching
from tests.surveys.pages.study.import_pages import NEW, researcher
from tests.surveys.studies.importing_cases import archive, batch_csv, png, slot

pytestmark = pytest.mark.django_db
SVG = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'>{}</svg>"


@pytest.fixture
def ada() -> Client:
    return researcher()


def linked() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as written:
        link = zipfile.ZipInfo("1.png")
        link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        written.writestr(link, "/etc/passwd")
    return file.getvalue()


def nested() -> bytes:
    return archive({"1.png": archive({"1.png": bytes(2**20)})})


def many() -> bytes:
    return archive({f"{n}.png": b"x" for n in range(5_000)})


ARCHIVES = {
    "a path up": archive({"../../1.png": png()}),
    "a path up in the middle": archive({"a/../../../1.png": png()}),
    "a path from the root": archive({"/etc/cron.d/1.png": png()}),
    "a path of Windows": archive({"..\\..\\1.png": png()}),
    "a drive of Windows": archive({"C:\\1.png": png()}),
    "a link": linked(),
    "a bomb": archive({"1.png": bytes(50 * 2**20)}),
    "an archive in an archive": nested(),
    "no archive": b"PK\3\4" + bytes(1000),
    "half an archive": archive({"1.png": png()})[:-30],
    "a script": archive({"1.png": SVG.format("<script>alert(1)</script>").encode()}),
    "a page": archive({"1.png": b"<html><script>alert(1)</script></html>"}),
    "an entity bomb": archive(
        {"1.png": b'<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><svg>&b;</svg>'}
    ),
    "an outside entity": archive(
        {"1.png": b'<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]><svg>&a;</svg>'}
    ),
    "a huge picture": archive({"1.png": png(size=(30_000, 3))[:40] + b"\0" * 100}),
}


def send(client: Client, items: bytes, zipped: bytes | None = None, **data: str):
    files = {"items": SimpleUploadedFile("../../items.csv\0.exe", items)}
    if zipped is not None:
        files["archive"] = SimpleUploadedFile("../../p.zip", zipped)
    return client.post(reverse("import_items"), NEW | data | files)


def confirm(client: Client, answer) -> None:
    if answer.status_code == 302:
        client.get(answer["Location"])
        client.post(answer["Location"], {"confirm": "1", "accept_warnings": "on"})


def nothing_came_in(folders: Path) -> bool:
    outside = [*folders.parent.glob("*.png"), *folders.rglob("cron.d")]
    return not (Survey.objects.exists() or Item.objects.exists() or Picture.objects.exists() or outside)


@pytest.mark.parametrize("case", ARCHIVES)
def test_hostile_archives_import_nothing(ada: Client, own_folders: Path, case: str) -> None:
    answer = send(ada, batch_csv([slot(1)]), ARCHIVES[case])
    assert answer.status_code in (302, 422)
    confirm(ada, answer)
    assert nothing_came_in(own_folders)


def test_an_archive_of_very_many_files_is_read_or_refused(ada: Client, own_folders: Path) -> None:
    answer = send(ada, batch_csv([slot(1)]), many())
    assert answer.status_code in (302, 422)
    confirm(ada, answer)
    assert nothing_came_in(own_folders)


ITEMS = {
    "null bytes": batch_csv([slot(1, question="a\0b")]),
    "a lone surrogate": batch_csv([slot(1)]).replace(b"purrs", b"\xed\xa0\x80"),
    "no text": b"\xff\xfe\0\0" * 1000,
    "a quote that never ends": b'id_0,question_0\n"' + b"x" * 200_000,
    "deep JSON": b'{"item_id": ' + b"[" * 50_000,
    "a number too long": b'{"item_id": ' + b"9" * 50_000 + b"}",
    "escaped surrogates": json.dumps({"item_id": "\ud800", "image": "1.png", "question": "\x00"}).encode(),
    "very many columns": b",".join(b"x%d" % n for n in range(20_000)) + b"\n1\n",
    "a formula in an id": batch_csv([slot(1, id="=cmd|' /C calc'!A0")]).replace(b"whiskers", b"\0"),
}


@pytest.mark.parametrize("case", ITEMS)
def test_hostile_items_are_told_and_not_imported(ada: Client, own_folders: Path, case: str) -> None:
    answer = send(ada, ITEMS[case], archive({"1.png": png()}))
    assert answer.status_code in (302, 422)
    confirm(ada, answer)
    assert nothing_came_in(own_folders)


ADDRESSES = [
    "http://127.0.0.1/", "http://localhost:6379/", "http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/",
    "http://127.1/", "http://0/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::7f00:1]/", "http://[fd00::1]/", "http://[fe80::1%25eth0]/", "http://169.254.169.254/latest/",
    "http://10.0.0.1/", "http://100.64.0.1/", "http://0.0.0.0/", "http://①②⑦.⓪.⓪.①/", "file:///etc/passwd",
    "gopher://127.0.0.1:6379/_x", "ftp://127.0.0.1/", "http://user:pw@127.0.0.1/", "http://example.org@127.0.0.1/",
    "http://127.0.0.1\\@example.org/", "http:///x", "http://", "http://[", "http://a\0b/", "http://127.0.0.1:99999/",
]  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_address_reaches_into_our_own_network(
    ada: Client, own_folders: Path, address: str, monkeypatch
) -> None:
    def connects(*args, **kwargs):
        raise AssertionError("It tried to connect.")

    monkeypatch.setattr("urllib3.connectionpool.HTTPConnectionPool.urlopen", connects)
    answer = send(ada, batch_csv([slot(1)]), address=address)
    assert answer.status_code == 422
    assert nothing_came_in(own_folders)


def resolving(*addresses: str):
    """A name server that answers with the next address each time."""
    left = list(addresses)

    def getaddrinfo(host: str, port: int, **kwargs):
        address = left.pop(0) if len(left) > 1 else left[0]
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (address, port))]

    return getaddrinfo


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "::1", "::ffff:10.0.0.1", "169.254.169.254"])
def test_a_name_that_means_an_inner_address_is_refused(
    ada: Client, own_folders: Path, address: str, monkeypatch
) -> None:
    monkeypatch.setattr(fetching.socket, "getaddrinfo", resolving(address))
    answer = send(ada, batch_csv([slot(1)]), address="http://pictures.example/")
    assert (answer.status_code, nothing_came_in(own_folders)) == (422, True)


def test_a_name_that_changes_its_meaning_is_asked_where_it_was_checked(monkeypatch) -> None:
    """Checked as public, then pointed to the inside: the connection goes to the address that was checked."""
    asked = []

    def urlopen(pool, *args, **kwargs):
        asked.append(pool.host)
        raise OSError

    monkeypatch.setattr(fetching.socket, "getaddrinfo", resolving("93.184.215.14", "127.0.0.1"))
    monkeypatch.setattr("urllib3.connectionpool.HTTPConnectionPool.urlopen", urlopen)
    with pytest.raises(fetching.PictureError, match="does not answer"):
        fetching.fetch("http://pictures.example/1.png")
    assert asked == ["93.184.215.14"]
