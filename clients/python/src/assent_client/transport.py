"""Requests by urllib: a token, JSON and forms, and the same key again where no answer came."""

import json
import shutil
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping
from email.utils import encode_rfc2231
from http.client import HTTPException, IncompleteRead
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from urllib.parse import urlencode, urlsplit

from assent_client.errors import AssentError, Conflict, TooManyRequests, Unreachable, error_of

TRIES = 4
FIRST_WAIT = 0.5  # seconds; doubled with each try
LONGEST_WAIT = 60.0
PATIENCE = 600.0  # seconds in which what was asked before, and is being done, is asked after
AGAIN = {502, 503, 504}
Read = TypeVar("Read")
Files = Mapping[str, tuple[str, bytes]]


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A token goes to no address but the one it was given for."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Transport:
    """Asks one Assent. `url` is where its pages are; a token is sent nowhere else."""

    def __init__(self, url: str, token: str, *, timeout: float = 60) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise ValueError(
                "The address of an Assent begins with https:// (or http:// on your own machine)."
            )
        self._base = f"{url.rstrip('/')}/api/v1"
        self._token, self._timeout = token, timeout
        self._opener = urllib.request.build_opener(_NoRedirect)

    def get(self, path: str, **query: object) -> Any:
        return self._json("GET", path, query=query)

    def patch(self, path: str, body: object) -> Any:
        return self._json("PATCH", path, data=json.dumps(body).encode(), content_type="application/json")

    def post(self, path: str, body: object = None, *, key: str | None = None) -> Any:
        """Ask for what is done once for each `key`; without one it gets a key of its own."""
        data = b"" if body is None else json.dumps(body).encode()
        return self._json("POST", path, data=data, content_type="application/json", key=key)

    def upload(
        self,
        path: str,
        fields: Mapping[str, object],
        files: Files,
        *,
        key: str | None = None,
        **query: object,
    ) -> Any:
        boundary = uuid.uuid4().hex
        data = _form(fields, files, boundary=boundary)
        kind = f"multipart/form-data; boundary={boundary}"
        return self._json("POST", path, data=data, content_type=kind, query=query, key=key)

    def pages(self, path: str, **query: object) -> Iterator[Any]:
        """Yield the rows of a list, page by page as they are asked for."""
        cursor: str | None = ""
        while cursor is not None:
            page = self.get(path, **query, **({"cursor": cursor} if cursor else {}))
            yield from page["results"]
            cursor = page["next"]

    def save(self, path: str, to: Path) -> Path:
        """Write what is at `path` to a file, whole or not at all."""
        partial = to.with_name(f"{to.name}.part")
        try:
            with partial.open("wb") as file:
                self._tried(self._request("GET", path), _into(file))
            return partial.replace(to)
        finally:
            partial.unlink(missing_ok=True)

    def _json(self, method: str, path: str, **more: Any) -> Any:
        return self._tried(self._request(method, path, **more), lambda answer: json.loads(answer.read()))

    def _request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        data: bytes | None = None,
        content_type: str = "",
        key: str | None = None,
    ) -> urllib.request.Request:
        given = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        url = f"{self._base}{path}" + (f"?{urlencode(given)}" if given else "")
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        headers |= {"Content-Type": content_type} if data else {}
        headers |= {"Idempotency-Key": key or str(uuid.uuid4())} if method == "POST" else {}
        return urllib.request.Request(url, data=data, headers=headers, method=method)  # noqa: S310 (checked above)

    def _tried(self, request: urllib.request.Request, read: Callable[[Any], Read]) -> Read:
        """Return what is read. Where no whole answer comes it is asked again: a key keeps what is made from being made
        twice. What is being done already, as after a timeout, is asked after until it is done."""
        attempt, until = 1, time.monotonic() + PATIENCE
        while True:
            try:
                return self._once(request, read)
            except (Unreachable, TooManyRequests, Conflict) as error:
                is_begun = error.kind == "key-in-use"
                is_last = time.monotonic() > until if is_begun else attempt == TRIES
                if is_last or (isinstance(error, Conflict) and not is_begun):
                    raise
                time.sleep(min(error.wait, LONGEST_WAIT) or FIRST_WAIT * 2 ** (attempt - 1))
                attempt += not is_begun

    def _once(self, request: urllib.request.Request, read: Callable[[Any], Read]) -> Read:
        try:
            with self._opener.open(request, timeout=self._timeout) as answer:
                return read(answer)
        except urllib.error.HTTPError as refusal:
            raise _refused(refusal) from None
        except (OSError, HTTPException) as error:
            raise Unreachable(f"{request.host} does not answer: {error}") from error


def _into(file: BinaryIO) -> Callable[[Any], None]:
    """Return what writes an answer to a file, from its beginning however often it is asked."""

    def write(answer: Any) -> None:
        file.seek(0)
        file.truncate()
        shutil.copyfileobj(answer, file)
        if answer.length:  # what is read in parts ends early without an error
            raise IncompleteRead(b"", answer.length)

    return write


def _refused(answer: urllib.error.HTTPError) -> AssentError:
    with answer:
        try:
            problem = json.loads(answer.read())
        except (ValueError, OSError, HTTPException):
            problem = {}
        said = answer.headers.get("Retry-After", "")
    wait = float(said) if said.isascii() and said.isdecimal() else 0.0
    if answer.code in AGAIN:
        return Unreachable(f"Status {answer.code}.", status=answer.code, wait=wait)
    return error_of(answer.code, problem if isinstance(problem, dict) else {}, wait=wait)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _form(fields: Mapping[str, object], files: Files, *, boundary: str) -> bytes:
    parts = [
        _part(boundary, f'name="{name}"', _text(value).encode())
        for name, value in fields.items()
        if value is not None
    ]
    for name, (filename, content) in files.items():
        disposition = f'name="{name}"; filename="{_plain(filename)}"'
        disposition += f"; filename*={encode_rfc2231(filename, 'utf-8')}"
        parts.append(_part(boundary, disposition, content, kind="application/octet-stream"))
    return b"".join([*parts, f"--{boundary}--\r\n".encode()])


def _plain(filename: str) -> str:
    """Return a file's name as a header takes it: ASCII without quotes and line ends."""
    return "".join(
        letter if letter.isascii() and letter.isprintable() and letter not in '"\\' else "_"
        for letter in filename
    )


def _part(boundary: str, disposition: str, content: bytes, *, kind: str = "") -> bytes:
    head = f"--{boundary}\r\nContent-Disposition: form-data; {disposition}\r\n"
    head += f"Content-Type: {kind}\r\n" if kind else ""
    return f"{head}\r\n".encode() + content + b"\r\n"
