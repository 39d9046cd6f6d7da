"""Upload, look at what would be imported, confirm. Nothing is created before the last step."""

from typing import Any

from django.contrib import messages
from django.contrib.admin import site
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from surveys import notes, sync
from surveys.enqueue import enqueue, wanted
from surveys.models import Importing, Survey
from surveys.pages.access import researcher
from surveys.pages.study.import_columns import ColumnsPage
from surveys.results import kept
from surveys.results.reports import Kept, wait_for
from surveys.studies.importing import attaching, later, uploads
from surveys.studies.importing.archive import ZipPictures
from surveys.studies.importing.attaching import Brought
from surveys.studies.importing.import_forms import AttachForm, ImportForm
from surveys.studies.importing.looking import Look, look, takes_long, version_of
from surveys.studies.importing.pictures import PictureError
from surveys.studies.importing.plan import Problem
from surveys.studies.importing.staging import (
    Staged,
    StagedGone,
    load,
    stage,
    with_columns,
)
from surveys.studies.importing.writing import (
    ImportRefused,
    attach_pictures,
)
from surveys.studies.kept_a_day import KEPT_SECONDS
from surveys.teams import Person, enter, given_role, where

SALT = "surveys.import"
ADD_ITEM = "surveys.add_item"
ATTACHED = "{} pictures attached, {} still missing."
GONE = "This import is done already, is under way, or was left for more than a day."


@researcher(ADD_ITEM)
@require_http_methods(["GET", "HEAD", "POST"])
def import_items(request: HttpRequest) -> HttpResponse:
    """Step 1: the form. A valid upload is kept aside, and its preview shown."""
    form = ImportForm(
        request.POST or None,
        request.FILES or None,
        initial={"survey": request.GET.get("survey"), "definition_key": request.GET.get("type")},
        person=request.user,
    )
    if request.method == "POST" and form.is_valid():
        staged = stage(
            form.wish(), items=form.cleaned_data["items"].read(), archive=form.cleaned_data["archive"]
        )
        token = preview_token(staged, person=request.user)
        if not uploads.is_understood(staged, person=request.user):
            return redirect("import_columns", token=token)
        return redirect("import_preview", token=token)
    return _form_page(request, form=form, attach_form=AttachForm(prefix="attach", person=request.user))


def preview_token(staged: Staged, *, person: Person) -> str:
    """Return what names staged files in an address, for the one who has uploaded them."""
    return signing.dumps([staged.folder.name, person.pk], salt=SALT)


def _form_page(request: HttpRequest, *, form: ImportForm, attach_form: AttachForm) -> HttpResponse:
    context = {
        **site.each_context(request),
        "title": "Import items",
        "survey": _above(request, _chosen_study(form)),
        "form": form,
        "attach_form": attach_form if attach_form.surveys else None,
    }
    status = 422 if form.errors or attach_form.errors else 200
    return render(request, "study/import.html", context, status=status)


def _chosen_study(form: ImportForm) -> Survey:
    """Return the study that a form imports into; a new one has no name yet."""
    chosen = str(form["survey"].value() or "")
    known: Any = form.fields["survey"]
    found = known.queryset.filter(pk=chosen).first() if chosen.isdecimal() else None
    return found or Survey(name=form["name"].value() or "")


def _above(request: HttpRequest, survey: Survey) -> Survey | None:
    """Return the study whose head stands above a page, None where it is hidden; its reader acts in their role there."""
    if survey.pk and not where(request.user, "surveys.view_batch").filter(pk=survey.pk).exists():
        return None
    enter(request.user, role=given_role(request.user, survey=survey) if survey.pk else "")
    return survey


@researcher(ADD_ITEM)
@require_http_methods(["GET", "HEAD", "POST"])
def import_columns(request: HttpRequest, token: str) -> HttpResponse:
    """Say what the file's columns mean: guessed by their names, changed here, kept with the file."""
    try:
        staged = _staged(request, token=token)
        survey = uploads.survey_of(staged, person=request.user)
        page = ColumnsPage.of(staged, survey=survey, data=request.POST)
        if request.method == "POST" and not page.problems:
            with_columns(staged, page.chosen)
            return redirect("import_preview", token=token)
    except StagedGone:
        messages.info(request, GONE)
        return redirect("import_items")
    context = {
        **site.each_context(request),
        "title": "What the columns mean",
        "survey": _above(request, survey),
        "page": page,
        "wish": staged.wish,
    }
    return render(request, "study/import_columns.html", context, status=422 if page.problems else 200)


