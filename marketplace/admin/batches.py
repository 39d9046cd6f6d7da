"""Template batches in the back office: make a draft, look at it, publish it, download results, decide by file."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path
from django.views.decorators.clickjacking import xframe_options_sameorigin
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock
from marketplace.admin.base import OwnedAdmin, own_requesters
from marketplace.batches import decisions, drafts, publishing
from marketplace.batches import results as results_file
from marketplace.batches.forms import BatchForm, DecisionsForm, initial_of
from marketplace.batches.tables import BadTable
from marketplace.batches.template import remarks
from marketplace.engine import deadlines
from marketplace.models import TemplateBatch
from marketplace.money import ledger
from marketplace.refusals import Refusal
from marketplace.site import frames

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, TemplateBatch, P], HttpResponseBase]
PREVIEWED_ROWS = 3
ROWS_PER_PAGE = 50
SEE, MAKE = "marketplace.view_templatebatch", "marketplace.add_templatebatch"


def _own(permission: str) -> Callable[[View[P]], Callable[..., HttpResponseBase]]:
    """Hand a batch to a view: one of the requesters somebody may see, and only with the permission."""

    def protect(view: View[P]) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def found(request: HttpRequest, pk: int, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not request.user.has_perm(permission):
                raise PermissionDenied
            return view(request, _batch(request, pk), *args, **kwargs)

        return found

    return protect


def _batch(request: HttpRequest, pk: int) -> TemplateBatch:
    own = TemplateBatch.objects.filter(requester__in=own_requesters(request))
    return get_object_or_404(own.select_related("requester", "hit_type"), pk=pk)


def number(text: str) -> int:
    """Read a batch's number from an address; 0, which no batch has, where there is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0


def _page(request: HttpRequest, name: str, *, title: str, status: int = 200, **context: Any) -> HttpResponse:
    context |= {**admin.site.each_context(request), "title": title}
    return render(request, f"marketplace/admin/{name}.html", context, status=status)


def new(request: HttpRequest) -> HttpResponse:
    """Take a template, a CSV and terms; `?again=` starts from a batch that exists."""
    if not request.user.has_perm(MAKE):
        raise PermissionDenied
    given = request.GET.get("again", "")
    again = _batch(request, number(given)) if given else None
    form = BatchForm(
        request.POST or None,
        request.FILES or None,
        requesters=own_requesters(request),
        again=again,
        initial=initial_of(again) if again else None,
    )
    if request.method == "POST" and form.is_valid():
        made = drafts.save(form.draft, rows=form.rows, now=clock.now())
        return redirect("admin:marketplace_templatebatch_change", made.pk)
    status = 422 if form.is_bound else 200
    return _page(request, "batch_new", title="New template batch", status=status, form=form, again=again)


@require_safe
@_own(SEE)
def batch(request: HttpRequest, batch: TemplateBatch) -> HttpResponse:
    """Show a draft with its first rows and its price, or how far a published batch has come."""
    deadlines.sweep(now=clock.now())
    rows = batch.rows.order_by("number").select_related("hit")
    if batch.published_at is None:
        return _draft(request, batch)
    return _page(
        request,
        "batch",
        title=batch.title,
        batch=batch,
        progress=drafts.progress(batch),
        page=Paginator(rows, ROWS_PER_PAGE).get_page(request.GET.get("page")),
        form=DecisionsForm(label_suffix=""),
        may_decide=request.user.has_perm(MAKE),
    )


def _draft(request: HttpRequest, batch: TemplateBatch) -> HttpResponse:
    price = publishing.price(batch, hits=batch.rows.count())
    balance = ledger.balance_of(batch.requester)
    return _page(
        request,
        "batch_draft",
        title=batch.title,
        batch=batch,
        rows=batch.rows.order_by("number")[:PREVIEWED_ROWS],
        price=price,
        available=balance.available_cents,
        lacking=max(0, price.total_cents - balance.available_cents),
        may_publish=request.user.has_perm(MAKE),
        remarks=remarks(batch.template),
    )


