"""Survey types while they are written: saved with every change, undone by versions, published as a type.

Who saves says which version they changed. If that is not the current one any more, what they sent is kept as a version
beside it, and they are told: nothing is overwritten, and nothing lost.
"""

from dataclasses import dataclass, replace
from difflib import unified_diff

from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.db.models import Max, Q, QuerySet

from surveys.models import Protocol, ProtocolDraft, ProtocolDraftVersion
from surveys.protocols.criteria import Problem
from surveys.protocols.definition import Definition
from surveys.protocols.documents import MOST_BYTES, DocumentError
from surveys.protocols.trees import tree_of
from surveys.protocols.uploads import read
from surveys.studies import protocols
from surveys.studies.packages import Package
from surveys.teams import Person

MOST_VERSIONS = 200  # of a draft; older ones are forgotten


class DraftRefused(ValueError):
    """Something that can't be done to a draft; the message says why."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of what was sent: the version that holds it and, if that does not count, the one that does."""

    version: ProtocolDraftVersion
    overtaken_by: ProtocolDraftVersion | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a document says, and all that is wrong with it: problems with their places, sentences with their lines."""

    definition: Definition | None
    problems: tuple[Problem, ...] = ()
    sentences: tuple[str, ...] = ()


def seen_by(person: Person) -> QuerySet[ProtocolDraft]:
    """Return the drafts that somebody may write on."""
    if person.is_superuser:
        return ProtocolDraft.objects.all()
    return ProtocolDraft.objects.filter(Q(is_shared=True) | Q(team=person.pk or 0)).distinct()


@transaction.atomic
def begin(document: str, *, by: Person, origin: Protocol | None = None) -> ProtocolDraft:
    """Return a new draft with a document to begin with. The next version of a team's type is for that team too."""
    is_theirs = origin is not None and protocols.is_ones_own(origin, by)
    draft = ProtocolDraft.objects.create(origin=origin, is_shared=is_theirs and origin.is_shared)  # type: ignore[union-attr]
    if origin is not None and is_theirs:
        draft.team.set(origin.team.all())
    draft.team.add(by.pk or 0)
    draft.versions.create(number=1, before=0, document=document, made_by=_user(by))
    return draft


def current(draft: ProtocolDraft) -> ProtocolDraftVersion:
    """Return the version that counts."""
    return draft.versions.select_related("made_by").get(number=draft.current)


@transaction.atomic
def save(draft: ProtocolDraft, document: str, *, by: Person, after: int) -> Saved:
    """Keep a document that was made from version `after`, once. DraftRefused of one that no type could be."""
    if len(document) > MOST_BYTES:
        raise DraftRefused(f"The document is larger than {MOST_BYTES // 1000} kB, and was not kept.")
    locked = _locked(draft)
    theirs = current(locked)
    if theirs.document == document:
        return Saved(theirs)
    is_aside = theirs.number != after
    same = (
        locked.versions.filter(is_aside=True, before=after, document=document).first() if is_aside else None
    )
    mine = same or locked.versions.create(
        number=_newest(locked) + 1, before=after, document=document, is_aside=is_aside, made_by=_user(by)
    )
    if is_aside:
        return Saved(mine, overtaken_by=theirs)
    _move(locked, after=after, to=mine.number)
    locked.versions.filter(number__lte=mine.number - MOST_VERSIONS).delete()
    return Saved(mine)


def name_of(version: ProtocolDraftVersion) -> str:
    """Return what a document calls its type, "" where it can't be read."""
    try:
        name = tree_of(version.document, name=protocols.PASTED).get("name", "")
    except DocumentError:
        return ""
    return name if isinstance(name, str) else ""


def undone(draft: ProtocolDraft) -> ProtocolDraftVersion | None:
    """Return the version that undoing leads to."""
    now = current(draft)
    return draft.versions.filter(number=now.before).first()


def redone(draft: ProtocolDraft) -> ProtocolDraftVersion | None:
    """Return the version that was undone last."""
    return draft.versions.filter(before=draft.current, is_aside=False).order_by("number").last()


@transaction.atomic
def step(draft: ProtocolDraft, *, is_back: bool, after: int) -> bool:
    """Undo or redo one change. Tells whether that was done: not where somebody else has changed something since."""
    locked = _locked(draft)
    wanted = undone(locked) if is_back else redone(locked)
    return wanted is not None and _move(locked, after=after, to=wanted.number)


def reading_of(draft: ProtocolDraft, document: str, *, by: Person) -> Reading:
    """Return what a document of the draft says, by all that is asked of a new type."""
    try:
        definition = read(document, name=protocols.PASTED, pictures=pictures_of(draft))
        protocols.check_name(definition, by=by)
    except DocumentError as error:
        return Reading(None, error.places, tuple(error.problems))
    except protocols.NameTaken as error:
        return Reading(definition, (Problem((error.at,), str(error)),), (str(error),))
    return Reading(definition)


def with_pictures(draft: ProtocolDraft, definition: Definition) -> Definition:
    """Return a definition whose files are called as in the browser."""
    return replace(definition, instructions=definition.instructions.with_files(pictures_of(draft)))


def difference(one: ProtocolDraftVersion, other: ProtocolDraftVersion) -> list[tuple[str, str]]:
    """Return the lines of two versions with what each is: "-" only in the first, "+" only in the other, " " in both."""
    lines = unified_diff(one.document.splitlines(), other.document.splitlines(), n=3, lineterm="")
    return [(line[:1], line[1:]) for line in list(lines)[2:]]


def pictures_of(draft: ProtocolDraft) -> dict[str, str]:
    """Return the pictures that a draft may name: {name: what it is called in the browser}."""
    return dict(draft.origin.pictures.values_list("name", "code")) if draft.origin else {}


@transaction.atomic
def publish(draft: ProtocolDraft, *, by: Person, after: int) -> Protocol:
    """Keep the current version as a survey type, once. DraftRefused if it is another by now; what `keep` raises."""
    locked = _locked(draft)
    if locked.current != after:
        raise DraftRefused("Somebody has changed it since you looked. Look again before you publish it.")
    package = Package(protocols.PASTED, current(locked).document.encode())
    protocol = protocols.keep(package, by=by, is_shared=locked.is_shared, origin=locked.origin)
    protocol.team.add(*locked.team.all())
    ProtocolDraft.objects.filter(pk=locked.pk, protocol=None).update(protocol=protocol)
    return protocol


def _locked(draft: ProtocolDraft) -> ProtocolDraft:
    locked = ProtocolDraft.objects.select_for_update(no_key=True).get(pk=draft.pk)
    if locked.protocol_id:
        raise DraftRefused("It is a survey type by now, and never changed; write its next version.")
    return locked


def _move(draft: ProtocolDraft, *, after: int, to: int) -> bool:
    return bool(ProtocolDraft.objects.filter(pk=draft.pk, current=after).update(current=to))


def _newest(draft: ProtocolDraft) -> int:
    newest: int = draft.versions.aggregate(newest=Max("number"))["newest"]
    return newest


def _user(person: Person) -> User | None:
    return None if isinstance(person, AnonymousUser) else person
