"""Upload, look at what would be imported, confirm. Nothing is created before the last step."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from django.contrib import messages
from django.contrib.admin import site
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from surveys import notes, sync
from surveys.enqueue import enqueue
from surveys.models import Importing, Survey
from surveys.pages.access import researcher
from surveys.pages.study.import_columns import ColumnsPage
from surveys.protocols.definition import Definition
from surveys.studies.importing import later, uploads
from surveys.studies.importing.archive import ZipPictures
from surveys.studies.importing.fetching import fetch_pictures
from surveys.studies.importing.import_forms import AttachForm, ImportForm
from surveys.studies.importing.pictures import (
    PictureError,
    Pictures,
    check_picture,
    thumbnail_uri,
)
from surveys.studies.importing.plan import Plan, PlannedItem, Problem
from surveys.studies.importing.staging import (
    KEPT_SECONDS,
    Staged,
    StagedGone,
    discard,
    load,
    stage,
    with_columns,
)
from surveys.studies.importing.writing import (
    Attached,
    ImportRefused,
    attach_pictures,
    waiting_kinds,
)
from surveys.teams import Person, where

SALT = "surveys.import"
ADD_ITEM = "surveys.add_item"
SHOWN_ITEMS = 5
SHOWN_PROBLEMS = 200
GONE = "This import is done already, is under way, or was left for more than a day."


@dataclass(frozen=True, slots=True)
class PreviewedItem:
    """One item as the preview shows it.

    `choices` are (label, is it the right one), `outputs` (system, text). `hidden` is what annotators never see.
    """

    external_id: str
    question: str
    choices: list[tuple[str, bool]]
    outputs: list[tuple[str, str]]
    hidden: list[tuple[str, str]]
    thumbnails: list[str]
    n_missing: int


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
        try:
            uploads.fetch(staged, person=request.user)
        except PictureError as error:
            discard(staged)
            form.add_error("address", str(error))
        else:
            return redirect("import_preview", token=token)
    return _form_page(request, form=form, attach_form=AttachForm(prefix="attach", person=request.user))


def preview_token(staged: Staged, *, person: Person) -> str:
    """Return what names staged files in an address, for the one who has uploaded them."""
    return signing.dumps([staged.folder.name, person.pk], salt=SALT)


def _form_page(request: HttpRequest, *, form: ImportForm, attach_form: AttachForm) -> HttpResponse:
    context = {
        **site.each_context(request),
        "title": "Import items",
        "form": form,
        "attach_form": attach_form if attach_form.surveys else None,
    }
    status = 422 if form.errors or attach_form.errors else 200
    return render(request, "study/import.html", context, status=status)


@researcher(ADD_ITEM)
@require_http_methods(["GET", "HEAD", "POST"])
def import_columns(request: HttpRequest, token: str) -> HttpResponse:
    """Say what the file's columns mean: guessed by their names, changed here, kept with the file."""
    try:
        staged = _staged(request, token=token)
        page = ColumnsPage.of(
            staged, survey=uploads.survey_of(staged, person=request.user), data=request.POST
        )
        if request.method == "POST" and not page.problems:
            uploads.fetch(with_columns(staged, page.chosen), person=request.user)
            return redirect("import_preview", token=token)
    except StagedGone:
        messages.info(request, GONE)
        return redirect("import_items")
    except PictureError as error:
        page = replace(page, problems=[str(error)])
    context = {
        **site.each_context(request),
        "title": "What the columns mean",
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
        if request.method == "POST":
            return _confirm(request, staged=staged)
        return _preview_page(request, staged=staged)
    except StagedGone:
        messages.info(request, GONE)
        return redirect("import_items")


def _staged(request: HttpRequest, *, token: str) -> Staged:
    """Return the folder the token names; 404 if it isn't this researcher's."""
    try:
        name, owner = signing.loads(token, salt=SALT, max_age=KEPT_SECONDS)
    except signing.SignatureExpired:
        raise StagedGone(token) from None
    except signing.BadSignature:
        raise Http404("No such import.") from None
    staged = load(name) if owner == request.user.pk else None
    if staged is None or not _is_open_to(request.user, staged.wish.survey_id):
        raise Http404("No such import.")
    return staged


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
    context = {**site.each_context(request), "title": "Import", "asked": asked}
    return render(request, "study/import_job.html", context)


@researcher(ADD_ITEM)
@require_safe
def import_progress(request: HttpRequest, import_pk: int) -> JsonResponse:
    """Answer with how far a large import is, for the page that waits for it."""
    asked = _job(request, import_pk)
    return JsonResponse({"reports": [] if asked.ended_at else [{"percent": asked.percent}]})


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
    plan, shown = _preview(staged, person=request.user)
    context = {
        **site.each_context(request),
        "title": "Look before importing",
        "wish": staged.wish,
        "definition": uploads.survey_of(staged, person=request.user).definition,
        "columns_address": reverse("import_columns", args=[preview_token(staged, person=request.user)]),
        "shows_columns": plan.header and "id_0" not in plan.header,
        "plan": plan,
        "items": shown,
        "problems": plan.problems[:SHOWN_PROBLEMS],
        "n_hidden": max(0, len(plan.problems) - SHOWN_PROBLEMS),
        "refused": refused,
    }
    return render(request, "study/import_preview.html", context, status=status)


def _preview(staged: Staged, *, person: Person) -> tuple[Plan, list[PreviewedItem]]:
    survey = uploads.survey_of(staged, person=person)
    try:
        with staged.pictures() as pictures:
            plan = uploads.checked(staged, survey=survey, pictures=pictures)
            show = partial(_previewed, definition=survey.definition, pictures=pictures)
            return plan, [show(item) for item in plan.items[:SHOWN_ITEMS]]
    except PictureError as error:
        return uploads.unopened(staged, survey=survey, error=error), []


def _previewed(item: PlannedItem, *, definition: Definition, pictures: Pictures | None) -> PreviewedItem:
    choices = _choices(item, definition)
    thumbnails = [
        _thumbnail(picture.name, pictures=pictures) for picture in item.pictures if picture.kind == "picture"
    ]
    return PreviewedItem(
        external_id=item.external_id,
        question=item.question,
        choices=[(label, value == item.gold) for value, label in choices],
        outputs=[(output.system, output.text) for output in item.outputs],
        hidden=list(_hidden(item)),
        thumbnails=[uri for uri in thumbnails if uri],
        n_missing=sum(not uri for uri in thumbnails),
    )


def _choices(item: PlannedItem, definition: Definition) -> list[tuple[str, str]]:
    if definition.answer and definition.answer.choices:
        return [(choice.value, choice.label) for choice in definition.answer.choices]
    return [(choice["value"], choice["label"]) for choice in item.choices]


def _hidden(item: PlannedItem) -> Iterator[tuple[str, str]]:
    for output in item.outputs:
        if output.model_correct is not None:
            yield f"{output.system} decided", "right" if output.model_correct else "wrong"
    yield from (("reference text", text) for text in item.references)


def _thumbnail(name: str, *, pictures: Pictures | None) -> str:
    try:
        path = pictures.find(name) if pictures else None
        return thumbnail_uri(check_picture(pictures.read(path))) if pictures and path else ""
    except PictureError:
        return ""


@researcher(ADD_ITEM)
@require_POST
def import_pictures(request: HttpRequest) -> HttpResponse:
    """Bring missing pictures to a survey's items."""
    form = AttachForm(request.POST, request.FILES, prefix="attach", person=request.user)
    if form.is_valid():
        try:
            attached = _attach(form)
        except (PictureError, ImportRefused) as error:
            form.add_error("address" if form.cleaned_data["address"] else "archive", str(error))
        else:
            enqueue(sync.make_smaller_pictures)
            missing = len(attached.missing)
            messages.success(request, f"{attached.n_attached} pictures attached, {missing} still missing.")
            return redirect("import_items")
    return _form_page(request, form=ImportForm(person=request.user), attach_form=form)


def _attach(form: AttachForm) -> Attached:
    survey, archive, address = (form.cleaned_data[name] for name in ("survey", "archive", "address"))
    if archive:
        with ZipPictures(archive) as pictures:
            return attach_pictures(survey, pictures=pictures)
    kinds = waiting_kinds(survey)
    with TemporaryDirectory() as folder:
        fetched = fetch_pictures(
            kinds.keys(), prefix=address, into=Path(folder), seconds=uploads.FETCH_SECONDS, kinds=kinds
        )
        return attach_pictures(survey, pictures=fetched)
