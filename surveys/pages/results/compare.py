"""Batches and surveys beside each other on a page: the report that `evaluate_results --batch` makes, as it is kept."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from surveys.enqueue import wanted
from surveys.models import Batch, Survey
from surveys.pages.access import researcher
from surveys.pages.results.cells import Cell, ends, probability, tested_cell
from surveys.pages.results.results import Shown
from surveys.protocols.registry import DEFINITIONS
from surveys.results import kept
from surveys.results.printed import known, number
from surveys.results.statistics.across import Across, Contrast, Pairing, StudyNumbers
from surveys.results.statistics.inference import Effect
from surveys.results.statistics.numbers import CriterionSummary
from surveys.teams import Person, seen_by

MOST = 20  # batches in one report


class CompareForm(forms.Form):
    """Which of the reader's batches stand in the report; a survey stands for its published ones of people."""

    survey = forms.ModelMultipleChoiceField(
        Survey.objects.none(), label="Surveys", required=False, widget=forms.CheckboxSelectMultiple
    )
    batch = forms.ModelMultipleChoiceField(
        Batch.objects.none(), label="Batches", required=False, widget=forms.CheckboxSelectMultiple
    )

    def __init__(self, *args: Any, person: Person, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.published = _published(person)
        surveys = Survey.objects.filter(pk__in=self.published.values("survey"))
        self.fields["survey"].queryset = surveys.order_by("name")  # type: ignore[attr-defined]
        self.fields["batch"].queryset = self.published  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        data["batches"] = self._chosen(data)
        if not self.errors and not 2 <= len(data["batches"]) <= MOST:
            n = len(data["batches"])
            self.add_error(None, f"Choose two batches or more, at most {MOST}; these are {n}.")
        if len({batch.is_simulated for batch in data["batches"]}) > 1:
            self.add_error(None, "Simulated answers stand beside other simulated answers only.")
        return data

    def _chosen(self, data: dict[str, Any]) -> list[Batch]:
        surveys, batches = data.get("survey") or (), data.get("batch") or ()
        of_people = self.published.filter(is_simulated=False)
        of_surveys = of_people.filter(survey__in=[survey.pk for survey in surveys])
        return sorted({batch.pk: batch for batch in (*of_surveys, *batches)}.values(), key=lambda b: b.pk)


def _published(person: Person) -> QuerySet[Batch]:
    drafts = Batch.Status.DRAFT
    return seen_by(person, Batch.objects.exclude(status=drafts)).select_related("survey").order_by("name")


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table: what it is about, and its cells."""

    names: tuple[str, ...]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """`studies`: a row per data set, study, system and scale, kept and filtered. `pairings` say what is shared.

    `families`: (title, lines) of differences on the shared items.
    """

    studies: tuple[Line, ...]
    pairings: tuple[Line, ...]
    warnings: tuple[str, ...]
    families: tuple[tuple[str, tuple[Line, ...]], ...]
    is_several_sets: bool


@require_safe
@researcher("surveys.view_batch")
def compare(request: HttpRequest) -> HttpResponse:
    """Choose batches or surveys, and see them beside each other."""
    first = request.GET.getlist("beside")  # what is to be compared with something that is not chosen yet
    form = CompareForm(None if first else request.GET or None, initial={"batch": first}, person=request.user)
    shown = _shown(form.cleaned_data["batches"]) if form.is_valid() else None
    context = {
        **admin.site.each_context(request),
        "title": "Compare batches",
        "form": form,
        "report": shown,
        "found": shown and shown.value,
        "chosen": form.cleaned_data["batches"] if shown else (),
        "progress_url": _progress_url(form.cleaned_data["batches"]) if shown else "",
    }
    return render(request, "results/compare.html", context, status=422 if form.errors else 200)


@require_safe
@researcher("surveys.view_batch")
def compare_progress(request: HttpRequest) -> JsonResponse:
    """Answer with how far the report of these batches is; nothing is said of those the reader does not see."""
    form = CompareForm(request.GET, person=request.user)
    reports = kept.progress(kept.across_key(form.cleaned_data["batches"])) if form.is_valid() else []
    return JsonResponse({"reports": reports})


def _progress_url(batches: list[Batch]) -> str:
    return f"{reverse('compare_progress')}?{urlencode([('batch', batch.pk) for batch in batches])}"


def _shown(batches: list[Batch]) -> Shown[Comparison]:
    found = wanted(kept.across_key(batches), version=kept.across_version(batches))
    value = None if found.value is None else _arranged(found.value)
    return Shown(value, found.made_at, found.is_current, found.percent, found.error)


def _arranged(found: Across) -> Comparison:
    """Lay out what studies say beside each other as a page shows it."""
    families = (
        ("Kept rows", found.contrasts),
        ("Kept rows whose answer was right", found.filtered),
    )
    labels = dict(_labels(found.studies))
    return Comparison(
        studies=tuple(line for study in found.studies for line in _study_lines(study)),
        pairings=tuple(_pairing_line(pairing) for pairing in found.pairings),
        warnings=tuple(p.strangers.reason for p in found.strangers if p.strangers),
        families=tuple(
            (title, tuple(_contrast_line(line, labels) for line in lines))
            for title, lines in families
            if lines
        ),
        is_several_sets=len(found.datasets) > 1,
    )


def _labels(studies: Iterable[StudyNumbers]) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield (data set, key of a criterion) and its label."""
    for study in studies:
        for system in study.kept.systems:
            yield from (((study.dataset, criterion.key), criterion.label) for criterion in system.criteria)


def _study_lines(study: StudyNumbers) -> Iterator[Line]:
    for system in study.kept.systems:
        for criterion in system.criteria:
            if criterion.score is not None:
                names = (_set_name(study.dataset), study.name, system.system, criterion.label)
                others = study.filtered.system(system.system) if study.filtered else None
                filtered = others.criterion(criterion.key) if others else None
                yield Line(names, (_mean(criterion), _mean(filtered)))


def _set_name(key: str) -> str:
    return DEFINITIONS[key].name if key in DEFINITIONS else key


def _mean(criterion: CriterionSummary | None) -> Cell:
    if criterion is None or criterion.score is None:
        return Cell(number(None))
    score, interval = criterion.score, criterion.interval
    counts = f"{score.ratings} ratings on {score.items} items"
    if interval is None:
        return Cell(number(score.rating_mean), counts)
    return Cell(number(score.rating_mean), f"{ends(interval)}; {counts}")


def _pairing_line(pairing: Pairing) -> Line:
    cells = (pairing.shared, pairing.ours.items, pairing.theirs.items, pairing.workers)
    names = (_set_name(pairing.dataset), str(pairing.ours), str(pairing.theirs))
    return Line(names, tuple(Cell(str(n)) for n in cells))


def _unpaired_cell(effect: Effect) -> Cell:
    """Return the difference of two that share no items, as two samples; it is in no family and has no dagger."""
    if (interval := effect.interval()) is None or effect.p is None:
        return Cell(number(None), "not tested, 0 shared items")
    return Cell(
        f"{known(effect.value, interval)} ({ends(interval)})",
        f"as two samples, not corrected, {probability(effect.p)}",
    )


def _contrast_line(contrast: Contrast, labels: Mapping[tuple[str, str], str]) -> Line:
    pairing, difference = contrast.pairing, contrast.difference
    means = tuple(
        Cell(number(mean), f"{n} ratings") for mean, n in zip(contrast.means, contrast.ratings, strict=True)
    )
    tested = _unpaired_cell(difference.unpaired) if difference.unpaired else tested_cell(difference)
    criterion = labels[pairing.dataset, difference.criterion]
    return Line((str(pairing.ours), str(pairing.theirs), criterion), (*means, tested))
