"""Create the groups a lab needs, with no more rights than their work takes."""

from typing import Any

from django.contrib.auth.models import Group, Permission
from django.core.management.base import BaseCommand
from django.db import transaction
from django.db.models import Q

SEE = (
    "surveys.view_survey",
    "surveys.view_item",
    "surveys.view_output",
    "surveys.view_picture",
    "surveys.view_batch",
    "surveys.view_questionnaire",
    "surveys.view_questionnaireitem",
    "surveys.view_decision",
    "surveys.view_taskaccuracy",
    "annotators.view_worker",
    "annotators.view_hit",
    "annotators.view_hittype",
    "annotators.view_assignment",
)
REVIEW = ("annotators.change_assignment",)
LAUNCH = (
    "surveys.add_survey",
    "surveys.change_survey",
    "surveys.delete_survey",
    "surveys.add_item",
    "surveys.delete_item",
    "surveys.add_taskaccuracy",
    "surveys.add_batch",
    "surveys.change_batch",
    "surveys.delete_batch",
    "surveys.publish_batch",
    "surveys.export_raw",
    "surveys.view_invitation",
    "surveys.add_invitation",
    "surveys.change_invitation",
    "surveys.view_panel",
    "surveys.change_panel",
    "surveys.view_panelvisit",
    "surveys.view_auditentry",
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
    "Assistant": SEE + REVIEW,
    "Researcher": SEE + REVIEW + LAUNCH + RUN_REQUESTER,
}


class Command(BaseCommand):
    help = "Create the groups Researcher and Assistant, or set their permissions back to what is meant."

    def handle(self, *args: Any, **options: Any) -> None:
        for name, names in ROLES.items():
            give(name, names)
            self.stdout.write(f"{name}: {len(names)} permissions.")


@transaction.atomic
def give(role: str, names: tuple[str, ...]) -> Group:
    """Return the group `role` with exactly the permissions `names`, each as "app.codename"."""
    group, _ = Group.objects.get_or_create(name=role)
    wanted = Q(pk=None)
    for name in names:
        app, codename = name.split(".")
        wanted |= Q(content_type__app_label=app, codename=codename)
    found = list(Permission.objects.filter(wanted))
    if len(found) != len(names):
        raise Permission.DoesNotExist(f"Not all permissions of {role} exist; run migrate first.")
    group.permissions.set(found)
    return group
