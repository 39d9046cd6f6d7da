"""Figures and tables to take into a paper, made of the report that is kept: no address here reads a batch."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from surveys.enqueue import wanted
from surveys.pages.access import researcher
from surveys.pages.results.chosen_form import ChosenForm
from surveys.pages.results.scope import Scope, of_batch, of_study
from surveys.results import figures, paper_tables
from surveys.results.files.report import Report
from surveys.results.kept import report_key, report_version

NONE = "The report has nothing of this."
NOT_YET = "The report is being made. Take the file when it is there."


@never_cache
@require_safe
@researcher("surveys.view_batch")
def result_figure(request: HttpRequest, pk: int, kind: str, criterion: str, form: str) -> HttpResponse:
    """Send one criterion of a batch's results as a figure: `kind` of `figures.KINDS`, `form` of its FORMS."""
    return _figure(request, of_batch(request, pk), kind=kind, criterion=criterion, form=form)


@never_cache
@require_safe
@researcher("surveys.view_batch")
def study_result_figure(
    request: HttpRequest, slug: str, batches: str, kind: str, criterion: str, form: str
) -> HttpResponse:
    """Send one criterion of several batches together as a figure."""
    scope = of_study(request, slug, batches)
    if scope is None:
        return redirect("study", slug)
    return _figure(request, scope, kind=kind, criterion=criterion, form=form)


def _figure(request: HttpRequest, scope: Scope, *, kind: str, criterion: str, form: str) -> HttpResponse:
    if kind not in figures.KINDS or form not in figures.FORMS:
        raise Http404(NONE)
    report = _report(request, scope)
    if report is None:
        return _later(request, scope)
    try:
        file = figures.draw(report, kind=kind, criterion=criterion, form=form)
    except KeyError:
        raise Http404(NONE) from None
    return _sent(
        file, figures.FORMS[form], name=f"{slugify(scope.name) or scope.pks}-{kind}-{criterion}.{form}"
    )


@never_cache
@require_safe
@researcher("surveys.view_batch")
def result_table(request: HttpRequest, pk: int, name: str, form: str) -> HttpResponse:
    """Send a table of a batch's results: `name` of `paper_tables.TABLES`, `form` of its FORMS."""
    return _table(request, of_batch(request, pk), name=name, form=form)


@never_cache
@require_safe
@researcher("surveys.view_batch")
def study_result_table(request: HttpRequest, slug: str, batches: str, name: str, form: str) -> HttpResponse:
    """Send a table of several batches together."""
    scope = of_study(request, slug, batches)
    return _table(request, scope, name=name, form=form) if scope else redirect("study", slug)


def _table(request: HttpRequest, scope: Scope, *, name: str, form: str) -> HttpResponse:
    if name not in paper_tables.TABLES or form not in paper_tables.FORMS:
        raise Http404(NONE)
    report = _report(request, scope)
    if report is None:
        return _later(request, scope)
    is_chosen = not ChosenForm(request.GET, batches=scope.batches).chosen.is_everything
    text = paper_tables.make_table(report, name=name, form=form, is_chosen=is_chosen)
    content_type = f"{paper_tables.FORMS[form]}; charset=utf-8"
    return _sent(text.encode(), content_type, name=f"{slugify(scope.name) or scope.pks}-{name}.{form}")


def _report(request: HttpRequest, scope: Scope) -> Report | None:
    """Return the report of the chosen answers as it is kept, and ask for a new one if need be."""
    chosen = ChosenForm(request.GET, batches=scope.batches).chosen
    found: Report | None = wanted(
        report_key(scope.batches, chosen), version=report_version(scope.batches)
    ).value
    return found


def _later(request: HttpRequest, scope: Scope) -> HttpResponse:
    """Lead to the page that shows how far the report is."""
    messages.info(request, NOT_YET)
    query = request.META["QUERY_STRING"]
    return redirect(scope.results_url + (f"?{query}" if query else ""))


def _sent(content: bytes, content_type: str, *, name: str) -> HttpResponse:
    response = HttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
