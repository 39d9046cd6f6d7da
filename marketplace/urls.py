"""Addresses of the marketplace: the requester API and the worker site."""

from django.urls import URLPattern, URLResolver

urlpatterns: list[URLPattern | URLResolver] = []
