"""Pictures from a URL prefix, fetched once into a folder. Addresses inside our own network are refused."""

import hashlib
import io
import ipaddress
import json
import math
import socket
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import SplitResult, quote, urljoin, urlsplit

import urllib3
import urllib3.connection
from django.conf import settings

from surveys.studies.importing.archive import ZipPictures
from surveys.studies.importing.pictures import FolderPictures, PictureError, Pictures, read_limited

MAX_REDIRECTS = 5
AT_ONCE = 8
TIMEOUT = urllib3.Timeout(connect=5, read=15)  # for each word of an answer; all of it has until a deadline
ONE_SECONDS = 300.0
PICTURE_TYPES = (
    "image/",
    "audio/",
    "video/",
    "application/ogg",
    "application/octet-stream",
    "binary/octet-stream",
)
INDEX = "fetched.json"
ALL_PICTURES: Mapping[str, str] = MappingProxyType({})
# These stand for IPv4 addresses, private ones too, or for a site's own, and yet Python calls them global.
INNER = tuple(
    ipaddress.ip_network(network)
    for network in (
        "64:ff9b::/96",  # NAT64, RFC 6052
        "::/96",  # IPv4-compatible, RFC 4291 2.5.5.1
        "fec0::/10",  # site-local, RFC 3879
    )
)


class FetchedPictures(Pictures):
    """What `fetch_pictures` brought into a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.index: dict[str, dict[str, str]] = json.loads((folder / INDEX).read_text())

    def paths(self) -> Iterable[str]:
        return self.index

    def read(self, path: str, *, kind: str = "picture") -> bytes:
        entry = self.index[path]
        if "error" in entry:
            raise PictureError(entry["error"])
        return (self.folder / entry["file"]).read_bytes()


def fetch_pictures(
    names: Collection[str],
    *,
    prefix: str,
    into: Path,
    seconds: float = 600,
    kinds: Mapping[str, str] = ALL_PICTURES,
    tell: Callable[[float], object] = lambda share: None,
) -> FetchedPictures:
    """Fetch `prefix` + each name into the folder `into`, at most `seconds` long; PictureError if prefix is no URL.

    `kinds` says of names what they are; others are pictures. `tell` takes the share that is done, after each.
    A name the server doesn't know (404, 410) is missing; any other failure is told when the picture is read.
    """
    check_address(urlsplit(prefix))
    base = prefix if prefix.endswith("/") else f"{prefix}/"
    deadline = time.monotonic() + seconds
    into.mkdir(parents=True, exist_ok=True)

    def fetch_one(name: str) -> tuple[str, dict[str, str] | None]:
        kind = kinds.get(name, "picture")
        return name, _fetch_entry(f"{base}{quote(name)}", into=into, deadline=deadline, kind=kind)

    entries = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for n, (name, entry) in enumerate(pool.map(fetch_one, sorted(names)), 1):
            if entry:
                entries[name] = entry
            tell(n / len(names))
    (into / INDEX).write_text(json.dumps(entries))
    return FetchedPictures(into)


def _fetch_entry(url: str, *, into: Path, deadline: float, kind: str) -> dict[str, str] | None:
    """Return {"file"} or {"error"}, None where the server has no such file."""
    if time.monotonic() > deadline:
        return {"error": "Fetching took too long; bring the pictures in a ZIP."}
    try:
        data = fetch(url, kind=kind, until=deadline)
    except PictureError as error:
        return {"error": str(error)}
    if data is None:
        return None
    file = hashlib.sha256(data).hexdigest()
    (into / file).write_bytes(data)
    return {"file": file}


def fetch(url: str, *, kind: str = "picture", until: float = math.inf) -> bytes | None:
    """Return the bytes at `url`, None for 404 or 410; PictureError otherwise. Every redirect is checked anew.

    It is given up ONE_SECONDS after it was begun, and at `until` (`time.monotonic`), also of whoever still sends.
    """
    until = min(until, time.monotonic() + ONE_SECONDS)
    for _ in range(MAX_REDIRECTS + 1):
        parts = urlsplit(url)
        response = ask("GET", parts, address=check_address(parts), until=until)
        try:
            if location := response.get_redirect_location():
                url = urljoin(url, location)
                continue
            return _body(response, kind=kind)
        except (urllib3.exceptions.HTTPError, OSError):
            raise PictureError(f"{parts.hostname} broke off while sending it.") from None
        finally:
            response.close()
    raise PictureError(f"{urlsplit(url).hostname} redirects without end.")


def check_address(parts: SplitResult, *, what: str = "A picture's address") -> str:
    """Return the IP address to connect to; PictureError if it is not http(s) to a public host. `what` names it there.

    The connection goes to this very address, so that the name can't mean another one a moment later.
    """
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise PictureError(f"{what} must start with http:// or https://.")
    if parts.username or parts.password:
        raise PictureError(f"{what} must not hold a password.")
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError, UnicodeError):
        raise PictureError(f"The host {parts.hostname} is not known.") from None
    addresses = [str(entry[4][0]) for entry in found]
    if not settings.FETCH_PRIVATE and not all(map(_is_public, addresses)):
        raise PictureError(f"The host {parts.hostname} is inside a private network.")
    return addresses[0]


def _is_public(address: str) -> bool:
    ip = ipaddress.ip_address(address.partition("%")[0])
    inner = getattr(ip, "ipv4_mapped", None) or getattr(ip, "sixtofour", None)
    is_outer = ip.is_global and not ip.is_multicast and not any(ip in network for network in INNER)
    return is_outer and (inner is None or inner.is_global)


class _Deadlined:
    """A socket that is read from until `until` and no longer: TIMEOUT begins anew with each letter that comes."""

    def __init__(self, sock: Any, *, until: float) -> None:
        self._sock, self._until = sock, until

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sock, name)

    def recv_into(self, buffer: Any, *args: Any) -> int:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(min(left, TIMEOUT.read_timeout or left))
        received: int = self._sock.recv_into(buffer, *args)
        return received

    def makefile(self, *_: Any, **__: Any) -> io.BufferedReader:
        """Return what http.client reads an answer from; it keeps the connection until it is closed."""
        self._sock._io_refs += 1
        return io.BufferedReader(socket.SocketIO(cast(socket.socket, self), "r"))


class _Until:
    """A connection of urllib3's whose answer has to have come at `until`."""

    sock: Any

    def __init__(self, *args: Any, until: float, **more: Any) -> None:
        super().__init__(*args, **more)
        self._until = until

    def connect(self) -> None:
        super().connect()  # type: ignore[misc]
        self.sock = _Deadlined(self.sock, until=self._until)


