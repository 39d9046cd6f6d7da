"""Finding, previewing, accepting, doing and returning HITs."""

from urllib.parse import urlencode

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from marketplace import clock, ids
from marketplace.accounts.sessions import current_worker, worker_required
from marketplace.engine import assignments, deadlines
from marketplace.models import HIT, Assignment, HITType, Worker
from marketplace.qualifications import requirements
from marketplace.questions import documents
from marketplace.refusals import WorkerRefusal
from marketplace.site import accept_next, listing, tasks

ACCEPT_TRIES = 5


@require_safe
def hit_list(request: HttpRequest) -> HttpResponse:
    now, worker = clock.now(), current_worker(request)
    deadlines.sweep(now=now)
    search = documents.legal(request.GET.get("q", "")).strip()[:100]
    sort = request.GET.get("sort", "")
    sort = sort if sort in listing.SORTS else "newest"
    page = listing.groups(worker=worker, now=now, search=search, number=request.GET.get("page"), sort=sort)
    context = {
        "worker": worker,
        "page": page,
        "groups": listing.described(page, worker=worker),
        "search": search,
        "sort": sort,
        "sorts": [(key, words) for key, (words, _) in listing.SORTS.items()],
        "query": urlencode({"q": search, "sort": sort}),
    }
    return render(request, "marketplace/site/hit_list.html", context)


@require_safe
def preview_by_group(request: HttpRequest) -> HttpResponse:
    """Follow the older address, which some requesters' tools print."""
    identifier = request.GET.get("groupId", "")
    if not ids.is_entity_id(identifier):
        raise Http404("No such group of HITs.")
    return redirect("preview", identifier=identifier)


def _hit_type(identifier: str) -> HITType:
    """Find a type by HITTypeId or HITGroupId; tools use either."""
    types = HITType.objects.select_related("requester")
    return get_object_or_404(types, Q(type_id=identifier) | Q(group_id=identifier))


@require_safe
def preview(request: HttpRequest, identifier: str) -> HttpResponse:
    hit_type, worker, now = _hit_type(identifier), current_worker(request), clock.now()
    deadlines.sweep(now=now)
    hit = assignments.next_hit(hit_type, worker=worker, now=now)
    record = requirements.record_of(worker) if worker else listing.NEWCOMER
    context = {
        "worker": worker,
        "hit_type": hit_type,
        "hit": hit,
        "requirements": requirements.lines(hit_type, record=record),
        "may_accept": requirements.may("Accept", hit_type, record=record),
        "accepts_next": accept_next.is_on(request),
    }
    if hit and requirements.may("Preview", hit_type, record=record):
        context |= tasks.shown(hit)
    return tasks.page(request, "marketplace/site/preview.html", context)


@require_POST
@worker_required
def accept(request: HttpRequest, worker: Worker, identifier: str) -> HttpResponse:
    """Accept the HIT that was shown, or the next of its type when somebody was quicker."""
    hit_type, now = _hit_type(identifier), clock.now()
    accept_next.switch(request)
    deadlines.sweep(now=now)
    if not requirements.may("Accept", hit_type, record=requirements.record_of(worker)):
        messages.error(request, "Your account does not meet the requirements of these HITs.")
        return redirect("preview", identifier=hit_type.type_id)
    wanted = HIT.objects.filter(
        hit_id=documents.legal(request.POST.get("hitId", "")), hit_type=hit_type
    ).first()
    for _ in range(ACCEPT_TRIES):
        hit = wanted or assignments.next_hit(hit_type, worker=worker, now=now)
        if hit is None:
            break
        try:
            return _to_work(assignments.accept(hit, worker=worker, now=now))
        except WorkerRefusal:
            wanted = None
    messages.error(request, "There is no more of these HITs for you at the moment.")
    return redirect("preview", identifier=hit_type.type_id)


def _to_work(assignment: Assignment) -> HttpResponse:
    hit = assignment.hit
    address = reverse("work", kwargs={"identifier": hit.hit_type.type_id, "hit_id": hit.hit_id})
    return redirect(f"{address}?assignment_id={assignment.assignment_id}")


@require_safe
@worker_required
def work(request: HttpRequest, worker: Worker, identifier: str, hit_id: str) -> HttpResponse:
    now = clock.now()
    deadlines.sweep(now=now)
    assignment = tasks.latest(worker, hit__hit_id=hit_id)
    if assignment.status != Assignment.Status.OPEN:
        address = reverse("after", kwargs={"assignment_id": assignment.assignment_id})
        return redirect(f"{address}?stay")
    context = tasks.work_context(assignment, now=now)
    return tasks.work_page(request, context | tasks.shown(assignment.hit, assignment))


@require_POST
@worker_required
def give_back(request: HttpRequest, worker: Worker, assignment_id: str) -> HttpResponse:
    now = clock.now()
    deadlines.sweep(now=now)
    assignment = tasks.latest(worker, assignment_id=assignment_id)
    try:
        assignments.give_back(assignment, now=now)
    except WorkerRefusal as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, "You returned the HIT. Returning does not count against you.")
    return redirect("preview", identifier=assignment.hit.hit_type.type_id)


@require_safe
@worker_required
def after(request: HttpRequest, worker: Worker, assignment_id: str) -> HttpResponse:
    """Say what became of an assignment, and offer the next of the queue or the next HIT of the same kind."""
    now = clock.now()
    deadlines.sweep(now=now)
    assignment = tasks.latest(worker, assignment_id=assignment_id)
    hit_type = assignment.hit.hit_type
    queued = accept_next.queued(worker)
    may_accept = requirements.may("Accept", hit_type, record=requirements.record_of(worker))
    context = {
        "worker": worker,
        "assignment": assignment,
        "hit_type": hit_type,
        "queued": queued,
        "next_hit": assignments.next_hit(hit_type, worker=worker, now=now) if may_accept else None,
        "accepts_next": accept_next.is_on(request),
        "goes_on": accept_next.goes_on(request, assignment, now=now),
    }
    return render(request, "marketplace/site/after.html", context)
