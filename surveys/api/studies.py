"""Studies, and the items in them."""

import json
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.datastructures import MultiValueDict
from ninja import Field, File, Form, Query, Router, Schema, Status, UploadedFile

from surveys import sync
from surveys.api import idempotency
from surveys.api.paging import Paged, PageOf, page
from surveys.api.problems import Mistake, invalid, mistake_of, of_form, of_rows
from surveys.api.schemas import Strict, Text, study_for, url_of
from surveys.api.security import Bearer, person
from surveys.enqueue import enqueue
from surveys.models import Item, Survey
from surveys.studies import founding
from surveys.studies.counts import counted
from surveys.studies.importing import uploads, writing
from surveys.studies.importing.archive import ZipPictures
from surveys.studies.importing.import_forms import ImportForm, PicturesForm
from surveys.studies.importing.pictures import PictureError
from surveys.studies.importing.plan import Plan
from surveys.studies.importing.staging import Staged, discard, stage, with_columns
from surveys.studies.importing.writing import ImportRefused
from surveys.teams import seen_by

router = Router(tags=["Studies"])
SHOWN_IDS = 5


class Study(Schema):
    """A study. `slug` names it in addresses; `url` is its page."""

    slug: str
    name: str
    survey_type: str
    is_shared: bool
    created_at: datetime
    n_items: int
    n_batches: int
    url: str


class NewStudy(Strict):
    """A study to make: its name, and the key of its survey type."""

    name: Annotated[Text, Field(min_length=1, max_length=200)]
    survey_type: Annotated[Text, Field(min_length=1, max_length=64)]


class Said(Schema):
    """What a system said about an item."""

    system: str
    text: str
    answer: str


class StudyItem(Schema):
    """One item of a study, with what is never shown to annotators: its right answer, who said what."""

    id: str
    subject: str
    question: str
    answer: str
    outputs: list[Said]
    n_pictures: int
    n_missing_pictures: int


class Import(Schema):
    """How a file is read; `columns` says what its columns mean, as JSON: {our name: the file's}."""

    system: Text = Field("model", max_length=64)
    layout: Text = "auto"
    columns: Text = ""
    address: Text = Field("", description="Where pictures are fetched from: their names are put behind it.")
    allow_missing: bool = False
    accept_warnings: bool = False


class Attached(Schema):
    """What pictures a ZIP had for a study, and how many names still wait for theirs."""

    n_attached: int
    n_missing: int


class Imported(Schema):
    """What a file makes: written, or only looked at (`is_dry_run`), then with every `problem`.

    `columns` is how they were read where they have other names than ours: as the request said, else as for the study's
    last file with the same columns.
    """

    study: str
    is_dry_run: bool
    n_items: int
    n_missing_pictures: int
    can_be_imported: bool
    problems: list[Mistake]
    first_ids: list[str]
    columns: dict[str, str]


@router.get("/studies", response=PageOf[Study], auth=Bearer("surveys.view_batch"))
def list_studies(request: HttpRequest, paging: Paged) -> dict[str, Any]:
    """List the studies you see, the newest first."""
    return page(seen_by(person(request), counted(Survey.objects.all())), paging, show=shown)


@router.post("/studies", response={201: Study}, auth=Bearer("surveys.view_batch", "surveys.add_survey"))
def create_study(request: HttpRequest, new: NewStudy) -> Status[Study]:
    """Make a study without items; you are its team."""
    try:
        survey = founding.found(person(request), name=new.name, key=new.survey_type)
    except KeyError:
        detail = "You see no survey type of this key."
        raise invalid([Mistake(detail=detail, field="survey_type")]) from None
    except founding.NameTaken as error:
        raise invalid([Mistake(detail=str(error), field="name")]) from None
    return Status(HTTPStatus.CREATED, shown(counted(Survey.objects.all()).get(pk=survey.pk)))


@router.get("/studies/{slug:slug}", response=Study, auth=Bearer("surveys.view_batch"))
def read_study(request: HttpRequest, slug: str) -> Study:
    """Return one study."""
    return shown(counted(Survey.objects.all()).get(pk=study_for(request, slug).pk))


@router.get(
    "/studies/{slug:slug}/items",
    response=PageOf[StudyItem],
    auth=Bearer("surveys.view_batch", "surveys.view_item"),
)
def list_items(request: HttpRequest, slug: str, paging: Paged) -> dict[str, Any]:
    """List a study's items in the order they came."""
    items = study_for(request, slug).items.prefetch_related("pictures", "outputs")
    return page(items, paging, show=_shown_item, newest_first=False)


