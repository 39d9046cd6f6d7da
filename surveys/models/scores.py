"""What automatic metrics say about outputs, beside what people say."""

from django.db import models

from surveys.models.study import Output


class MetricScore(models.Model):
    """One metric of one output. `value` is empty where the metric has no score for this text.

    `version` names the metric's version, profile and thesaurus; `fingerprint` is of the texts that were compared.
    While both are what they would be today, nothing is scored again.
    """

    output = models.ForeignKey(Output, on_delete=models.CASCADE, related_name="metric_scores")
    metric = models.CharField(max_length=64)
    value = models.FloatField(null=True)
    version = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64)
    scored_at = models.DateTimeField()

    class Meta:
        ordering = ["output_id", "metric"]
        constraints = [models.UniqueConstraint(fields=["output", "metric"], name="metric_once_per_output")]

    def __str__(self) -> str:
        return f"{self.metric} of {self.output}"
