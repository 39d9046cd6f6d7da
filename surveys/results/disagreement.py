"""The outputs people disagree about, by how far apart their ratings on one scale are."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Avg, Count, F, FloatField, QuerySet, StdDev
from django.db.models.functions import Cast, NullIf, Sqrt

from surveys.models import Batch, Rating
from surveys.protocols.definition import Definition
from surveys.results.chosen import Chosen, of_outputs, responses


def scales_of(definition: Definition) -> dict[str, str]:
    """Return {key: label} of the scales outputs are rated on, the headline first."""
    rated = (one for one in definition.output_criteria if not one.is_checklist and not one.is_text)
    scales = {one.key: one.label for one in rated}
    return dict(sorted(scales.items(), key=lambda scale: scale[0] != definition.headline))


def by_disagreement(
    batches: Sequence[Batch], chosen: Chosen, *, criterion: str, of: str = ""
) -> QuerySet[Rating, Any]:
    """Return {`output`, `n`, `mean`, `spread`} of outputs with two ratings or more, the most disputed first.

    `of`: those of one system.

    The spread is the standard deviation of the ratings, n - 1 in the denominator. It is worked out from that of the
    whole: the other fails on SQLite where an output has one rating (Python's statistics.stdev), and is NULL elsewhere.
    """
    answered = responses(batches, chosen).filter(skip_reason="")
    rated = Rating.objects.filter(response__in=answered, criterion=criterion, output__isnull=False)
    if of:
        rated = rated.filter(output__system=of)
    n = Cast(Count("pk"), FloatField())
    counted = (
        rated.filter(of_outputs(chosen, "output__"))
        .order_by()
        .values("output")
        .annotate(n=Count("pk"), mean=Avg("score"), spread=StdDev("score") * Sqrt(n / NullIf(n - 1.0, 0.0)))
    )
    return counted.filter(n__gte=2, spread__isnull=False).order_by(F("spread").desc(), "mean", "output")
