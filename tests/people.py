"""Clients of people with a role, and nothing but that role."""

import io

from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client


def client_of(role: str = "") -> Client:
    """A staff member's client; without a role they have no permission at all."""
    call_command("create_roles", stdout=io.StringIO())
    user = User.objects.create_user(role.lower() or "nobody", is_staff=True)
    if role:
        user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user)
    return client
