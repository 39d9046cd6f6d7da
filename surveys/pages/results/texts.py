"""What people wrote in their own words, to be read one below another and searched."""

import re
from urllib.parse import parse_qsl

from django.core.paginator import Paginator
from django.db import connection
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from surveys.models import Rating
from surveys.pages.access import researcher
from surveys.pages.results.chosen_form import ChosenForm
from surveys.pages.results.responses import query_of, render_list
from surveys.pages.results.scope import Scope, of_batch, of_study
from surveys.results.chosen import of_outputs, responses
from surveys.results.frames.pseudonyms import Pseudonyms

PER_PAGE = 50


@never_cache
@require_safe
@researcher("surveys.view_batch")
def batch_texts(request: HttpRequest, pk: int) -> HttpResponse:
    """List what people wrote in a batch, by the order of its items; `q` looks for words in it."""
    return _texts(request, of_batch(request, pk))


@never_cache
@require_safe
@researcher("surveys.view_batch")
def study_texts(request: HttpRequest, slug: str, batches: str) -> HttpResponse:
    """List what people wrote in several batches together."""
    scope = of_study(request, slug, batches)
    return _texts(request, scope) if scope else redirect("study", slug)


def _texts(request: HttpRequest, scope: Scope) -> HttpResponse:
    form, asked = ChosenForm(request.GET, batches=scope.batches), scope.texts_asked
    wanted = request.GET.get("criterion", "")
    criterion = wanted if wanted in asked else next(iter(asked), "")
    sought = request.GET.get("q", "").replace("\0", "").strip()[:200]
    answered = Q(response__in=responses(scope.batches, form.chosen), criterion=criterion)
    about = of_outputs(form.chosen, "output__")
    if about:  # else of all; what is said of the item itself is of every one
        answered &= about | Q(output=None)
    found = Rating.objects.filter(answered, _says(sought)).exclude(value="")
    in_order = found.select_related("output", "response__item", "response__worker")
    page = Paginator(in_order.order_by("response__item__position", "pk"), PER_PAGE).get_page(
        request.GET.get("page")
    )
    name = Pseudonyms()
    context = {
        "page": page,
        "rows": [(one, name(one.response.worker.worker_id)) for one in page],
        "query": query_of(request),
        "choice": form.chosen.as_query(),
        "chosen": parse_qsl(form.chosen.as_query()),
        "asked": asked,
        "criterion": criterion,
        "sought": sought,
    }
    return render_list(request, "results/texts.html", scope, "What people wrote", context)


def _says(sought: str) -> Q:
    """Look for words, large or small: SQLite's LIKE knows only those of ASCII, its REGEXP is Python's."""
    if connection.vendor == "sqlite":
        return Q(value__iregex=re.escape(sought))
    return Q(value__icontains=sought)
