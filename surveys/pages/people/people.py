"""Who comes to a batch without a marketplace: personal links, and a panel."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from typing import IO, Any

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.core.paginator import Page, Paginator
from django.db.models import Model, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotators.crowds.links.panels import PANELS
from annotators.models import Worker
from annotators.people.names import pseudonym
from surveys.answering.invitations import (
    CannotInvite,
    Invited,
    address,
    invite,
    not_known_again,
    panel_address,
    renew_key,
    revoke,
)
from surveys.models import Batch, Invitation, Outcome, Panel, PanelVisit
from surveys.pages.access import batch_for, researcher
from surveys.pages.people.people_forms import InviteForm, PanelForm, RenewForm
from surveys.publishing import budget, quota
from surveys.publishing.preconditions import out_of_reach
from surveys.results.files.csv_text import safe_text
from surveys.review.panels import FOR_PANEL, decision_about, panel_lists, statuses_of
from surveys.review.progress import with_pay, with_work

PEOPLE_PER_PAGE = 12  # of invitations, and of visits below them; so the page stays within a few screens
COLUMNS = ("name", "email", "address", "expires_at", "access_code")
EARNED = ("name", "email", "accepted", "dollars", "undecided")
VIEW = ("surveys.view_batch", "surveys.view_invitation")


@dataclass(frozen=True, slots=True)
class Row:
    """One invited person as the table shows them."""

    invitation: Invitation
    address: str
    state: str

    @property
    def is_valid(self) -> bool:
        return self.state not in {"revoked", "expired"}


@dataclass(frozen=True, slots=True)
class VisitRow:
    """One person that a panel has sent; `decision` is what it is to be told of them."""

    visit: Any
    state: str
    decision: str


@never_cache
@require_safe
@researcher(*VIEW)
def people(request: HttpRequest, pk: int) -> HttpResponse:
    """Show who is invited, what they have done, and how a panel sends its people."""
    return _page(request, _batch(request, pk))


@never_cache
@require_POST
@researcher(*VIEW, "surveys.add_invitation")
def invite_people(request: HttpRequest, pk: int) -> HttpResponse:
    """Make personal links. Their access codes are in this answer and nowhere else: as a page, or as a file."""
    batch = _batch(request, pk)
    form = InviteForm(request.POST, request.FILES)
    if not form.is_valid():
        return _page(request, batch, invite_form=form, status=422)
    try:
        invited = _invite(request, batch, form.cleaned_data)
    except CannotInvite as error:
        form.add_error("people", str(error))
        return _page(request, batch, invite_form=form, status=422)
    if request.POST.get("as") == "csv":
        return _csv(batch, [(i.invitation, i.address, i.access_code) for i in invited])
    return _shown_once(request, batch, invited)


@never_cache
@require_safe
@researcher(*VIEW)
def links_csv(request: HttpRequest, pk: int) -> HttpResponse:
    """Send the addresses that are valid now. Access codes can't be told again: only their hashes are kept."""
    batch = _batch(request, pk)
    valid = batch.invitations.filter(revoked_at=None, expires_at__gt=timezone.now()).select_related("worker")
    return _csv(batch, [(invitation, address(invitation), "") for invitation in valid])


@never_cache
@require_safe
@researcher(*VIEW)
def earned_csv(request: HttpRequest, pk: int) -> HttpResponse:
    """Send what the invited have earned by accepted work, by link; whoever pays them knows what is paid already."""
    batch = _batch(request, pk)
    invited: Iterable[Any] = with_pay(batch.invitations.order_by("name", "pk"), batch=batch)
    lines = [
        (one.name, one.email, str(one.n_accepted), f"{batch.reward * one.n_accepted:.2f}", str(one.n_waiting))
        for one in invited
    ]
    text = StringIO()
    write_rows(EARNED, lines, text)
    return _file(batch, "earned", text)


@never_cache
@require_POST
@researcher(*VIEW, "surveys.change_invitation")
def revoke_link(request: HttpRequest, pk: int, invitation_pk: int) -> HttpResponse:
    """Make a link void. What was answered stays."""
    batch = _batch(request, pk)
    invitation = get_object_or_404(batch.invitations, pk=invitation_pk)
    if revoke(invitation):
        _note(request, invitation, CHANGE, "Link taken back.")
        messages.success(request, f"The link of {invitation.name} is void. What they answered stays.")
    else:
        messages.info(request, f"The link of {invitation.name} is void already.")
    return redirect("people", batch.pk)


