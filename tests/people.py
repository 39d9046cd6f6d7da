"""Clients of people with a role, and nothing but that role."""

from django.contrib.auth.models import Group, User
from django.test import Client

from surveys.management.commands.create_roles import ROLES, give


def role_of(name: str) -> Group:
    """Return the group `name`, made as `create_roles` does where no test has needed it yet."""
    return Group.objects.filter(name=name).first() or give(name, ROLES[name])


def client_of(role: str = "") -> Client:
    """A staff member's client; without a role they have no permission at all."""
    user = User.objects.create_user(role.lower() or "nobody", is_staff=True)
    if role:
        user.groups.add(role_of(role))
    client = Client()
    client.force_login(user)
    return client
