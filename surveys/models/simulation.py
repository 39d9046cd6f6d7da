"""Simulated people at work on a batch that is marked as theirs."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from surveys.models.batch import Batch

MOST_PEOPLE = 200
MOST_AT_ONCE = 60


class Simulation(models.Model):
    """How many simulated people work on a batch, and how far they are: `ended_at` once nothing is left for them.

    `turn` is counted up by whoever goes on with it, so that a task that is doubled or late does nothing.
    """

    batch = models.OneToOneField(Batch, primary_key=True, on_delete=models.CASCADE, related_name="simulation")
    n_people = models.PositiveSmallIntegerField(
        "simulated people", validators=[MinValueValidator(1), MaxValueValidator(MOST_PEOPLE)]
    )
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    asked_at = models.DateTimeField(auto_now_add=True)
    turn = models.PositiveIntegerField(default=0)
    leased_until = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(n_people__gte=1, n_people__lte=MOST_PEOPLE), name="simulation_has_people"
            ),
        ]
        indexes = [
            models.Index(fields=["ended_at"], condition=Q(ended_at__isnull=True), name="simulation_goes_on")
        ]

    def __str__(self) -> str:
        return f"{self.batch}: {self.n_people} simulated people"
