"""What time it is."""

from django.db import models
from django.db.models import Q


class ClockOffset(models.Model):
    """How far the marketplace's clock runs ahead of real time. At most one row."""

    seconds = models.FloatField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(pk=1), name="marketplace_one_clock"),
        ]

    def __str__(self) -> str:
        return f"{self.seconds} s ahead"
