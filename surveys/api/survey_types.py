"""Survey types: the built-in ones and one's own."""

from http import HTTPStatus
from typing import Annotated

from django.http import HttpRequest
from ninja import File, Form, Router, Schema, Status, UploadedFile

from surveys.api.problems import Mistake, invalid, not_found
from surveys.api.schemas import Text
from surveys.api.security import Bearer, person
from surveys.models import Protocol
from surveys.protocols.definition import Definition
from surveys.protocols.documents import DocumentError
from surveys.protocols.registry import DEFINITIONS
from surveys.studies import protocols
from surveys.studies.importing.roles import roles_of
from surveys.studies.packages import PackageError, opened
from surveys.teams import Person

router = Router(tags=["Survey types"])


class Column(Schema):
    """What a column of a file can be: our name for it, and what it is to annotators."""

    name: str
    label: str
    is_required: bool


class SurveyType(Schema):
    """A survey type. Where one is asked for by its key, `document` is its YAML, and `columns` are those of a file with
    one output a row."""

    key: str
    name: str
    version: int
    is_built_in: bool
    document: str | None = None
    columns: list[Column] | None = None


class SurveyTypes(Schema):
    """The survey types you see, the built-in ones first."""

    results: list[SurveyType]


@router.get("/survey-types", response=SurveyTypes, auth=Bearer("surveys.view_survey"))
def list_survey_types(request: HttpRequest) -> SurveyTypes:
    """List the survey types you can choose from."""
    offered = protocols.offered(person(request))
    return SurveyTypes(results=[_shown(key, definition) for key, definition in offered.items()])


@router.get("/survey-types/{slug:key}", response=SurveyType, auth=Bearer("surveys.view_survey"))
def read_survey_type(request: HttpRequest, key: Text) -> SurveyType:
    """Return a type with its document, and the columns of a file for it."""
    document = protocols.document_of(key, person=person(request))
    if not document:
        raise not_found()
    definition = protocols.offered(person(request))[key]
    columns = [
        Column(name=one.name, label=one.label, is_required=one.is_required) for one in roles_of(definition)
    ]
    return _shown(key, definition).model_copy(update={"document": document, "columns": columns})


@router.post(
    "/survey-types",
    response={201: SurveyType},
    auth=Bearer("surveys.view_survey", "surveys.add_survey"),
)
def upload_survey_type(
    request: HttpRequest,
    file: Annotated[UploadedFile, File(description="YAML, or a ZIP of it and the pictures it names.")],
    is_shared: Annotated[bool, Form()] = False,
) -> Status[SurveyType]:
    """Keep a document as a new type, or as the next version of one of yours. Each wrong line is said."""
    kept = _kept(person(request), file, is_shared=is_shared)
    return Status(HTTPStatus.CREATED, _shown(kept.key, kept.definition))


def _kept(by: Person, file: UploadedFile, *, is_shared: bool) -> Protocol:
    try:
        package = opened(file, name=file.name or protocols.PASTED, size=file.size or 0)
        return protocols.keep(package, by=by, is_shared=is_shared)
    except DocumentError as error:
        raise invalid([Mistake(detail=text, field="file") for text in error.problems]) from None
    except (PackageError, protocols.NameTaken) as error:
        raise invalid([Mistake(detail=str(error), field="file")]) from None


def _shown(key: str, definition: Definition) -> SurveyType:
    return SurveyType(
        key=key, name=definition.name, version=definition.version, is_built_in=key in DEFINITIONS
    )
