"""Clients of people with a role, and nothing but that role."""

from django.contrib.auth.models import Group, User
from django.test import Client


def client_of(role: str = "") -> Client:
    """A staff member's client; without a role they have no permission at all."""
    user = User.objects.create_user(role.lower() or "nobody", is_staff=True)
    if role:
        user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user)
    return client
