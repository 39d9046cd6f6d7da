"""Survey types that people here wrote: kept in versions, seen by a team, offered beside the built-in ones."""

from hashlib import sha256
from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from annotators.constraints import is_about
from surveys.models import Protocol, ProtocolPicture, Survey
from surveys.protocols.definition import Definition
from surveys.protocols.documents import DocumentError
from surveys.protocols.registry import BUILTIN, DEFINITIONS
from surveys.protocols.uploads import read
from surveys.teams import Person

if TYPE_CHECKING:
    from surveys.studies.importing.pictures import CheckedPicture
    from surveys.studies.packages import Package

PASTED = "protocol.yaml"
MOST_NAMED = 20


class NameTaken(ValueError):
    """A document's name or version is in use; the message says by what. `at` is the one that is in use."""

    def __init__(self, message: str, *, at: str = "version") -> None:
        super().__init__(message)
        self.at = at


def seen_by(person: Person) -> QuerySet[Protocol]:
    """Return all versions of the types that somebody sees: shared ones and those of their teams."""
    if person.is_superuser:
        return Protocol.objects.all()
    return Protocol.objects.filter(Q(is_shared=True) | Q(team=person.pk or 0)).distinct()


def newest(person: Person) -> dict[str, Protocol]:
    """Return the newest version of each type that somebody sees, by its key."""
    return {protocol.key: protocol for protocol in seen_by(person).order_by("key", "version")}


def offered(person: Person) -> dict[str, Definition]:
    """Return all types somebody can choose for a new survey, the built-in ones first."""
    return {**DEFINITIONS, **{key: protocol.definition for key, protocol in newest(person).items()}}


def taken_names() -> list[str]:
    """Return the names of all types that were written here, whoever sees them."""
    return list(Protocol.objects.order_by("key").values_list("key", flat=True).distinct())


def new_survey(person: Person, *, key: str, name: str, slug: str) -> Survey:
    """Return a survey, not yet saved, of the newest version of a type. KeyError if they see none of that key."""
    protocol = None if key in DEFINITIONS else newest(person)[key]
    return Survey(name=name, slug=slug, definition_key=key, protocol=protocol)


def built_in(key: str) -> str:
    """Return the file of a built-in type as text; KeyError if there is none."""
    return (BUILTIN / f"{DEFINITIONS[key].key}.yaml").read_text(encoding="utf-8")


def document_of(key: str, *, person: Person) -> str:
    """Return a type's document as text, "" if they see none of that key."""
    if key in DEFINITIONS:
        return built_in(key)
    protocol = newest(person).get(key)
    return protocol.document if protocol else ""


def keep(
    package: "Package", *, by: Person, is_shared: bool = False, origin: Protocol | None = None
) -> Protocol:
    """Keep a document as a new type, or as a new version of one of `by`'s teams; nothing is kept where it is refused.

    Without pictures of its own it may name those of `origin`, the type it is a copy of. A shared type is everybody's
    to use, and its team's to follow by a version: new surveys are of the newest.

    Raises DocumentError with a sentence for each line that is wrong, and NameTaken.
    """
    given = package.pictures or _pictures_of(origin)
    definition = read(package.document, name=package.name, pictures=given)
    wanted = definition.instructions.picture_files
    if unused := [name for name in package.pictures if name not in wanted]:
        raise DocumentError(
            [f"“{name}” is in the ZIP, and {package.name} does not name it." for name in unused[:MOST_NAMED]]
        )
    pictures = _checked({name: given[name] for name in wanted})
    before = check_name(definition, by=by)
    protocol = Protocol(
        key=definition.key,
        version=definition.version,
        name=definition.name[:200],
        document=package.document.decode("utf-8-sig"),
        is_shared=before.is_shared if before else is_shared,
    )
    return _written(protocol, pictures, before=before, by=by)


def check_name(definition: Definition, *, by: Person) -> Protocol | None:
    """Return the version that a new one follows, if there is one. NameTaken where `by` can't call a type so."""
    if definition.key in DEFINITIONS:
        raise NameTaken(
            f"“{definition.key}” is built in. Give yours another name after “protocol:”.", at="key"
        )
    before = Protocol.objects.filter(key=definition.key).first()  # the newest
    if before and not is_ones_own(before, by):
        raise NameTaken(f"“{definition.key}” is in use. Give yours another name after “protocol:”.", at="key")
    if before and definition.version <= before.version:
        raise NameTaken(
            f"“{definition.key}” has a version {before.version}. Write a higher number after “version:”."
        )
    return before


def _pictures_of(protocol: Protocol | None) -> dict[str, bytes]:
    return {picture.name: picture.content for picture in protocol.pictures.all()} if protocol else {}


def _checked(pictures: dict[str, bytes]) -> list[ProtocolPicture]:
    """Return rows of pictures that are safe to show. DocumentError names those that are none."""
    # Here, not at the top: the admin loads this module for every command, and few keep a picture.
    from surveys.studies.importing.pictures import PictureError, check_picture

    rows, problems = [], []
    for name, content in pictures.items():
        try:
            rows.append(_row(name, check_picture(content), content))
        except PictureError as error:
            problems.append(f"The picture “{name}”: {error}")
    if problems:
        raise DocumentError(problems[:MOST_NAMED])
    return rows


def _row(name: str, checked: "CheckedPicture", content: bytes) -> ProtocolPicture:
    return ProtocolPicture(
        name=name,
        code=f"{sha256(checked.data).hexdigest()}.{checked.extension}",
        content_type=checked.content_type,
        data=checked.data,
        original=b"" if checked.data == content else content,
    )


def is_ones_own(protocol: Protocol, person: Person) -> bool:
    """Tell whether somebody may follow a type by a version: its team, and superusers."""
    return person.is_superuser or protocol.team.filter(pk=person.pk or 0).exists()


def _written(
    protocol: Protocol, pictures: list[ProtocolPicture], *, before: Protocol | None, by: Person
) -> Protocol:
    try:
        with transaction.atomic():
            protocol.save()
            protocol.team.set(before.team.all() if before else [])
            protocol.team.add(by.pk or 0)
            protocol.pictures.add(*pictures, bulk=False)
    except IntegrityError as error:
        if is_about(error, Protocol, "protocol_version_once"):
            raise NameTaken(f"Somebody else has just kept a version {protocol.version}.") from error
        raise
    return protocol
