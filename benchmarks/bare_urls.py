"""The app's addresses and `/bare`: a page without a query, a form or a picture, through the same middleware."""

from django.http import HttpRequest, HttpResponse
from django.template import engines
from django.urls import include, path

BARE = engines["django"].from_string(
    "<!doctype html><html lang='en'><title>{{ title }}</title><h1>{{ title }}</h1><p>Nothing else.</p></html>"
)


def bare(request: HttpRequest) -> HttpResponse:
    return HttpResponse(BARE.render({"title": "A bare page"}))


urlpatterns = [path("bare", bare), path("", include("config.urls"))]
