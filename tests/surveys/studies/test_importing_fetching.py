"""Pictures from a URL: what is fetched, and what is refused before anything is."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from surveys.studies.importing.fetching import check_address, fetch, fetch_pictures
from surveys.studies.importing.pictures import PictureError
from tests.dripping import PATIENCE_SECONDS, dripping
from tests.surveys.studies.importing_cases import png

HTML = b"<html>Sign in</html>"


class Handler(BaseHTTPRequestHandler):
    """A small site of pictures; every path asked for is kept in `asked`."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        name = unquote(urlsplit(self.path).path)
        if name.startswith("/to/"):
            self.answer(302, b"", location=name.removeprefix("/to/"))
        elif name == "/loop":
            self.answer(302, b"", location="/loop")
        elif name == "/page.png":
            self.answer(200, HTML, kind="text/html; charset=utf-8")
        elif name == "/broken.png":
            self.answer(500, b"")
        elif name == "/large.png":
            self.answer(200, b"\0" * 3000)
        elif name in ("/1.png", "/a#b c.png", "/pics/1.png"):
            self.answer(200, png())
        else:
            self.answer(404, HTML)

    def answer(self, status: int, body: bytes, *, kind: str = "image/png", location: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def pictures_site(settings) -> Iterator[tuple[str, list[str]]]:
    """Yield the address of a local site, private addresses allowed, and the paths it was asked for."""
    settings.FETCH_PRIVATE = True
    handler = type("Handler", (Handler,), {"asked": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", handler.asked
    server.shutdown()
    thread.join()
    server.server_close()


def test_names_are_percent_encoded(pictures_site, tmp_path: Path) -> None:
    address, asked = pictures_site
    fetched = fetch_pictures(["1.png", "a#b c.png"], prefix=address, into=tmp_path)
    assert sorted(asked) == ["/1.png", "/a%23b%20c.png"]
    assert [fetched.read(fetched.find(name) or "") for name in ("1.png", "a#b c.png")] == [png(), png()]


@pytest.mark.parametrize("slash", ["", "/"])
def test_a_prefix_is_a_folder(pictures_site, tmp_path: Path, slash: str) -> None:
    address, asked = pictures_site
    assert fetch_pictures(["1.png"], prefix=f"{address}/pics{slash}", into=tmp_path).find("1.png") == "1.png"
    assert asked == ["/pics/1.png"]


def test_what_the_site_does_not_have_is_missing(pictures_site, tmp_path: Path) -> None:
    assert fetch_pictures(["none.png"], prefix=pictures_site[0], into=tmp_path).find("none.png") is None


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("page.png", "The server sends text/html, not a picture."),
        ("broken.png", "The server answers with status 500."),
        ("loop", "127.0.0.1 redirects without end."),
    ],
)
def test_what_is_no_picture_is_told_when_it_is_read(
    pictures_site, tmp_path: Path, name: str, message: str
) -> None:
    fetched = fetch_pictures([name], prefix=pictures_site[0], into=tmp_path)
    with pytest.raises(PictureError) as error:
        fetched.read(fetched.find(name) or "")
    assert str(error.value) == message


def test_a_picture_over_the_size_limit(pictures_site, settings) -> None:
    settings.UPLOAD_MAX_BYTES = 2999
    with pytest.raises(PictureError, match="The file is larger than 0 MB"):
        fetch(f"{pictures_site[0]}/large.png")


def test_exactly_the_size_limit(pictures_site, settings) -> None:
    settings.UPLOAD_MAX_BYTES = 3000
    assert fetch(f"{pictures_site[0]}/large.png") == b"\0" * 3000


def test_a_redirect_is_followed(pictures_site) -> None:
    address, asked = pictures_site
    assert fetch(f"{address}/to/{address}/1.png") == png()
    assert [path.rsplit("/", 1)[1] for path in asked] == ["1.png", "1.png"]


def test_a_redirect_is_checked_like_any_address(pictures_site) -> None:
    address, asked = pictures_site
    with pytest.raises(PictureError, match="must start with http:// or https://"):
        fetch(f"{address}/to/file:///etc/passwd")
    assert len(asked) == 1


def test_a_redirect_into_a_private_network_is_refused(pictures_site, settings, monkeypatch) -> None:
    """The first host is taken for a public one; the address it redirects to is not."""
    address, asked = pictures_site
    real = check_address

    def public_once(parts):
        settings.FETCH_PRIVATE = not asked
        return real(parts)

    monkeypatch.setattr("surveys.studies.importing.fetching.check_address", public_once)
    with pytest.raises(PictureError, match=r"The host 127\.0\.0\.1 is inside a private network"):
        fetch(f"{address}/to/{address}/1.png")
    assert len(asked) == 1


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "10.0.0.8",
        "192.168.1.1",
        "172.16.0.1",
        "169.254.169.254",
        "0.0.0.0",
        "224.0.0.1",
        "100.64.0.1",
        "2130706433",
        "0x7f.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "[fd00::1]",
        "[::127.0.0.1]",
        "[fec0::1]",
    ],
)
def test_private_addresses_are_refused(host: str, tmp_path: Path) -> None:
    with pytest.raises(PictureError, match=r"is inside a private network\.$"):
        fetch_pictures(["1.png"], prefix=f"http://{host}/", into=tmp_path / "into")
    assert not (tmp_path / "into").exists()