@router.post(
    "/studies/{slug:slug}/items",
    response={200: Imported, 201: Imported},
    auth=Bearer("surveys.view_batch", "surveys.add_item"),
)
def import_items(
    request: HttpRequest,
    slug: str,
    items: Annotated[UploadedFile, File(description="CSV, Excel or JSONL.")],
    how: Annotated[Import, Form()],
    archive: Annotated[UploadedFile | None, File(description="A ZIP of the pictures.")] = None,
    dry_run: Annotated[bool, Query(description="Only say what would be made.")] = False,
) -> Status[Imported]:
    """Import a file. Where anything in it is wrong, nothing is written, and each place is said."""
    survey = study_for(request, slug)
    staged = _staged(request, survey, how, files={"items": items, "archive": archive})
    try:
        if dry_run:
            plan = uploads.plan_of(staged, person=person(request))
            return Status(HTTPStatus.OK, _imported(survey, plan, is_dry_run=True))
        return Status(HTTPStatus.CREATED, _write(request, staged, accept_warnings=how.accept_warnings))
    finally:
        discard(staged)


@router.post(
    "/studies/{slug:slug}/pictures",
    response=Attached,
    auth=Bearer("surveys.view_batch", "surveys.add_item"),
)
def attach_pictures(
    request: HttpRequest,
    slug: str,
    archive: Annotated[UploadedFile, File(description="A ZIP of the pictures.")],
) -> Attached:
    """Bring pictures to items that were imported without theirs. Whatever else is in the ZIP is left out."""
    survey = study_for(request, slug)
    form = PicturesForm({}, MultiValueDict({"archive": [archive]}))
    if not form.is_valid():
        raise of_form(form.errors)
    try:
        with ZipPictures(form.cleaned_data["archive"]) as pictures:
            attached = writing.attach_pictures(survey, pictures=pictures)
    except ImportRefused as error:
        raise of_rows(error.problems) from None
    except PictureError as error:
        raise invalid([Mistake(detail=str(error), field="archive")]) from None
    enqueue(sync.make_smaller_pictures)
    return Attached(n_attached=attached.n_attached, n_missing=len(attached.missing))


def shown(survey: Any) -> Study:
    return Study(
        slug=survey.slug,
        name=survey.name,
        survey_type=survey.definition_key,
        is_shared=survey.is_shared,
        created_at=survey.created_at,
        n_items=survey.n_items,
        n_batches=survey.n_batches,
        url=url_of(reverse("study", args=[survey.slug])),
    )


def _shown_item(item: Item) -> StudyItem:
    pictures = list(item.pictures.all())
    return StudyItem(
        id=item.external_id,
        subject=item.subject,
        question=item.payload.get("question") or "",
        answer=item.gold,
        outputs=[Said(system=one.system, text=one.text, answer=one.answer) for one in item.outputs.all()],
        n_pictures=len(pictures),
        n_missing_pictures=sum(not picture.file for picture in pictures),
    )


def _staged(request: HttpRequest, survey: Survey, how: Import, *, files: dict[str, Any]) -> Staged:
    """Keep the upload aside as the page does, and fetch its pictures; Refusal for what the page's form refuses."""
    fields = how.dict(exclude={"columns", "accept_warnings"})
    form = ImportForm({**fields, "survey": survey.pk}, files, person=person(request))
    if not form.is_valid():
        raise of_form(form.errors)
    columns = _columns(how.columns)
    staged = stage(form.wish(), items=form.cleaned_data["items"].read(), archive=form.cleaned_data["archive"])
    staged = with_columns(staged, columns) if columns else staged
    try:
        uploads.fetch(staged, person=person(request))
    except PictureError as error:
        discard(staged)
        raise invalid([Mistake(detail=str(error), field="address")]) from None
    return staged


def _columns(text: str) -> dict[str, str]:
    try:
        columns = json.loads(text) if text else {}
    except (json.JSONDecodeError, RecursionError):
        columns = None
    if not isinstance(columns, dict) or not all(isinstance(name, str) for name in columns.values()):
        detail = 'This is JSON like {"explanation": "the column’s name in your file"}.'
        raise invalid([Mistake(detail=detail, field="columns")])
    return columns


def _write(request: HttpRequest, staged: Staged, *, accept_warnings: bool) -> Imported:
    def keep(done: uploads.Written) -> None:
        idempotency.keep(request, HTTPStatus.CREATED, _imported(done.survey, done.plan, is_dry_run=False))

    try:
        done = uploads.write(staged, by=person(request), accept_warnings=accept_warnings, in_transaction=keep)
    except ImportRefused as error:
        raise of_rows(error.problems) from None
    except PictureError as error:
        raise invalid([Mistake(detail=str(error), field="archive")]) from None
    enqueue(sync.make_smaller_pictures)
    return _imported(done.survey, done.plan, is_dry_run=False)


def _imported(survey: Survey, plan: Plan, *, is_dry_run: bool) -> Imported:
    return Imported(
        study=survey.slug,
        is_dry_run=is_dry_run,
        n_items=len(plan.items),
        n_missing_pictures=len(plan.missing),
        can_be_imported=not plan.errors,
        problems=[mistake_of(problem) for problem in plan.problems],
        first_ids=[item.external_id for item in plan.items[:SHOWN_IDS]],
        columns=dict(plan.columns),
    )
