"""One server, two sites: the app and the embedded marketplace, told apart by host name."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.request import split_domain_port


class UrlconfByHostMiddleware:
    """Answer with the marketplace's URLs on the marketplace's host, with the app's on every other."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        host, _ = split_domain_port(request.get_host())
        if host == settings.MARKETPLACE_HOST:
            request.urlconf = settings.MARKETPLACE_URLCONF
        return self.get_response(request)
