"""The app's addresses. The marketplace's are in marketplace.urls, served on another host name."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from surveys.views.health import healthz

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index"), name="home"),
    path("healthz", healthz, name="healthz"),
    path("admin/", admin.site.urls),
    path("", include("surveys.urls")),
]
