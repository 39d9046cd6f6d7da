"""Requests by urllib: a token, JSON and forms, and the same key again where no answer came."""

import json
import shutil
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Mapping
from email.utils import encode_rfc2231
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from assent_client.errors import AssentError, Conflict, TooManyRequests, Unreachable, error_of

TRIES = 4
FIRST_WAIT = 0.5  # seconds; doubled with each try
AGAIN = {502, 503, 504}
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

    def post(self, path: str, body: object = None) -> Any:
        data = b"" if body is None else json.dumps(body).encode()
        return self._json("POST", path, data=data, content_type="application/json")

    def upload(self, path: str, fields: Mapping[str, object], files: Files, **query: object) -> Any:
        boundary = uuid.uuid4().hex
        data = _form(fields, files, boundary=boundary)
        kind = f"multipart/form-data; boundary={boundary}"
        return self._json("POST", path, data=data, content_type=kind, query=query)

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
        with self._open("GET", path) as answer, partial.open("wb") as file:
            shutil.copyfileobj(answer, file)
        return partial.replace(to)

    def _json(self, method: str, path: str, **more: Any) -> Any:
        with self._open(method, path, **more) as answer:
            return json.loads(answer.read())

    def _open(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        data: bytes | None = None,
        content_type: str = "",
    ) -> Any:
        given = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        url = f"{self._base}{path}" + (f"?{urlencode(given)}" if given else "")
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        headers |= {"Content-Type": content_type} if data else {}
        headers |= {"Idempotency-Key": str(uuid.uuid4())} if method == "POST" else {}
        request = urllib.request.Request(url, data=data, headers=headers, method=method)  # noqa: S310 (checked above)
        return self._tried(request)

    def _tried(self, request: urllib.request.Request) -> Any:
        """Return the answer. Where none comes it is asked again: a key keeps what is made from being made twice."""
        for attempt in range(TRIES):
            try:
                return self._once(request)
            except (Unreachable, TooManyRequests, Conflict) as error:
                is_done = isinstance(error, Conflict) and error.kind != "key-in-use"
                if is_done or attempt == TRIES - 1:
                    raise
                time.sleep(FIRST_WAIT * 2**attempt)
        raise AssertionError

    def _once(self, request: urllib.request.Request) -> Any:
        try:
            return self._opener.open(request, timeout=self._timeout)
        except urllib.error.HTTPError as answer:
            raise _refused(answer) from None
        except (OSError, HTTPException) as error:
            raise Unreachable(f"{request.host} does not answer: {error}") from error


def _refused(answer: urllib.error.HTTPError) -> AssentError:
    with answer:
        try:
            problem = json.loads(answer.read())
        except ValueError:
            problem = {}
    if answer.code in AGAIN:
        return Unreachable(f"Status {answer.code}.", status=answer.code)
    return error_of(answer.code, problem if isinstance(problem, dict) else {})


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