@require_safe
@xframe_options_sameorigin
@_own(SEE)
def row(request: HttpRequest, batch: TemplateBatch, number: int) -> HttpResponse:
    """Serve the page of one row as a worker's preview would show it, of no origin."""
    found = get_object_or_404(batch.rows, number=number)
    return frames.html_document(publishing.page(batch, found.values))


@require_POST
@_own(MAKE)
def publish(request: HttpRequest, batch: TemplateBatch) -> HttpResponse:
    try:
        publishing.publish(batch, now=clock.now())
    except publishing.AlreadyPublished:
        messages.info(request, "This batch was published already.")
    except Refusal as refusal:
        messages.error(request, f"Nothing was published. {refusal.message}")
    else:
        messages.success(request, "Published. Workers can find the HITs now.")
    return redirect("admin:marketplace_templatebatch_change", batch.pk)


@require_POST
@_own(MAKE)
def discard(request: HttpRequest, batch: TemplateBatch) -> HttpResponse:
    if drafts.discard(batch):
        messages.success(request, "The draft is gone.")
        return redirect("admin:marketplace_templatebatch_changelist")
    messages.error(request, "This batch is published; it stays.")
    return redirect("admin:marketplace_templatebatch_change", batch.pk)


@require_safe
@_own(SEE)
def results(request: HttpRequest, batch: TemplateBatch) -> HttpResponseBase:
    """Download MTurk's batch results file; `?for=spreadsheet` disarms formulas."""
    if batch.published_at is None:
        raise Http404("A draft has no results.")
    now = clock.now()
    deadlines.sweep(now=now)
    lines = results_file.lines(batch, now=now, for_spreadsheet=request.GET.get("for") == "spreadsheet")
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="Batch_{batch.pk}_batch_results.csv"'
    return response


@require_POST
@_own(MAKE)
def decide(request: HttpRequest, batch: TemplateBatch) -> HttpResponse:
    """Approve and reject what an uploaded results file says, all of it or nothing."""
    form = DecisionsForm(request.POST, request.FILES, label_suffix="")
    problems = [str(error) for errors in form.errors.values() for error in errors]
    if form.is_valid():
        try:
            wanted = decisions.read(form.cleaned_data["results"])
            outcome = decisions.carry_out(batch, decisions=wanted, now=clock.now())
        except BadTable as error:
            problems = error.problems
        else:
            messages.success(request, _told(outcome))
            return redirect("admin:marketplace_templatebatch_change", batch.pk)
    return _page(
        request, "batch_undecided", title="Nothing was decided", status=422, batch=batch, problems=problems
    )


def _told(outcome: decisions.Outcome) -> str:
    sentence = f"Approved: {outcome.approved}. Rejected: {outcome.rejected}."
    return f"{sentence} Already so: {outcome.unchanged}." if outcome.unchanged else sentence


@admin.register(TemplateBatch)
class TemplateBatchAdmin(OwnedAdmin):
    """A list of batches, and where every other page of theirs hangs."""

    list_display = ["title", "requester", "reward", "max_assignments", "created_at", "published_at"]
    list_select_related = ["requester"]
    search_fields = ["title"]

    def get_urls(self) -> list[URLPattern]:
        page = self.admin_site.admin_view
        views: dict[str, Any] = {
            "publish/": publish,
            "discard/": discard,
            "results.csv": results,
            "decide/": decide,
            "rows/<int:number>/": row,
        }
        own = [
            path(f"<int:pk>/{route}", page(view), name=f"marketplace_batch_{view.__name__}")
            for route, view in views.items()
        ]
        return [*own, *super().get_urls()]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super().has_add_permission(request) and own_requesters(request).exists()

    def has_change_permission(self, request: HttpRequest, obj: TemplateBatch | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: TemplateBatch | None = None) -> bool:
        return False

    @admin.display(description="Reward ($)")
    def reward(self, batch: TemplateBatch) -> str:
        return ledger.dollars(batch.reward_cents)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return new(request)

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        return batch(request, pk=number(object_id))