@researcher(ADD_ITEM)
@require_http_methods(["GET", "HEAD", "POST"])
def import_preview(request: HttpRequest, token: str) -> HttpResponse:
    """Steps 2 and 3: what the file would make; a POST makes it, once, however often it is sent."""
    try:
        staged = _staged(request, token=token)
        if request.method == "POST" and _is_seen(staged, person=request.user):
            return _confirm(request, staged=staged)
        return _preview_page(request, staged=staged)
    except StagedGone:
        messages.info(request, GONE)
        return redirect("import_items")


def _staged(request: HttpRequest, *, token: str) -> Staged:
    """Return the folder the token names; 404 if it isn't this researcher's."""
    staged = load(_folder(request, token=token))
    if not _is_open_to(request.user, staged.wish.survey_id):
        raise Http404("No such import.")
    return staged


def _folder(request: HttpRequest, *, token: str) -> str:
    """Return the name of the folder; 404 if it isn't this researcher's, StagedGone if it is more than a day old."""
    try:
        name, owner = signing.loads(token, salt=SALT, max_age=KEPT_SECONDS)
    except signing.SignatureExpired:
        raise StagedGone(token) from None
    except signing.BadSignature:
        raise Http404("No such import.") from None
    if owner != request.user.pk:
        raise Http404("No such import.")
    return str(name)


def _is_open_to(person: Person, survey_id: int | None) -> bool:
    """Tell whether somebody may import into a study; a new one takes rights of their account's own."""
    if survey_id is None:
        return person.has_perm(ADD_ITEM)
    return where(person, ADD_ITEM).filter(pk=survey_id).exists()


def _confirm(request: HttpRequest, *, staged: Staged) -> HttpResponse:
    """Import what is small at once, and have the worker import what is not."""
    accepts = "accept_warnings" in request.POST
    if later.is_large(staged):
        asked = later.ask(staged, by=request.user, accept_warnings=accepts)
        enqueue(sync.import_items, asked.pk)
        return redirect("import_job", asked.pk)
    try:
        done = uploads.write(staged, by=request.user, accept_warnings=accepts)
    except ImportRefused as refused:
        return _preview_page(request, staged=staged, refused=refused.problems, status=422)
    except PictureError:
        return _preview_page(request, staged=staged, status=422)
    enqueue(sync.make_smaller_pictures)
    plan, survey = done.plan, done.survey
    waiting = f" {len(plan.missing)} pictures are still missing." if plan.missing else ""
    where = format_html('<a href="{}">{}</a>', reverse("study", args=[survey.slug]), survey)
    messages.success(request, format_html("Imported {} items into {}.{}", len(plan.items), where, waiting))
    return _next(request.user, survey)


@researcher(ADD_ITEM)
@require_safe
def import_job(request: HttpRequest, import_pk: int) -> HttpResponse:
    """Show how far a large import is; done, go on to what comes after it."""
    asked = _job(request, import_pk)
    if asked.ended_at:
        notes.put_away(notes.unseen(request.user).filter(about=later.about(asked)))
    if asked.survey:
        messages.success(request, f"Imported {asked.n_items:,} items into {asked.survey}.")
        return _next(request.user, asked.survey)
    context = {
        **site.each_context(request),
        "title": "Import",
        "survey": _above(request, _study_of(request, folder=asked.folder, name=asked.filename)),
        "asked": asked,
    }
    return render(request, "study/import_job.html", context)


@researcher(ADD_ITEM)
@require_safe
def import_progress(request: HttpRequest, import_pk: int) -> JsonResponse:
    """Answer with how far a large import is, for the page that waits for it."""
    asked = _job(request, import_pk)
    return JsonResponse({"reports": [] if asked.ended_at else [{"percent": asked.percent}]})


def _study_of(request: HttpRequest, *, folder: str, name: str) -> Survey:
    """Return the study that an upload goes into; of one that is not there any more, only a name is known."""
    try:
        return uploads.survey_of(load(folder), person=request.user)
    except (StagedGone, Http404, KeyError):
        return Survey(name=name)


def _job(request: HttpRequest, import_pk: int) -> Importing:
    return get_object_or_404(Importing.objects.select_related("survey"), pk=import_pk, asked_by=request.user)


def _next(person: Person, survey: Survey) -> HttpResponse:
    """Go on to what comes after importing: the first launch, else the study."""
    if not person.has_perm("surveys.view_batch"):
        return redirect("import_items")
    if person.has_perm("surveys.add_batch") and not survey.batches.exists():
        return redirect("launch", survey.slug)
    return redirect("study", survey.slug)


