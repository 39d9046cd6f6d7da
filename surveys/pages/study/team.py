"""What the team's part of a study's settings shows, and its forms."""

from typing import Any

from django import forms
from django.contrib.auth.models import User

from surveys.models import Role, Survey
from surveys.studies import colleagues
from surveys.teams import may_join

LONGEST_DAYS = 90


class InviteForm(forms.Form):
    """Whom a link is for, as what, and how long it is good."""

    name = forms.CharField(
        label="Whom is it for?", max_length=100, help_text="For you and the audit trail, as “Ada from Delft”."
    )
    role = forms.ChoiceField(choices=Role.choices, initial=Role.ASSISTANT)
    days = forms.IntegerField(label="Good for days", min_value=1, max_value=LONGEST_DAYS, initial=7)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(
            *args, **kwargs | {"auto_id": "invited_%s"}
        )  # the settings have other names and roles


class RoleForm(forms.Form):
    """Another role of a member."""

    role = forms.ChoiceField(choices=Role.choices)


class AddForm(RoleForm):
    """Somebody with an account here, and their role."""

    person = forms.ModelChoiceField(User.objects.none(), label="Who has an account here")
    field_order = ["person", "role"]

    def __init__(self, *args: Any, survey: Survey, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs | {"auto_id": "added_%s"})
        field: Any = self.fields["person"]
        field.queryset = may_join().exclude(pk__in=survey.team.values("pk"))


def team_of(survey: Survey) -> dict[str, Any]:
    """Return what the team's part of the settings shows."""
    add_form = AddForm(survey=survey, initial={"role": Role.ASSISTANT})
    return {
        "members": colleagues.members(survey),
        "invitations": colleagues.open_invitations(survey),
        "roles": Role.choices,
        "invite_form": InviteForm(),
        "add_form": add_form if add_form.fields["person"].queryset.exists() else None,  # type: ignore[attr-defined]
    }
