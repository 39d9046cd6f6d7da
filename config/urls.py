"""The app's addresses. The marketplace's are in marketplace.urls, served on another host name."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from surveys.views.health import healthz, metrics, readyz

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index"), name="home"),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("admin/", admin.site.urls),
    path("", include("surveys.urls")),
]
