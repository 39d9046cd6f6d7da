"""Which language a page speaks: English for researchers and machines, for workers what they asked for.

A worker's own choice counts first, then what a study asks for (`surveys.pages.answering.language`), then the browser.
Where a page is on its own the choice is kept in a cookie; a HIT stands in a frame of another site, where browsers
keep none, so there it stays in the address. What language a request had ends with it: threads serve many.
"""

import re
from collections.abc import Callable
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation.trans_real import parse_accept_lang_header

from surveys.answering.presentation import BROWSERS

PARAMETER = "language"
COOKIE_SECONDS = 365 * 86_400
# The app's pages for workers. The marketplace's are all its pages but what requesters' programs call, and the
# documents that requesters wrote.
WORKERS_PAGES = re.compile(r"/(hits|links|panel)/|/appeals/(?!open/|\d+/answer$)")
OTHERS_PAGES = re.compile(r"/(control|frames)/")
# What another site's frame opens or sends: an answer may be called `language`, too.
FRAMED_PAGES = re.compile(r"/hits/|/mturk/externalSubmit")


class WorkerLanguageMiddleware:
    """Stands before whatever may answer with a page; `request.chosen_language` is "" where nothing was chosen."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not _is_for_workers(request):
            with translation.override(settings.LANGUAGE_CODE):
                return self.get_response(request)
        if _known(request.GET.get(PARAMETER)) and _keeps_cookies(request):
            return _remember(request)
        chosen = _chosen(request)
        request.chosen_language = chosen  # type: ignore[attr-defined]
        with translation.override(chosen or translation.get_language_from_request(request)):
            browsers = BROWSERS.set(() if chosen else _asked_for(request))
            try:
                response = self.get_response(request)
            finally:
                BROWSERS.reset(browsers)
            if response.get("Content-Type", "").startswith("text/html"):
                response["Content-Language"] = translation.get_language()
                patch_vary_headers(response, ["Accept-Language", "Cookie"])
        return response


def _is_for_workers(request: HttpRequest) -> bool:
    if getattr(request, "urlconf", None) != settings.MARKETPLACE_URLCONF:
        return WORKERS_PAGES.match(request.path) is not None
    is_call = request.method == "POST" and request.path == "/"
    return not is_call and not OTHERS_PAGES.match(request.path)


def _known(language: str | None) -> str:
    return language if language in dict(settings.LANGUAGES) else ""


def _chosen(request: HttpRequest) -> str:
    return _known(request.GET.get(PARAMETER)) or _known(request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME))


def _asked_for(request: HttpRequest) -> tuple[str, ...]:
    """Return all languages the browser names: a protocol may have one that our pages lack."""
    header = request.headers.get("Accept-Language", "")
    return tuple(code for code, _ in parse_accept_lang_header(header.lower()))


def _keeps_cookies(request: HttpRequest) -> bool:
    return request.method in {"GET", "HEAD"} and not FRAMED_PAGES.match(request.path)


def _remember(request: HttpRequest) -> HttpResponse:
    """Keep the choice, and show the same page without it in the address."""
    path = request.get_full_path().partition("?")[0]
    others = [(name, value) for name, values in request.GET.lists() if name != PARAMETER for value in values]
    response = HttpResponseRedirect(f"{path}?{urlencode(others)}" if others else path)
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        request.GET[PARAMETER],
        max_age=COOKIE_SECONDS,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "no-store"
    return response
