"""Where a study's events are told, and what became of each telling."""

import secrets

from django.conf import settings
from django.db import models
from django.db.models import Q

from surveys.models.study import Survey


def new_secret() -> str:
    return secrets.token_hex(32)


class Webhook(models.Model):
    """An address that is told of a study's events. `secret` signs each message, so it is kept as it is."""

    survey = models.ForeignKey(Survey, on_delete=models.CASCADE, related_name="webhooks")
    url = models.URLField(max_length=500)
    secret = models.CharField(max_length=64, default=new_secret, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, editable=False, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["survey", "url"], name="webhook_once_per_survey_and_url")
        ]

    def __str__(self) -> str:
        return self.url


class Delivery(models.Model):
    """One event for one webhook. waiting (`due_at`) -> arrived, or given up; `about` keeps it from being told twice."""

    class Event(models.TextChoices):
        DONE = "batch.done", "Batch done"
        WAITS = "work.waits", "Work waits"
        TEST = "test", "Test"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(max_length=16, choices=Event)
    about = models.CharField(max_length=100)
    body = models.TextField(help_text="JSON, as it is sent.")
    created_at = models.DateTimeField(auto_now_add=True)
    due_at = models.DateTimeField(
        null=True, blank=True, db_index=True, help_text="Empty: nothing is to be sent."
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    arrived_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=300, blank=True, help_text="Why the last try failed.")

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(fields=["webhook", "about"], name="delivery_once_per_webhook"),
            models.CheckConstraint(
                condition=Q(due_at=None) | Q(arrived_at=None), name="what_arrived_is_not_due"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} to {self.webhook}"
