"""Addresses of the app: HITs for annotators, pages for researchers."""

from django.urls import URLPattern, URLResolver

urlpatterns: list[URLPattern | URLResolver] = []