def _preview_page(
    request: HttpRequest, *, staged: Staged, refused: tuple[Problem, ...] = (), status: int = 200
) -> HttpResponse:
    if takes_long(staged):
        kept_look = _kept_look(staged, person=request.user)
        if kept_look.value is None or not kept_look.is_current:
            return _look_awaited(request, kept_look, staged=staged)
        shown: Look = kept_look.value
    else:
        shown = look(staged, person=request.user)
    survey = uploads.survey_of(staged, person=request.user)
    context = {
        **site.each_context(request),
        "title": "Look before importing",
        "survey": _above(request, survey),
        "wish": staged.wish,
        "definition": survey.definition,
        "columns_address": reverse("import_columns", args=[preview_token(staged, person=request.user)]),
        "shows_columns": shown.header and "id_0" not in shown.header,
        "plan": shown,
        "items": shown.items,
        "refused": refused,
    }
    return render(request, "study/import_preview.html", context, status=status)


def _kept_look(staged: Staged, *, person: Person) -> Kept[Look]:
    """Return what the worker has seen in an upload; it is asked to look, once."""
    return wanted(kept.upload_key(staged.folder.name, person.pk), version=version_of(staged))


def _is_seen(staged: Staged, *, person: Person) -> bool:
    """Tell whether an upload can be confirmed: somebody has been shown what it is."""
    return not takes_long(staged) or _kept_look(staged, person=person).is_current


def _look_awaited(request: HttpRequest, found: Kept[Look], *, staged: Staged) -> HttpResponse:
    """Show how far the worker is with an upload, and have it tell whoever leaves."""
    token = preview_token(staged, person=request.user)
    wait_for(
        kept.upload_key(staged.folder.name, request.user.pk),
        person=request.user,
        text=f"{staged.wish.filename} can be looked at and imported.",
        url=request.path,
    )
    context = {
        **site.each_context(request),
        "title": "Look before importing",
        "survey": _above(request, uploads.survey_of(staged, person=request.user)),
        "wish": staged.wish,
        "found": found,
        "token": token,
    }
    return render(request, "study/import_awaited.html", context)


@researcher(ADD_ITEM)
@require_safe
def look_progress(request: HttpRequest, token: str) -> JsonResponse:
    """Answer with how far the worker is with an upload, for the page that waits for it."""
    try:
        staged = _staged(request, token=token)
    except StagedGone:
        return JsonResponse({"reports": []})
    return JsonResponse({"reports": kept.progress(kept.upload_key(staged.folder.name, request.user.pk))})


@researcher(ADD_ITEM)
@require_POST
def import_pictures(request: HttpRequest) -> HttpResponse:
    """Bring missing pictures to a survey's items: those of a ZIP at once, those of an address by the worker."""
    form = AttachForm(request.POST, request.FILES, prefix="attach", person=request.user)
    if form.is_valid():
        survey, archive, address = (form.cleaned_data[name] for name in ("survey", "archive", "address"))
        if address:
            staged = attaching.ask(survey, address=address)
            return redirect("pictures_job", token=preview_token(staged, person=request.user))
        try:
            with ZipPictures(archive) as pictures:
                attached = attach_pictures(survey, pictures=pictures)
        except (PictureError, ImportRefused) as error:
            form.add_error("archive", str(error))
        else:
            enqueue(sync.make_smaller_pictures)
            messages.success(request, ATTACHED.format(attached.n_attached, len(attached.missing)))
            return redirect("import_items")
    return _form_page(request, form=ImportForm(person=request.user), attach_form=form)


@researcher(ADD_ITEM)
@require_safe
def pictures_job(request: HttpRequest, token: str) -> HttpResponse:
    """Show how far fetching a study's pictures is; done, say what came of it."""
    try:
        key = kept.brought_key(folder := _folder(request, token=token))
    except StagedGone:
        messages.info(request, GONE)
        return redirect("import_items")
    found = wanted(key, version=folder)
    brought: Brought | None = found.value
    if brought is None:
        wait_for(key, person=request.user, text="The pictures have been fetched.", url=request.path)
        context = {
            **site.each_context(request),
            "title": "Pictures",
            "survey": _above(request, _study_of(request, folder=folder, name="")),
            "found": found,
            "token": token,
        }
        return render(request, "study/pictures_job.html", context)
    notes.put_away(notes.unseen(request.user).filter(url=request.path))
    if brought.problem:
        messages.error(request, f"No picture was attached. {brought.problem}")
    else:
        messages.success(request, ATTACHED.format(brought.n_attached, brought.n_missing))
    return redirect("import_items")


@researcher(ADD_ITEM)
@require_safe
def pictures_progress(request: HttpRequest, token: str) -> JsonResponse:
    """Answer with how far fetching a study's pictures is, for the page that waits for it."""
    try:
        key = kept.brought_key(_folder(request, token=token))
    except StagedGone:
        return JsonResponse({"reports": []})
    return JsonResponse({"reports": kept.progress(key)})
