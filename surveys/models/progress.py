"""Work that a person has asked for and need not wait for: what they agreed to, and the word that it is done."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from surveys.models.batch import Batch
from surveys.models.study import Survey


class Publishing(models.Model):
    """That a batch is to be published, and for how much: its HITs are drawn and written by the worker.

    `written_at` is set in the transaction that writes them; until then the batch is bound to cost `total` dollars.
    """

    batch = models.OneToOneField(Batch, primary_key=True, on_delete=models.CASCADE, related_name="publishing")
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    asked_at = models.DateTimeField(auto_now_add=True)
    n_hits = models.PositiveIntegerField()
    total = models.DecimalField(max_digits=14, decimal_places=2, help_text="US dollars, as confirmed.")
    written_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(total__gte=0), name="publishing_costs_no_less")]

    def __str__(self) -> str:
        return f"{self.batch}: {self.n_hits} HITs"


class Note(models.Model):
    """One sentence for somebody whose work has gone on without them. Shown until it is put away or its page opened.

    `about` names the work: of one piece of work a person is told once, however often its task is run.
    """

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notes")
    about = models.CharField(max_length=100)
    text = models.CharField(max_length=500)
    url = models.CharField(max_length=500)
    created_at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["person", "about"], name="told_once_of_each_work")]
        indexes = [
            models.Index(fields=["person"], condition=Q(seen_at__isnull=True), name="note_not_seen"),
        ]

    def __str__(self) -> str:
        return self.text


class Importing(models.Model):
    """An upload that somebody has confirmed and that is too large to wait for: the worker writes it, once.

    `ended_at` is set in the transaction that writes the items; with a `problem`, nothing was written.
    """

    folder = models.CharField(max_length=64, unique=True, help_text="Where the upload is staged.")
    filename = models.CharField(max_length=255)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)
    accepts_warnings = models.BooleanField(default=False)
    leased_until = models.DateTimeField(null=True, blank=True)
    percent = models.PositiveSmallIntegerField(default=0)
    survey = models.ForeignKey(Survey, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    n_items = models.PositiveIntegerField(default=0)
    problem = models.TextField(blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["ended_at"], condition=Q(ended_at__isnull=True), name="import_goes_on"),
        ]

    def __str__(self) -> str:
        return self.filename