@never_cache
@require_POST
@researcher(*VIEW, "surveys.change_invitation")
def renew_link(request: HttpRequest, pk: int, invitation_pk: int) -> HttpResponse:
    """Make a new link and access code for somebody; the old ones are void."""
    batch = _batch(request, pk)
    invitation = get_object_or_404(batch.invitations.select_related("worker"), pk=invitation_pk)
    form = RenewForm(request.POST)
    if not form.is_valid():
        messages.error(request, f"Not renewed: {form.errors.as_data()['expires_at'][0].message}")
        return redirect("people", batch.pk)
    renewed = renew_key(invitation, expires_at=form.cleaned_data["expires_at"])
    _note(request, invitation, CHANGE, "Link renewed.")
    return _shown_once(request, batch, [renewed])


@never_cache
@require_POST
@researcher(*VIEW, "surveys.change_invitation")
def free_places(request: HttpRequest, pk: int, worker_pk: int) -> HttpResponse:
    """Let others have what somebody has begun and will not finish: a panel sends the next person at once."""
    batch = _batch(request, pk)
    own = Q(invitations__batch=batch) | Q(panel_visits__panel__batch=batch)
    worker = get_object_or_404(Worker.objects.filter(own).distinct(), pk=worker_pk)
    n = quota.let_go(batch, worker=worker)
    if n:
        _note(request, batch, CHANGE, f"Freed what {pseudonym(worker.worker_id)} had begun.")
        _tell_freed(request, batch, n)
    else:
        messages.info(request, "Nothing was held for them any more.")
    return redirect("people", batch.pk)


def _tell_freed(request: HttpRequest, batch: Batch, n: int) -> None:
    """Say how many places are free, and where the budget does not cover them beside the drafts that can still come."""
    said = f"{n} place is free for others" if n == 1 else f"{n} places are free for others"
    typed = "What was typed there stays with its author."
    try:
        budget.check_unlocked(batch, batch.reward * n)
    except budget.OverBudget as error:
        messages.warning(request, f"{said} as far as the budget covers a second try. {error} {typed}")
    else:
        messages.success(request, f"{said}. {typed}")