def test_a_public_address_passes() -> None:
    assert check_address(urlsplit("https://93.184.215.14/x")) == "93.184.215.14"


@pytest.mark.parametrize(
    ("prefix", "message"),
    [
        ("ftp://example.org/", "A picture's address must start with http:// or https://."),
        ("file:///etc/", "A picture's address must start with http:// or https://."),
        ("http:///x", "A picture's address must start with http:// or https://."),
        ("https://me:secret@example.org/", "A picture's address must not hold a password."),
        ("http://127.0.0.1:99999/", "The host 127.0.0.1 is not known."),
        ("http://no-such-host.invalid/", "The host no-such-host.invalid is not known."),
    ],
)
def test_an_address_that_is_none(prefix: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(PictureError) as error:
        fetch_pictures(["1.png"], prefix=prefix, into=tmp_path)
    assert str(error.value) == message


def test_a_site_that_does_not_answer(pictures_site, tmp_path: Path) -> None:
    fetched = fetch_pictures(["1.png"], prefix="http://127.0.0.1:1/", into=tmp_path)
    with pytest.raises(PictureError, match=r"127\.0\.0\.1 does not answer"):
        fetched.read("1.png")


def test_out_of_time(pictures_site, tmp_path: Path) -> None:
    address, asked = pictures_site
    fetched = fetch_pictures(["1.png"], prefix=address, into=tmp_path, seconds=-1)
    with pytest.raises(PictureError, match="Fetching took too long"):
        fetched.read("1.png")
    assert asked == []


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (b"", b"HTTP/1.1 200 OK at last"),
        (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 9999\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n", b"x"),
    ],
)
def test_a_site_that_sends_letter_by_letter_is_left(
    settings, tmp_path: Path, first: bytes, then: bytes
) -> None:
    settings.FETCH_PRIVATE = True
    with dripping(first, then) as server:
        fetched = fetch_pictures(["1.png"], prefix=server.url, into=tmp_path, seconds=2)
        assert server.is_left.wait(PATIENCE_SECONDS)
    with pytest.raises(PictureError, match=r"^127\.0\.0\.1 (does not answer|broke off while sending it)\.$"):
        fetched.read("1.png")


def test_one_file_has_a_time_of_its_own(settings, monkeypatch) -> None:
    settings.FETCH_PRIVATE = True
    monkeypatch.setattr("surveys.studies.importing.fetching.ONE_SECONDS", 0.3)
    with dripping(b"HTTP/1.1 200 OK\r\n\r\n", b"x") as server:
        with pytest.raises(PictureError, match="broke off while sending it"):
            fetch(server.url)
        assert server.is_left.wait(PATIENCE_SECONDS)
