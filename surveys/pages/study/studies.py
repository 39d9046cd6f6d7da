"""A study as a place: its batches, its items with what the systems said about them, and its design."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, Q, QuerySet
from django.db.models.functions import Coalesce, Greatest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from surveys.models import Batch, Item, Output, Survey
from surveys.pages.access import researcher, study_for
from surveys.pages.study.builder.preview import preview_of_item
from surveys.pages.study.header import Step, first_step, next_step
from surveys.pages.study.problems import open_reports
from surveys.protocols.blocks import headed
from surveys.publishing.budget import Money, money_of, together
from surveys.publishing.design import methods_in_words
from surveys.review.progress import CountedBatch, with_counts
from surveys.studies.planted_checks import COLUMN
from surveys.teams import Person, given_roles, in_words, seen_by, within

BATCHES_DRAWN = 5  # a method has a paragraph
STUDIES_PER_PAGE = 8
NO_PAGE_OF_THEIR_OWN = 2  # so few more studies stand on the page before
BATCHES_PER_PAGE = 10
SHOWN = 3  # batches of a study in the list of studies
ITEMS_PER_PAGE = 6  # each as tall as its outputs; so the page stays within a few screens


@dataclass(frozen=True, slots=True)
class Listed:
    """A study as a list shows it, its batches newest first; `step` is that of the newest that has one to take.

    `money` is that of all its published batches, None before there is one.
    """

    survey: Survey
    n_items: int
    batches: tuple[CountedBatch, ...]
    step: Step
    money: Money | None

    @property
    def newest(self) -> CountedBatch | None:
        return self.batches[0] if self.batches else None

    @property
    def to_look_at(self) -> list[CountedBatch]:
        """The newest batches with work to decide, or at a stand."""
        return [batch for batch in self.batches if batch.n_undecided or batch.error][:SHOWN]

    @property
    def n_kept(self) -> int:
        return sum(batch.n_kept for batch in self.batches)

    @property
    def n_wanted(self) -> int:
        return sum(batch.n_wanted for batch in self.batches)


@require_safe
@researcher("surveys.view_batch")
def study(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a study: its batches with how far they are, and what comes next."""
    survey = study_for(request, slug)
    batches = list(with_counts(survey.batches.select_related("survey").order_by("-pk")))
    money = _money(batches)
    page: Page[Any] = Paginator(batches, BATCHES_PER_PAGE).get_page(request.GET.get("page", "1"))
    context = {
        **_context(request, survey),
        "page": page,
        "batches": [(batch, next_step(request.user, batch), money.get(batch.pk)) for batch in page],
        "money": together(money.values()) if money else None,
        "n_items": survey.items.count(),
        "n_systems": survey.items.aggregate(n=Count("outputs__system", distinct=True))["n"],
        "seen_by": in_words(survey),
    }
    return render(request, "study/study.html", context)


