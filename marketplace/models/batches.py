"""HITs made together from one HTML template and the rows of a CSV, as on MTurk's own requester site."""

from django.db import models
from django.db.models import Q

from marketplace.models.accounts import Requester
from marketplace.models.work import HIT, HITType


class TemplateBatch(models.Model):
    """A template, its columns and its terms. A draft until `published_at`; from then on each row has its HIT."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="template_batches")
    template = models.TextField()
    columns = models.JSONField(help_text="The names in the CSV's header, in its order.")
    values_are_html = models.BooleanField(default=False)
    frame_height = models.PositiveIntegerField(default=0)
    title = models.CharField(max_length=128)
    description = models.CharField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    reward_cents = models.PositiveBigIntegerField()
    duration_seconds = models.PositiveBigIntegerField()
    auto_approval_seconds = models.PositiveBigIntegerField()
    lifetime_seconds = models.PositiveBigIntegerField()
    max_assignments = models.PositiveIntegerField()
    hit_type = models.ForeignKey(
        HITType, null=True, on_delete=models.PROTECT, related_name="template_batches", editable=False
    )
    created_at = models.DateTimeField()
    published_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "template batches"
        constraints = [
            models.CheckConstraint(
                condition=Q(published_at=None, hit_type=None)
                | Q(published_at__isnull=False, hit_type__isnull=False),
                name="marketplace_published_batch_has_type",
            ),
            models.CheckConstraint(condition=Q(max_assignments__gte=1), name="marketplace_batch_assigns"),
        ]

    def __str__(self) -> str:
        return self.title


class BatchRow(models.Model):
    """One row of the CSV: `values` in the order of the batch's columns; `number` counts from 1."""

    batch = models.ForeignKey(TemplateBatch, on_delete=models.CASCADE, related_name="rows")
    number = models.PositiveIntegerField()
    values = models.JSONField()
    hit = models.OneToOneField(HIT, null=True, on_delete=models.PROTECT, related_name="batch_row")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["batch", "number"], name="marketplace_batch_row_once"),
        ]

    def __str__(self) -> str:
        return f"Row {self.number}"
