"""Addresses of the app: HITs for annotators, pages for researchers."""

from django.urls import URLPattern, URLResolver, path

from surveys.views import imports, pictures, worker

urlpatterns: list[URLPattern | URLResolver] = [
    path("hits/<uuid:pk>/", worker.hit, name="hit"),
    path("hits/<uuid:pk>/draft", worker.draft, name="draft"),
    path("import/", imports.import_items, name="import_items"),
    path("import/pictures", imports.import_pictures, name="import_pictures"),
    path("import/<str:token>/", imports.import_preview, name="import_preview"),
    path("pictures/<slug:code>", pictures.picture, name="picture"),
]
