"""What colleagues may do in a study, and the links that bring new ones into its team."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from surveys.models.study import Survey


class Role(models.TextChoices):
    """What somebody may do in a study, most first; `surveys.teams` says what that is."""

    OWNER = "owner", "Owner"
    RESEARCHER = "researcher", "Researcher"
    ASSISTANT = "assistant", "Assistant"
    READER = "reader", "Read-only"


class TeamRole(models.Model):
    """The role of one person in one study. In a team without one, somebody may do what their account may anywhere."""

    survey = models.ForeignKey(Survey, on_delete=models.CASCADE, related_name="team_roles")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="study_roles")
    role = models.CharField(max_length=16, choices=Role)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["survey", "person"], name="one_role_per_study_and_person"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="team_role_is_a_role"),
        ]

    def __str__(self) -> str:
        return f"{self.person}: {self.get_role_display()} of {self.survey}"


class TeamInvitation(models.Model):
    """A link that brings one person into a study's team, once, until it expires or is taken back.

    Its token is nowhere stored: `token_hash` is its SHA-256, and 256 random bits need no salt.
    """

    survey = models.ForeignKey(Survey, on_delete=models.CASCADE, related_name="team_invitations")
    name = models.CharField(max_length=100, help_text="Whom it is for, as you call them.")
    role = models.CharField(max_length=16, choices=Role)
    token_hash = models.CharField(max_length=64, unique=True, editable=False)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    used_at = models.DateTimeField(null=True, editable=False)
    revoked_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["-made_at", "-pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="team_invitation_has_a_name"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="team_invitation_is_to_a_role"),
            models.CheckConstraint(
                condition=Q(used_at=None) | Q(revoked_at=None), name="team_invitation_used_or_revoked"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.get_role_display()} of {self.survey}"
