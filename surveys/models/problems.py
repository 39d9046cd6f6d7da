"""What people say is wrong with an item, told from the page they work on."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotators.models import Assignment
from surveys.models.study import Item


class ProblemReport(models.Model):
    """One report about one item. `settled_at`: a researcher has seen to it."""

    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="problem_reports")
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="problem_reports")
    text = models.CharField(max_length=1000)
    reported_at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True, blank=True)
    settled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["-reported_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "item", "text"], name="problem_reported_once"),
            models.CheckConstraint(condition=~Q(text=""), name="problem_says_something"),
            models.CheckConstraint(
                condition=Q(settled_by=None) | Q(settled_at__isnull=False), name="problem_settled_at_a_time"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item}: {self.text[:60]}"
