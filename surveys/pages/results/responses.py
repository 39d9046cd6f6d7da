"""The answers behind a number of a results page, and the outputs people disagree about most."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotators.models import Worker
from annotators.people.pseudonyms import called
from surveys.models import Batch, Output, Rating, Response
from surveys.pages.access import researcher
from surveys.pages.people.labels import labels_of
from surveys.pages.results.chosen_form import ChosenForm
from surveys.pages.results.scope import Scope, of_batch, of_study
from surveys.pages.results.tables import ROWS
from surveys.pages.review.answers import AnsweredItem, answered_item
from surveys.protocols.definition import Definition
from surveys.protocols.preferences import OTHER
from surveys.protocols.spans import part_of
from surveys.results.chosen import STRATA, Chosen, responses, was_shown
from surveys.results.disagreement import by_disagreement, scales_of
from surveys.results.frames.base import NO_PREFERENCE, PREFERRED, SELECTED, rating_keys
from surveys.results.frames.pseudonyms import Pseudonyms
from surveys.results.printed import number
from surveys.results.statistics.criteria import GOOD, UNTICKED

ANSWERS_PER_PAGE = 4  # each as tall as its outputs; so the page stays within a few screens
PER_PAGE = 25
SEES_WORK = "annotators.view_assignment"  # also who sees what is right


class BehindForm(forms.Form):
    """Which ratings a number counts: of one system (`of`), on one criterion, of one value, or that were preferred.

    `against` is a system that `of` was compared with; `severity` and `category` are a mark's.
    """

    of = forms.CharField(max_length=64, required=False)
    criterion = forms.CharField(max_length=64, required=False)
    value = forms.CharField(max_length=200, required=False)
    against = forms.CharField(max_length=64, required=False)
    severity = forms.CharField(max_length=200, required=False)
    category = forms.CharField(max_length=200, required=False)
    preferred = forms.CharField(max_length=64, required=False)
    item = forms.CharField(max_length=255, required=False)
    answer = forms.ChoiceField(choices=[("right", "right"), ("wrong", "wrong")], required=False)
    decided = forms.ChoiceField(choices=[("right", "right")], required=False)
    skipped = forms.CharField(max_length=200, required=False)
    worker = forms.CharField(max_length=12, required=False)


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer as a reader sees it: by whom, under a pseudonym and what they call them, and its work."""

    response: Response
    worker: str
    label: str
    item: AnsweredItem


@never_cache
@require_safe
@researcher("surveys.view_batch")
def batch_responses(request: HttpRequest, pk: int) -> HttpResponse:
    """List the answers that a number counts, with everything that was shown and said."""
    return _responses(request, of_batch(request, pk))


@never_cache
@require_safe
@researcher("surveys.view_batch")
def study_responses(request: HttpRequest, slug: str, batches: str) -> HttpResponse:
    """List the answers that a number of several batches together counts."""
    scope = of_study(request, slug, batches)
    return _responses(request, scope) if scope else redirect("study", slug)


def _responses(request: HttpRequest, scope: Scope) -> HttpResponse:
    form, behind = ChosenForm(request.GET, batches=scope.batches), BehindForm(request.GET)
    behind.full_clean()
    found = answers_behind(scope.batches, form.chosen, behind.cleaned_data)
    related = ("item__pictures", "item__outputs", "ratings")
    in_order = found.select_related("item", "worker", "assignment", "batch").prefetch_related(*related)
    page = Paginator(in_order.order_by("item__position", "pk"), ANSWERS_PER_PAGE).get_page(
        request.GET.get("page")
    )
    name, definition = Pseudonyms(), scope.definition
    labels = labels_of([one.worker_id for one in page], batch=scope.batches[0], reader=request.user)
    context = {
        "page": page,
        "query": query_of(request),
        "answers": [
            Answered(
                one,
                name(one.worker.worker_id),
                labels.get(one.worker_id, ""),
                answered_item(one, definition=definition),
            )
            for one in page
        ],
        "about": _in_words(form.chosen, behind.cleaned_data, definition),
        "shows_key": request.user.has_perm(SEES_WORK),
    }
    return render_list(request, "results/responses.html", scope, "Answers", context)


