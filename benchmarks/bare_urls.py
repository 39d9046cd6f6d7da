"""The app's addresses, and `/bare` and `/bare.json`: no query, no form, no picture, through the same middleware.

`/insert` writes one row more.
"""

import uuid

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import engines
from django.urls import include, path

from annotators.models import Worker

BARE = engines["django"].from_string(
    "<!doctype html><html lang='en'><title>{{ title }}</title><h1>{{ title }}</h1><p>Nothing else.</p></html>"
)


def bare(request: HttpRequest) -> HttpResponse:
    return HttpResponse(BARE.render({"title": "A bare page"}))


def bare_json(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"NumResults": 0, "Assignments": []})


def insert(request: HttpRequest) -> HttpResponse:
    Worker.objects.create(worker_id=f"A{uuid.uuid4().hex}", source="embedded")
    return bare(request)


urlpatterns = [
    path("bare", bare),
    path("bare.json", bare_json),
    path("insert", insert),
    path("", include("config.urls")),
]