@require_safe
@researcher("surveys.view_batch", "surveys.view_item")
def items(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a study's items, found by their ids, texts and answers, with what each system said."""
    survey = study_for(request, slug)
    words = request.GET.get("q", "").replace("\0", "").strip()
    found = _found(survey.items.prefetch_related("pictures", "outputs"), words)
    page: Page[Item] = Paginator(found, ITEMS_PER_PAGE).get_page(request.GET.get("page", "1"))
    shown = [(item, _texts(item, survey), _choice_labels(item, survey)) for item in page]
    context = {**_context(request, survey), "page": page, "items": shown, "q": words}
    context["problems"] = open_reports(survey, reader=request.user)
    return render(request, "study/items.html", context)


@require_safe
@researcher("surveys.view_batch", "surveys.view_item")
def item_page(request: HttpRequest, slug: str, item_pk: int) -> HttpResponse:
    """Show an item on the page that its annotators see, from which nothing can be sent."""
    found = study_for(request, slug).items.select_related("survey").prefetch_related("pictures", "outputs")
    return preview_of_item(get_object_or_404(found, pk=item_pk))


@require_safe
@researcher("surveys.view_batch", "surveys.view_item")
def design(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what a study asks of whom about what: its questions and scales, its systems, how its HITs were drawn."""
    survey = study_for(request, slug)
    outputs = Output.objects.filter(item__survey=survey).order_by("system")
    batches = survey.batches.exclude(status=Batch.Status.DRAFT).order_by("-pk")
    page = Paginator(batches, BATCHES_DRAWN).get_page(request.GET.get("page"))
    context = {
        **_context(request, survey),
        "definition": survey.definition,
        "systems": outputs.values_list("system").annotate(Count("pk")),
        "n_items": survey.items.count(),
        "n_checks": survey.items.filter(payload__has_key=COLUMN).count(),
        "drawn": [(one, methods_in_words(one.design, changes=one.definition.changes)) for one in page],
        "page": page,
    }
    return render(request, "study/design.html", context)


def listed(person: Person, *, number: str = "1") -> "Page[Any]":
    """Return a page of the studies somebody sees, what was touched last first; ten queries however many."""
    touched = Greatest("created_at", Coalesce(Max("batches__created_at"), "created_at"))
    seen = seen_by(person, Survey.objects.select_related("protocol"))
    newest = seen.annotate(touched=touched).order_by("-touched", "-pk")
    page: Page[Any] = Paginator(newest, STUDIES_PER_PAGE, orphans=NO_PAGE_OF_THEIR_OWN).get_page(number)
    surveys = {survey.pk: survey for survey in page.object_list}
    counts = Item.objects.filter(survey__in=surveys).order_by().values_list("survey").annotate(Count("pk"))
    n_items = dict(counts)
    batches: dict[int, list[CountedBatch]] = {pk: [] for pk in surveys}
    for batch in with_counts(
        Batch.objects.filter(survey__in=surveys).select_related("survey").order_by("-pk")
    ):
        batches[batch.survey_id].append(batch)
    money = _money([one for ones in batches.values() for one in ones])
    roles, found = given_roles(person), []
    for pk, survey in surveys.items():
        with within(person, roles.get(pk, "")):
            found.append(_listed(person, survey, batches[pk], n_items.get(pk, 0), money))
    page.object_list = found
    return page


def _money(batches: Sequence[CountedBatch]) -> dict[int, Money]:
    return money_of([batch for batch in batches if batch.status != Batch.Status.DRAFT])


def _listed(
    person: Person, survey: Survey, batches: list[CountedBatch], n_items: int, money: dict[int, Money]
) -> Listed:
    steps = (next_step(person, batch) for batch in batches)
    to_take = [step for step in steps if step.url]
    wait = [next_step(person, batch) for batch in batches[:1]]
    step = (to_take or wait or [first_step(person, survey, has_items=n_items > 0)])[0]
    own = [money[batch.pk] for batch in batches if batch.pk in money]
    return Listed(survey, n_items, tuple(batches), step, together(own) if own else None)


def _context(request: HttpRequest, survey: Survey) -> dict[str, Any]:
    return {**admin.site.each_context(request), "title": survey.name, "survey": survey}


def _found(items: QuerySet[Item], words: str) -> QuerySet[Item]:
    if not words:
        return items
    anywhere = (
        Q(external_id__icontains=words)
        | Q(subject__icontains=words)
        | Q(payload__question__icontains=words)
        | Q(gold__icontains=words)
        | Q(outputs__text__icontains=words)
        | Q(outputs__answer__icontains=words)
    )
    return items.filter(pk__in=items.filter(anywhere).values("pk"))


def _texts(item: Item, survey: Survey) -> list[tuple[str, str]]:
    """Return (heading, text) of what an item shows besides its question and its files."""
    texts = (block for block in survey.definition.blocks if not block.file_kind)
    return headed(texts, item.payload.get("blocks", {}))


def _choice_labels(item: Item, survey: Survey) -> dict[str, str]:
    return {choice.value: choice.label for choice in item.choices_for(survey.definition)}
