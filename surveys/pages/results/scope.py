"""What a page of results is about: one batch, or several of a study together; and where its pages are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.urls import reverse

from surveys.models import Batch, Survey
from surveys.pages.access import batch_for, study_for
from surveys.protocols.definition import Definition

MOST = 20  # batches in one report
OF_STUDY = {
    "batch_results": "study_results_of",
    "batch_results_progress": "study_results_progress",
    "batch_responses": "study_responses",
    "batch_texts": "study_texts",
    "disputed": "study_disputed",
    "result_figure": "study_result_figure",
    "result_table": "study_result_table",
}


@dataclass(frozen=True, slots=True)
class Scope:
    """Batches whose answers stand in one report. `batch` is the only one on a page of a batch, else None.

    `others` are batches of the study, or of the choice, that asked something else: they are told and never mixed in.
    `n_older` is how many more there are than fit.
    """

    survey: Survey
    batches: tuple[Batch, ...]
    batch: Batch | None = None
    others: tuple[Batch, ...] = ()
    n_older: int = 0

    def url(self, name: str, *more: Any) -> str:
        """Return where a page of results is, by the name a batch's has."""
        if self.batch:
            return reverse(name, args=[self.batch.pk, *more])
        return reverse(OF_STUDY[name], args=[self.survey.slug, self.pks, *more])

    @property
    def pks(self) -> str:
        return ",".join(str(batch.pk) for batch in self.batches)

    @property
    def name(self) -> str:
        return self.batch.name if self.batch else self.survey.name

    @property
    def definition(self) -> Definition:
        return self.batches[0].definition

    @property
    def results_url(self) -> str:
        return self.url("batch_results")

    @property
    def disputed_url(self) -> str:
        return self.url("disputed")

    @property
    def texts_url(self) -> str:
        """Return where texts are read that people wrote; "" where nothing asks for any."""
        return self.url("batch_texts") if self.texts_asked else ""

    @property
    def texts_asked(self) -> dict[str, str]:
        """Return {key: label} of the questions that are answered in one's own words."""
        return {criterion.key: criterion.label for criterion in self.definition.criteria if criterion.is_text}

    @property
    def answers_url(self) -> str:
        return self.url("batch_responses")

    @property
    def review_url(self) -> str:
        """Return where the work behind these numbers is listed; "" where no list has that of just these batches."""
        if len(self.batches) == 1:
            return reverse("assignments", args=[self.batches[0].pk])
        is_whole = published(self.survey).count() == len(self.batches)
        return reverse("study_review", args=[self.survey.slug]) if is_whole else ""


def of_batch(request: HttpRequest, pk: int) -> Scope:
    batch = batch_for(request, pk)
    return Scope(batch.survey, (batch,), batch)


def of_study(request: HttpRequest, slug: str, pks: str = "") -> Scope | None:
    """Return a study's published batches that asked what its newest one asked, or those of a choice.

    Simulated ones count where there are no others, or where they are chosen.

    None where none is published. Raises Http404 for a batch that is none of the study's.
    """
    survey = study_for(request, slug)
    found = _chosen(survey, pks)
    if not found:
        return None
    alike = [batch for batch in found if _kind(batch) == _kind(found[0])]
    others = tuple(batch for batch in found if batch not in alike)
    return Scope(survey, tuple(alike[:MOST]), others=others, n_older=len(alike[MOST:]))


def published(survey: Survey) -> QuerySet[Batch]:
    """Return the batches of a study that are no drafts, newest first."""
    return (
        survey.batches.exclude(status=Batch.Status.DRAFT).select_related("survey__protocol").order_by("-pk")
    )


def asked_by(definition: Definition) -> tuple[object, ...]:
    """Return what two batches have to share for their numbers to be of one kind."""
    return (
        definition.key,
        definition.version,
        definition.criteria,
        definition.answer,
        definition.preference,
        definition.reference_system,
        definition.outputs_per_item,
        definition.headline,
        definition.good_from,
    )


def _kind(batch: Batch) -> tuple[object, ...]:
    """Simulated answers stand in no report with people's."""
    return (batch.is_simulated, *asked_by(batch.definition))


def _chosen(survey: Survey, pks: str) -> Sequence[Batch]:
    if not pks:
        found = list(published(survey))
        return [batch for batch in found if not batch.is_simulated] or found
    wanted = {int(pk) for pk in pks.split(",") if pk.isascii() and pk.isdecimal() and len(pk) < 19}
    found = list(published(survey).filter(pk__in=wanted))
    if len(found) != len(pks.split(",")):
        raise Http404("A batch of this choice is none of the study's.")
    return found