@never_cache
@require_POST
@researcher(*VIEW, "surveys.change_panel")
def save_panel(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep how a panel sends its people, and what they take back."""
    batch = _batch(request, pk)
    is_new = _panel(batch) is None
    form = PanelForm(request.POST, instance=_panel(batch) or Panel(batch=batch))
    if not form.is_valid():
        return _page(request, batch, panel_form=form, status=422)
    panel = form.save()
    _note(request, panel, ADDITION if is_new else CHANGE, f"Panel: {', '.join(form.changed_data)}.")
    messages.success(request, "The panel is set up. Give it the study address below.")
    return redirect(reverse("people", args=[batch.pk]) + "#panel")


def _batch(request: HttpRequest, pk: int) -> Batch:
    batch = batch_for(request, pk)
    if not quota.has_slots(batch):
        raise Http404("Nobody comes to this batch by link.")
    return batch


def _panel(batch: Batch) -> Panel | None:
    return Panel.objects.filter(batch=batch).first()


def _invite(request: HttpRequest, batch: Batch, data: dict[str, Any]) -> list[Invited]:
    invited = invite(
        batch,
        people=data["list"],
        expires_at=data["expires_at"],
        max_assignments=data["max_assignments"],
        by=request.user,  # type: ignore[arg-type]
    )
    for one in invited:
        _note(request, one.invitation, ADDITION, "Invited.")
    return invited


def _note(request: HttpRequest, what: Model, action: int, text: str) -> None:
    """Write into the history of changes who did this."""
    by = request.user.pk or 0  # `researcher` lets nobody else in
    LogEntry.objects.log_actions(by, [what], action, change_message=text, single_object=True)


def _page(request: HttpRequest, batch: Batch, *, status: int = 200, **forms: Any) -> HttpResponse:
    panel = _panel(batch)
    kind = request.GET.get("panel", "prolific")
    context = {
        "rows": _rows(request, batch),
        "invite_form": InviteForm(),
        "renew_form": RenewForm(),
        "panel": panel,
        "panel_label": _label_of(panel) if panel else "",
        "panel_form": PanelForm(instance=panel or new_panel(batch, kind=kind)),
        "known_panels": PANELS.items(),
        "panel_kind": kind,
        "panel_is_open": panel is None and "panel" in request.GET,
        "code_types": list(_code_types(panel)) if panel else [],
        "panel_lists": panel_lists(panel) if panel else None,
        "panel_address": panel_address(panel) if panel else "",
        "visits": _visits(request, batch, panel),
        **forms,
    }
    return _render(request, "people", batch, context, title=f"People of {batch.name}", status=status)


def _label_of(panel: Panel) -> str:
    known = PANELS.get(panel.provider)
    return known.label if known else panel.provider


def new_panel(batch: Batch, *, kind: str) -> Panel:
    """Return a panel that nobody has set up yet, with what is known of one of that name."""
    if (known := PANELS.get(kind)) is None:
        return Panel(batch=batch)
    names = {f"{name}_parameter": value for name, value in asdict(known.names).items()}
    return Panel(batch=batch, provider=kind, completion_url=known.completion_url, **names)


def _code_types(panel: Panel) -> Iterator[tuple[str, str, str, bool]]:
    """Yield each outcome with its code, how the panel's own page calls it, and whether that code is its own.

    Nothing of a panel that is not known.
    """
    known = PANELS.get(panel.provider)
    for outcome, kind in known.code_types.items() if known else ():
        code = panel.code_of(outcome)
        is_own = bool(code) and (outcome == Outcome.COMPLETED or code != panel.completion_code)
        yield Outcome(outcome).label, code, kind, is_own


def _visits(request: HttpRequest, batch: Batch, panel: Panel | None) -> Page[Any]:
    found = with_work(PanelVisit.objects.filter(panel__batch=batch).select_related("worker"), batch=batch)
    page = Paginator(found, PEOPLE_PER_PAGE).get_page(request.GET.get("visits", "1"))
    statuses = statuses_of(panel) if panel else {}
    rows: Page[Any] = page
    rows.object_list = [
        VisitRow(
            one, _state_of(one), FOR_PANEL.get(decision_about(one, statuses.get(one.worker_id, set())), "")
        )
        for one in page.object_list
    ]
    return rows


def _state_of(visit: Any) -> str:
    if visit.outcome:
        return str(visit.get_outcome_display()).lower()
    if visit.completed_at:
        return "finished"
    return _at_work(visit) or "came"


def _at_work(one: Any) -> str:
    """Return what an invited person, or one of a panel, is doing; "" where they have begun nothing."""
    return "at work" if one.n_open else "has worked" if one.n_done else "left" if one.n_left else ""


def _rows(request: HttpRequest, batch: Batch) -> Page[Any]:
    invitations = with_work(batch.invitations.select_related("worker"), batch=batch)
    page = Paginator(invitations, PEOPLE_PER_PAGE).get_page(request.GET.get("page", "1"))
    rows: Page[Any] = page
    rows.object_list = [Row(one, address(one), _state(one)) for one in page.object_list]
    return rows


def _state(invitation: Any) -> str:
    if invitation.revoked_at:
        return "revoked"
    if invitation.expires_at <= timezone.now():
        return "expired"
    return _at_work(invitation) or ("opened" if invitation.opened_at else "not opened")


def _shown_once(request: HttpRequest, batch: Batch, invited: list[Invited]) -> HttpResponse:
    return _render(request, "invited", batch, {"invited": invited}, title="New links")


def _render(
    request: HttpRequest,
    template: str,
    batch: Batch,
    context: dict[str, Any],
    *,
    title: str,
    status: int = 200,
) -> HttpResponse:
    sign_in = settings.APP_URL + reverse("link_sign_in", args=[batch.pk])
    leaves_people_out = batch.leaves_people_out and not batch.is_simulated
    common = {
        **admin.site.each_context(request),
        "title": title,
        "batch": batch,
        "sign_in": sign_in,
        "leaves_people_out": leaves_people_out,
        "n_not_known": not_known_again(batch).count() if leaves_people_out else 0,
        "out_of_reach": "" if batch.is_simulated else out_of_reach(),
    }
    return render(request, f"people/{template}.html", {**common, **context}, status=status)


def _csv(batch: Batch, rows: list[tuple[Invitation, str, str]]) -> HttpResponse:
    text = StringIO()
    write_links(rows, text)
    return _file(batch, "links", text)


def _file(batch: Batch, what: str, text: StringIO) -> HttpResponse:
    response = HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8")
    name = f"{slugify(batch.name) or batch.pk}-{what}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def write_links(rows: Iterable[tuple[Invitation, str, str]], stream: IO[str]) -> None:
    """Write one row for each (invitation, address, access code); the code is "" where it is not known any more.

    Nothing in it stands in any file of results, so that no two files put together say who gave which answers.
    """
    lines = [
        (one.name, one.email, url, one.expires_at.isoformat(timespec="seconds"), access_code)
        for one, url, access_code in rows
    ]
    write_rows(COLUMNS, lines, stream)


def write_rows(columns: Sequence[str], rows: Iterable[Sequence[str]], stream: IO[str]) -> None:
    """Write a CSV whose cells are made safe to open in a spreadsheet."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([safe_text(cell) for cell in row] for row in rows)
