"""What the preview of an upload shows, made at once of a small file, and by the worker of one that takes long.

It is small whatever the file is, so that it can be kept: numbers, the first problems and the first items.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from surveys.protocols.blocks import headed
from surveys.protocols.definition import Definition
from surveys.studies.importing import uploads
from surveys.studies.importing.later import is_large
from surveys.studies.importing.pictures import PictureError, Pictures, check_picture, thumbnail_uri
from surveys.studies.importing.plan import Plan, PlannedItem, Problem, Severity
from surveys.studies.importing.staging import Staged
from surveys.teams import Person

SHOWN_ITEMS = 5
SHOWN_PROBLEMS = 200
FETCH_SECONDS = 30 * 60  # then what is still missing is named in the preview
FETCHED = 70  # percent of a look, once all pictures are here
Tell = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class PreviewedItem:
    """One item as the preview shows it.

    `choices` are (label, is it the right one), `blocks` (heading, text or files' names), `outputs` (system, text).
    `hidden` is what annotators never see.
    """

    external_id: str
    question: str
    choices: list[tuple[str, bool]]
    blocks: list[tuple[str, str]]
    outputs: list[tuple[str, str]]
    hidden: list[tuple[str, str]]
    thumbnails: list[str]
    n_missing: int


@dataclass(frozen=True, slots=True)
class Look:
    """A plan as its preview shows it: how many there are of everything, and the first of its problems and items."""

    header: tuple[str, ...]
    n_rows: int
    n_items: int
    n_outputs: int
    n_pictures: int
    n_missing: int
    n_errors: int
    n_warnings: int
    problems: tuple[Problem, ...]
    items: tuple[PreviewedItem, ...]

    @property
    def n_hidden(self) -> int:
        """How many problems are not shown."""
        return self.n_errors + self.n_warnings - len(self.problems)

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The errors among the problems that are shown."""
        return tuple(problem for problem in self.problems if problem.severity == Severity.ERROR)


def takes_long(staged: Staged) -> bool:
    """Tell whether nobody should wait for the preview in a request."""
    return bool(staged.wish.address) or is_large(staged)


def version_of(staged: Staged) -> str:
    """Return a short name of what was uploaded and asked for: another where the columns are to mean something else."""
    return hashlib.sha256(f"{staged.folder.name} {staged.wish!r}".encode()).hexdigest()


def fetch_and_look(staged: Staged, *, person: Person, tell: Tell) -> Look:
    """Bring the pictures here and look at the file; `tell` takes percents."""
    tell(1)
    try:
        uploads.fetch(
            staged, person=person, seconds=FETCH_SECONDS, tell=lambda share: tell(int(FETCHED * share))
        )
    except PictureError as error:
        survey = uploads.survey_of(staged, person=person)
        return look_of(uploads.unopened(staged, survey=survey, error=error))
    tell(FETCHED)
    return look(staged, person=person)


def look(staged: Staged, *, person: Person) -> Look:
    """Return what the file would make, and how annotators would read it."""
    survey = uploads.survey_of(staged, person=person)
    try:
        with staged.pictures() as pictures:
            plan = uploads.checked(staged, survey=survey, pictures=pictures)
            show = partial(_previewed, definition=survey.definition, pictures=pictures)
            return look_of(plan, items=tuple(show(item) for item in plan.items[:SHOWN_ITEMS]))
    except PictureError as error:
        return look_of(uploads.unopened(staged, survey=survey, error=error))


def look_of(plan: Plan, *, items: tuple[PreviewedItem, ...] = ()) -> Look:
    return Look(
        header=plan.header,
        n_rows=plan.n_rows,
        n_items=len(plan.items),
        n_outputs=plan.n_outputs,
        n_pictures=plan.n_pictures,
        n_missing=len(plan.missing),
        n_errors=len(plan.errors),
        n_warnings=len(plan.warnings),
        problems=plan.problems[:SHOWN_PROBLEMS],
        items=items,
    )


def _previewed(item: PlannedItem, *, definition: Definition, pictures: Pictures | None) -> PreviewedItem:
    choices = _choices(item, definition)
    thumbnails = [
        _thumbnail(picture.name, pictures=pictures) for picture in item.pictures if picture.kind == "picture"
    ]
    return PreviewedItem(
        external_id=item.external_id,
        question=item.question,
        choices=[(label, value == item.gold) for value, label in choices],
        blocks=headed(
            (one for one in definition.blocks if one.kind != "pictures"), item.given.get("blocks", {})
        ),
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