def answers_behind(batches: Sequence[Batch], chosen: Chosen, wanted: dict[str, Any]) -> QuerySet[Response]:
    """Return the answers of a choice that have a wanted rating, answer or reason to skip."""
    found, definition = responses(batches, chosen), batches[0].definition
    if wanted.get("item"):
        found = found.filter(item__subject=wanted["item"])
    if wanted.get("worker"):
        known = Worker.objects.filter(assignments__hit__questionnaire__batch__in=batches)
        found = found.filter(worker__in=called(wanted["worker"], among=known))
    if wanted.get("answer"):
        found = found.exclude(item__gold="").filter(is_correct=wanted["answer"] == "right")
    if wanted.get("skipped"):
        found = found.exclude(skip_reason="")
        found = found if wanted["skipped"] == "any" else found.filter(skip_reason=wanted["skipped"])
    if wanted.get("of"):
        output = _output(chosen, of=wanted["of"], batch=batches[0])
        is_right = Q(answer=F("item__gold")) & ~Q(answer="")
        found = found.filter(Exists(output.filter(is_right) if wanted.get("decided") else output))
    if wanted.get("preferred"):
        found = found.filter(_preferred(wanted["preferred"], definition))
    return found.filter(_rated(wanted, definition)) if wanted.get("criterion") else found


def _output(chosen: Chosen, *, of: str, batch: Batch) -> QuerySet[Output]:
    shown = Output.objects.filter(was_shown(batch), item=OuterRef("item"), system=of)
    return shown.filter(model_correct=STRATA[chosen.stratum]) if chosen.stratum else shown


def _preferred(system: str, definition: Definition) -> Q:
    preference = definition.preference.key if definition.preference else ""
    found = Rating.objects.filter(response=OuterRef("pk"), criterion=preference)
    if system == NO_PREFERENCE:
        return Q(Exists(found.filter(value=NO_PREFERENCE)))
    return Q(Exists(found.filter(value=PREFERRED, output__system=system)))


def _rated(wanted: dict[str, Any], definition: Definition) -> Q:
    """Tell whether an answer has the rating."""
    of_answer = Rating.objects.filter(response=OuterRef("pk"))
    found = of_answer.filter(criterion=wanted["criterion"])
    if wanted.get("against"):
        return _compared(found, wanted.get("of", ""), wanted["against"])
    if wanted.get("of"):
        of_answer, found = (ratings.filter(output__system=wanted["of"]) for ratings in (of_answer, found))
    if wanted.get("severity"):
        found = found.filter(value__contains=part_of(wanted["severity"], wanted.get("category", "")))
    if wanted.get("value") == UNTICKED and (options := _options(wanted["criterion"], definition)):
        return _unticked(of_answer.filter(criterion__in=options), options)
    if wanted.get("value") == GOOD and definition.good_from is not None:
        found = found.filter(score__gte=definition.good_from)
    elif wanted.get("value"):
        found = found.filter(value=wanted["value"])
    return Q(Exists(found))


def _compared(ratings: QuerySet[Rating], system: str, against: str) -> Q:
    """Tell whether an answer puts one system before another or beside it; of two others nothing is said."""
    ours, theirs = (ratings.filter(output__system=name) for name in (system, against))
    told = Exists(ours.exclude(value=OTHER)) | Exists(theirs.exclude(value=OTHER))
    return Q(Exists(ours), Exists(theirs)) & Q(told)


def _options(key: str, definition: Definition) -> dict[str, bool]:
    """Return under what a checklist's options are stored, and which of them say that something holds."""
    asked = next((one for one in definition.criteria if one.key == key and one.is_checklist), None)
    return {f"{key}.{value}": value != asked.exclusive for value in asked.values} if asked else {}


def _unticked(ratings: QuerySet[Rating], options: dict[str, bool]) -> Q:
    telling = [key for key, tells in options.items() if tells]
    return Q(Exists(ratings), ~Exists(ratings.filter(criterion__in=telling, value=SELECTED)))