class _HTTP(_Until, urllib3.connection.HTTPConnection):
    pass


class _HTTPS(_Until, urllib3.connection.HTTPSConnection):
    pass


def ask(
    method: str,
    parts: SplitResult,
    *,
    address: str,
    until: float,
    body: bytes | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> urllib3.BaseHTTPResponse:
    """Ask `address` for the URL under its own host name (and check the certificate for that name), without redirects.

    PictureError where nobody answers. What has not been read at `until` (`time.monotonic`) can't be any more.
    """
    pool = _pool(parts, address=address, until=until)
    host = parts.netloc.rpartition("@")[2]
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    sent = {"Host": host, **headers}
    try:
        return pool.urlopen(
            method,
            target,
            body=body,
            headers=sent,
            redirect=False,
            preload_content=False,
            decode_content=False,
        )
    except (urllib3.exceptions.HTTPError, OSError, ValueError):
        raise PictureError(f"{parts.hostname} does not answer.") from None


def _pool(parts: SplitResult, *, address: str, until: float) -> urllib3.HTTPConnectionPool:
    options: dict[str, Any] = {"port": parts.port, "timeout": TIMEOUT, "retries": False, "until": until}
    pool: urllib3.HTTPConnectionPool
    if parts.scheme == "https":
        options |= {"server_hostname": parts.hostname, "assert_hostname": parts.hostname}
        pool = urllib3.HTTPSConnectionPool(address, **options)
        pool.ConnectionCls = _HTTPS
    else:
        pool = urllib3.HTTPConnectionPool(address, **options)
        pool.ConnectionCls = _HTTP
    return pool


def _body(response: urllib3.BaseHTTPResponse, *, kind: str) -> bytes | None:
    if response.status in (404, 410):
        return None
    if response.status != 200:
        raise PictureError(f"The server answers with status {response.status}.")
    sent = response.headers.get("Content-Type", "image/").split(";")[0].strip().lower()
    if not sent.startswith(PICTURE_TYPES):
        raise PictureError(f"The server sends {sent}, not a picture.")
    return read_limited(response, kind=kind)


@contextmanager
def open_pictures(
    place: str, *, names: Collection[str], kinds: Mapping[str, str] = ALL_PICTURES
) -> Iterator[Pictures | None]:
    """Open a folder, a ZIP or a URL prefix (from which `names` are fetched); None for an empty place.

    PictureError if there is nothing of the kind at `place`.
    """
    if not place:
        yield None
    elif place.startswith(("http://", "https://")):
        with tempfile.TemporaryDirectory() as folder:
            yield fetch_pictures(names, prefix=place, into=Path(folder), kinds=kinds)
    elif Path(place).is_dir():
        yield FolderPictures(Path(place))
    elif Path(place).is_file():
        with ZipPictures(Path(place)) as pictures:
            yield pictures
    else:
        raise PictureError(f"{place} is no folder, ZIP or URL.")
