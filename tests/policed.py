"""Every address of a site, and what in an answer a Content-Security-Policy would have to allow or does not forbid."""

import re
import uuid
from base64 import b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from html.parser import HTMLParser
from typing import Any

from django.apps import apps
from django.urls import URLResolver, get_resolver
from django.urls.resolvers import RegexPattern

CONVERTER = re.compile(r"<(?:(\w+):)?(\w+)>")
GROUP = re.compile(r"\(\?P<(\w+)>([^)]*)\)")
OF_A_KIND = {"int": 1, "uuid": uuid.UUID(int=1)}
Fill = Callable[[str, str, str], Any]  # of a route, the kind and the name of one part of it


def addresses(urlconf: str, *, fill: Fill) -> list[str]:
    """Return one address for every pattern; what `fill` has no value for gets one that no row has."""
    return [f"/{_filled(route, fill)}" for route in _routes(get_resolver(urlconf))]


def _routes(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        route = str(pattern.pattern)
        if isinstance(pattern.pattern, RegexPattern):
            route = GROUP.sub(lambda match: _of_group(match[2]), route.strip("^$"))
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern, before + route)
        else:
            yield before + route


def _of_group(expression: str) -> str:
    return "nowhere" if "*" in expression else expression.split("|")[0]


def _filled(route: str, fill: Fill) -> str:
    def value(match: re.Match[str]) -> str:
        kind, name = match[1] or "str", match[2]
        found = _row(route) if name == "object_id" else fill(route, kind, name)
        return str(OF_A_KIND.get(kind, "x") if found is None else found)

    return CONVERTER.sub(value, route)


def _row(route: str) -> Any:
    """Return the first row of a page of the admin."""
    _, app, model, *_ = route.split("/")
    if app not in apps.app_configs:
        return None
    row = apps.get_model(app, model)._default_manager.first()
    return row and row.pk


class Inline(HTMLParser):
    """Collects scripts, handlers and styles that stand in the page itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag == "style" or (tag == "script" and not given.get("src") and given.get("type") != JSON):
            self.found.append(f"<{tag}>")
        for name, value in attributes:
            is_script = re.match(r"\s*javascript:", value or "", re.IGNORECASE)
            if name.startswith("on") or name in {"style", "srcdoc"} or is_script:
                self.found.append(f'<{tag} {name}="{value}">')


JSON = "application/json"  # data, which no browser runs


def inline(html: str) -> list[str]:
    parser = Inline()
    parser.feed(html)
    return parser.found


def faults(response: Any) -> list[str]:
    """Return what is wrong with an answer: no policy, one that lets inline code run, inline code."""
    policy = response.headers.get("Content-Security-Policy", "")
    directives = dict(part.strip().partition(" ")[::2] for part in policy.split(";"))
    found = [] if "default-src" in directives else ["no default-src"]
    scripts = directives.get("script-src", directives.get("default-src", ""))
    found += [f"scripts: {word}" for word in scripts.split() if word not in {"'self'", "'none'"}]
    if response.headers.get("X-Content-Type-Options") != "nosniff":
        found.append("no nosniff")
    is_page = response.headers.get("Content-Type", "").startswith("text/html")
    if not is_page or response.streaming:
        return found
    styles = directives.get("style-src", "").split()
    found += [f"styles: {word}" for word in styles if word != "'self'" and not HASHED.fullmatch(word)]
    return found + inline(without_named_styles(response.content.decode(), styles))


HASHED = re.compile(r"'sha256-[\w+/]{43}='")


def without_named_styles(html: str, sources: list[str]) -> str:
    """Leave out the styles that a policy names by their hash, each of which is one of our files."""

    def left(style: re.Match[str]) -> str:
        digest = b64encode(sha256(style[1].encode()).digest()).decode()
        return "" if f"'sha256-{digest}'" in sources else style[0]

    return re.sub(r'<style data-file="[^"]*">(.*?)</style>', left, html, flags=re.DOTALL)