def _in_words(chosen: Chosen, wanted: dict[str, Any], definition: Definition) -> list[str]:
    """Return what stands above the list: which answers these are, part by part."""
    labels = _labels(definition)
    value = wanted.get("value", "")
    said = labels.get((wanted.get("criterion", ""), value), value)
    parts = [
        ROWS[chosen.rows],
        wanted.get("of") or ", ".join(chosen.systems),
        f"against {wanted['against']}" if wanted.get("against") else "",
        labels.get((wanted.get("criterion", ""), ""), wanted.get("criterion", "")),
        said,
        *_mark_in_words(wanted, definition),
        f"preferred: {wanted['preferred'].replace('_', ' ')}" if wanted.get("preferred") else "",
        f"item {wanted['item']}" if wanted.get("item") else "",
        f"answer {wanted['answer']}" if wanted.get("answer") else "",
        "skipped" if wanted.get("skipped") else "",
        f"by {wanted['worker']}" if wanted.get("worker") else "",
    ]
    return [part for part in parts if part]


def _mark_in_words(wanted: dict[str, Any], definition: Definition) -> Iterator[str]:
    asked = next((one for one in definition.criteria if one.key == wanted.get("criterion")), None)
    if asked and asked.spans:
        labels = {choice.value: choice.label for choice in (*asked.spans.categories, *asked.spans.severities)}
        said = (wanted.get(name, "") for name in ("category", "severity"))
        yield from (labels.get(value, value) for value in said)


def _labels(definition: Definition) -> dict[tuple[str, str], str]:
    """Return {(stored criterion, value or ""): what pages call it}."""
    labels: dict[tuple[str, str], str] = {}
    for criterion in definition.criteria:
        names = {choice.value: choice.label for choice in criterion.choices}
        if criterion.is_checklist:
            labels |= {(criterion.key, ""): criterion.label, (criterion.key, UNTICKED): "Nothing ticked"}
        for key in rating_keys(criterion):
            option = names.get(key.removeprefix(f"{criterion.key}."), "") if criterion.is_checklist else ""
            labels[key, ""] = f"{criterion.label}: {option}" if option else criterion.label
        labels |= {(criterion.key, value): label for value, label in names.items()}
    return labels


@never_cache
@require_safe
@researcher("surveys.view_batch")
def disputed(request: HttpRequest, pk: int) -> HttpResponse:
    """List outputs by how far apart their ratings on one scale are, the most disputed first."""
    return _disputed(request, of_batch(request, pk))


@never_cache
@require_safe
@researcher("surveys.view_batch")
def study_disputed(request: HttpRequest, slug: str, batches: str) -> HttpResponse:
    """List the outputs of several batches together by how far apart their ratings are."""
    scope = of_study(request, slug, batches)
    return _disputed(request, scope) if scope else redirect("study", slug)


def _disputed(request: HttpRequest, scope: Scope) -> HttpResponse:
    form, scales = ChosenForm(request.GET, batches=scope.batches), scales_of(scope.definition)
    criterion = request.GET.get("criterion", "")
    criterion = criterion if criterion in scales else next(iter(scales), "")
    of = request.GET.get("of", "").replace("\0", "")
    found = by_disagreement(scope.batches, form.chosen, criterion=criterion, of=of)
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    outputs = Output.objects.select_related("item").prefetch_related("item__pictures")
    shown = outputs.in_bulk([row["output"] for row in page])
    context = {
        "page": page,
        "query": query_of(request),
        "choice": form.chosen.as_query(),
        "rows": [
            {**row, "output": shown[row["output"]], "mean": number(row["mean"], places=2),
             "spread": number(row["spread"], places=2)}
            for row in page
        ],
        "of": of,
        "scales": scales,
        "criterion": criterion,
    }  # fmt: skip
    return render_list(request, "results/disputed.html", scope, "Outputs by disagreement", context)


def query_of(request: HttpRequest) -> str:
    """Return what was asked for as the start of another page's query."""
    kept = request.GET.copy()
    kept.pop("page", None)
    return f"{kept.urlencode()}&" if kept else ""


def render_list(
    request: HttpRequest, template: str, scope: Scope, title: str, context: dict[str, Any]
) -> HttpResponse:
    """Answer with a page that lists what stands behind results."""
    about = {"batch": scope.batch} if scope.batch else {"survey": scope.survey}
    common = {
        **admin.site.each_context(request),
        "title": f"{title} of {scope.name}",
        "scope": scope,
        **about,
    }
    return render(request, template, {**common, **context})
