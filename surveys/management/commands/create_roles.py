"""Create the groups a lab needs, with no more rights than their work takes."""

from typing import Any

from django.contrib.auth.models import Group, Permission
from django.core.management.base import BaseCommand
from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Concat

from surveys.teams import LAUNCHES, OWNS, READS, REVIEWS

SEE = (*sorted(READS), "annotators.view_worker")
REVIEW = (*sorted(REVIEWS),)
LAUNCH = (
    *sorted(LAUNCHES | OWNS),
    "surveys.add_survey",
    "annotators.change_worker",
    "annotators.view_call",
    "annotators.view_hold",
    "annotators.change_hold",
)
# On the marketplace these reach only the requester accounts somebody is named in.
RUN_REQUESTER = (
    "marketplace.view_requester",
    "marketplace.view_accesskey",
    "marketplace.add_accesskey",
    "marketplace.change_accesskey",
    "marketplace.view_templatebatch",
    "marketplace.add_templatebatch",
    "marketplace.view_hittype",
    "marketplace.view_hit",
    "marketplace.view_assignment",
    "marketplace.view_entry",
    "marketplace.view_bonus",
    "marketplace.view_qualificationtype",
    "marketplace.view_block",
    "marketplace.view_worker",
)
ROLES = {
    "Read-only": SEE,
    "Assistant": SEE + REVIEW,
    "Researcher": SEE + REVIEW + LAUNCH + RUN_REQUESTER,
}


class Command(BaseCommand):
    help = "Create the groups Researcher, Assistant and Read-only, or set their permissions back to what is meant."

    def handle(self, *args: Any, **options: Any) -> None:
        for name, names in ROLES.items():
            give(name, names)
            self.stdout.write(f"{name}: {len(names)} permissions.")


@transaction.atomic
def give(role: str, names: tuple[str, ...]) -> Group:
    """Return the group `role` with exactly the permissions `names`, each as "app.codename"."""
    group, _ = Group.objects.get_or_create(name=role)
    full = Concat("content_type__app_label", Value("."), "codename")
    found = Permission.objects.alias(full=full).filter(full__in=names).order_by().values_list("pk", flat=True)
    if len(found) != len(names):
        raise Permission.DoesNotExist(f"Not all permissions of {role} exist; run migrate first.")
    group.permissions.set(found)
    return group
