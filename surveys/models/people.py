"""What researchers call somebody in their study."""

from django.db import models
from django.db.models import Q

from annotators.models import Worker
from surveys.models.study import Survey


class PersonLabel(models.Model):
    """A name of the researchers' own for one person in one study, for its team alone; in no file and no result.

    It can say who somebody is: a purge of the person deletes it, and their own data tell it to them.
    """

    survey = models.ForeignKey(Survey, on_delete=models.CASCADE, related_name="labels")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="labels")
    text = models.CharField(max_length=100)

    class Meta:
        ordering = ["survey_id", "text"]
        constraints = [
            models.UniqueConstraint(fields=["survey", "worker"], name="one_label_per_survey_and_worker"),
            models.CheckConstraint(condition=~Q(text=""), name="label_says_something"),
        ]

    def __str__(self) -> str:
        return self.text
