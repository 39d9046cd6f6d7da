"""Researchers at the back office."""

from django.contrib.auth.models import User
from django.test import Client

from tests.people import role_of


def researcher_of(requester, *, role="Researcher"):
    """Return the client of a staff member who runs the requester account, in a role or, with "", in none."""
    user = User.objects.create_user(role.lower() or "nobody", is_staff=True)
    if role:
        user.groups.add(role_of(role))
    requester.researchers.add(user)
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(user)
    return client
