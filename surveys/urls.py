"""Addresses of the app: HITs for annotators, pages for researchers."""

from django.urls import URLPattern, URLResolver, path

from surveys.views import pictures, worker

urlpatterns: list[URLPattern | URLResolver] = [
    path("hits/<uuid:pk>/", worker.hit, name="hit"),
    path("hits/<uuid:pk>/draft", worker.draft, name="draft"),
    path("pictures/<slug:code>", pictures.picture, name="picture"),
]
