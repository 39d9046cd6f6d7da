"""The app's addresses. The marketplace's are in marketplace.urls, served on another host name."""

from typing import NoReturn

from django.contrib import admin
from django.http import Http404, HttpRequest
from django.urls import include, path
from django.views.generic import RedirectView

from surveys.pages.health import healthz, metrics, readyz
from surveys.pages.sign_in.passwords import sign_in


def not_found(request: HttpRequest, row: str) -> NoReturn:
    """In the place of the admin's redirect to any row's page, which asks for no right and knows no team."""
    raise Http404(row)


admin.autodiscover()
handler400 = "surveys.api.errors.bad_request"
handler500 = "surveys.api.errors.server_error"
urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index"), name="home"),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("admin/r/<path:row>", not_found),
    path("admin/login/", sign_in),
    path("admin/", admin.site.urls),
    path("api/v1/", include("surveys.api.urls")),
    path("", include("surveys.urls")),
]
