"""Where the money is."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q

from marketplace.models.accounts import Requester
from marketplace.models.work import HIT, Assignment


class EntryManager(models.Manager["Entry"]):
    def get_by_natural_key(self, reference: str) -> "Entry":
        return self.get(reference=reference)


class Entry(models.Model):
    """One double entry: `cents` leave the account `source` and reach the account `target`."""

    class Account(models.TextChoices):
        OUTSIDE = "outside", "Outside the marketplace"
        AVAILABLE = "available", "Available to the requester"
        HELD = "held", "Held for published work"
        WORKERS = "workers", "Paid to workers"
        FEES = "fees", "Fees"

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="entries")
    source = models.CharField(max_length=16, choices=Account)
    target = models.CharField(max_length=16, choices=Account)
    cents = models.PositiveBigIntegerField()
    hit = models.ForeignKey(HIT, null=True, blank=True, on_delete=models.PROTECT, related_name="entries")
    assignment = models.ForeignKey(
        Assignment, null=True, blank=True, on_delete=models.PROTECT, related_name="entries"
    )
    reference = models.CharField(
        max_length=64,
        null=True,
        blank=True,
        unique=True,
        help_text="The event behind a deposit, booked once.",
    )
    created_at = models.DateTimeField()

    objects: ClassVar[EntryManager] = EntryManager()

    class Meta:
        verbose_name_plural = "entries"
        constraints = [
            models.CheckConstraint(condition=Q(cents__gt=0), name="marketplace_entry_moves_money"),
            models.CheckConstraint(condition=~Q(source=F("target")), name="marketplace_entry_has_two_sides"),
        ]
        indexes = [models.Index(fields=["requester", "id"])]

    def __str__(self) -> str:
        return f"{self.source} -> {self.target}: {self.cents}"

    def natural_key(self) -> tuple[str | None]:
        return (self.reference,)


class Bonus(models.Model):
    """A payment beside the reward, for one assignment; `fee_cents` is what it cost on top."""

    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="bonuses")
    cents = models.PositiveBigIntegerField()
    fee_cents = models.PositiveBigIntegerField()
    reason = models.TextField(blank=True)
    paid_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "bonuses"
        constraints = [
            models.CheckConstraint(condition=Q(cents__gt=0), name="marketplace_bonus_pays"),
        ]
        indexes = [models.Index(fields=["assignment", "id"])]

    def __str__(self) -> str:
        return f"{self.assignment}: {self.cents}"


class Balance(models.Model):
    """What the entries of a requester add up to, kept so that a purchase needs no sum over all of them."""

    requester = models.OneToOneField(Requester, on_delete=models.CASCADE, primary_key=True)
    available_cents = models.BigIntegerField(default=0)
    held_cents = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(available_cents__gte=0, held_cents__gte=0),
                name="marketplace_balance_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.requester}: {self.available_cents} + {self.held_cents}"
