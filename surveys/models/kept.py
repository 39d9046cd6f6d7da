"""Reports that took long to make, as they were made last."""

from django.conf import settings
from django.db import models
from django.db.models import Q


class KeptReport(models.Model):
    """One report, kept until its data change: what it says, of which `version` of the data, and who is to make it anew.

    asked -> begun by one worker -> made. What was made before stays until then, whatever becomes of the worker; one
    that was begun and not ended is free again after some minutes. `key` says what it is about, as "report:12".
    """

    key = models.CharField(max_length=1000, unique=True)
    content = models.TextField(blank=True, help_text="JSON.")
    version = models.CharField(max_length=64, blank=True, help_text="Of the data that the content tells.")
    made_at = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(default=0, help_text="How long it took.")
    asked_version = models.CharField(max_length=64, blank=True, help_text="Wanted; empty: nothing is.")
    asked_at = models.DateTimeField(null=True, blank=True)
    begun_at = models.DateTimeField(null=True, blank=True)
    percent = models.PositiveSmallIntegerField(default=0, help_text="Done of what was begun.")
    error = models.CharField(max_length=500, blank=True, help_text="Why the last try gave nothing.")

    class Meta:
        ordering = ["key"]
        constraints = [
            models.CheckConstraint(
                condition=Q(made_at=None, content="") | (Q(made_at__isnull=False) & ~Q(content="")),
                name="made_report_has_content",
            ),
            models.CheckConstraint(
                condition=Q(asked_version="", asked_at=None, begun_at=None)
                | (Q(asked_at__isnull=False) & ~Q(asked_version="")),
                name="only_what_is_asked_is_begun",
            ),
            models.CheckConstraint(condition=Q(percent__lte=100), name="report_percent_at_most_100"),
        ]

    def __str__(self) -> str:
        return self.key


class AwaitedReport(models.Model):
    """Somebody who looked for a report that was not there yet, and where: told, if it takes long, once it is."""

    report = models.ForeignKey(KeptReport, on_delete=models.CASCADE, related_name="awaited")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    url = models.CharField(max_length=500)
    text = models.CharField(max_length=500)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["report", "person"], name="one_wait_per_report_and_person")
        ]

    def __str__(self) -> str:
        return f"{self.person} waits for {self.report}"
