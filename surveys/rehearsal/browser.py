"""A small browser: follows redirects, keeps cookies a site, posts forms. No JavaScript."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

import urllib3

from surveys.rehearsal.hit_page import Element, parse

REDIRECTS = {301, 302, 303, 307, 308}
MOST_REDIRECTS = 5
TIMEOUT = urllib3.Timeout(connect=10, read=60)
Fields = Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said, and the address it finally came from."""

    url: str
    status: int
    body: bytes

    @property
    def root(self) -> Element:
        return parse(self.body.decode())

    @property
    def data(self) -> Any:
        return json.loads(self.body)


class Browser:
    """One worker's browser. Connections are shared by all, cookies by nobody."""

    def __init__(self, pool: urllib3.PoolManager) -> None:
        self._pool = pool
        self._cookies: dict[str, dict[str, str]] = {}

    def get(self, url: str) -> Answer:
        return self._request("GET", url)

    def post_form(self, url: str, fields: Fields) -> Answer:
        body = urlencode(list(fields)).encode()
        return self._request("POST", url, body=body, content_type="application/x-www-form-urlencoded")

    def post_json(self, url: str, data: Any) -> Answer:
        return self._request("POST", url, body=json.dumps(data).encode(), content_type="application/json")

    def _request(self, method: str, url: str, *, body: bytes | None = None, content_type: str = "") -> Answer:
        for _ in range(MOST_REDIRECTS):
            headers = {"Content-Type": content_type} if content_type else {}
            response = self._pool.request(
                method,
                url,
                body=body,
                headers=headers | self._cookie_header(url),
                redirect=False,
                retries=False,
            )
            self.keep_cookies(url, response.headers.getlist("Set-Cookie"))
            if response.status not in REDIRECTS:
                return Answer(url, response.status, response.data)
            url, method, body, content_type = urljoin(url, response.headers["Location"]), "GET", None, ""
        return Answer(url, 508, b"Too many redirects.")

    def _cookie_header(self, url: str) -> dict[str, str]:
        cookies = self._cookies.get(urlsplit(url).hostname or "", {})
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())} if cookies else {}

    def keep_cookies(self, url: str, headers: Iterable[str]) -> None:
        jar = self._cookies.setdefault(urlsplit(url).hostname or "", {})
        for header in headers:
            jar.update({name: morsel.value for name, morsel in SimpleCookie(header).items()})


def new_pool() -> urllib3.PoolManager:
    return urllib3.PoolManager(num_pools=4, maxsize=8, timeout=TIMEOUT)
