"""The one place that writes: pictures first, content-addressed, then all rows in one transaction."""

import fcntl
import hashlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import Max

from surveys.models import Item, Output, Picture, Survey
from surveys.protocols.blocks import OF_OUTPUT
from surveys.studies.founding import NameTaken, save_new
from surveys.studies.importing.bulk_insert import insert
from surveys.studies.importing.pictures import CheckedPicture, PictureError, Pictures, check_file
from surveys.studies.importing.plan import Plan, PlannedItem, Problem, Severity, pair_name
from surveys.studies.importing.roles import remember
from surveys.teams import Person

AT_ONCE = 500  # items made together: a large file's rows never all stand in memory beside its plan


class ImportRefused(Exception):
    """Nothing was written; `problems` say why."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(map(str, self.problems[:5])))


class Stored(NamedTuple):
    """A picture as it lies under MEDIA_ROOT: `file` is its relative path."""

    file: str
    content_type: str
    width: int
    height: int


NOT_THERE = Stored("", "", 0, 0)
ITEM = (
    "survey_id",
    "external_id",
    "subject",
    "position",
    "source_row",
    "payload",
    "choices",
    "gold",
    "references",
)
OUTPUT = ("item_id", "system", "text", "answer", "model_correct")
PICTURE = ("item_id", "position", "name", "block", *Stored._fields)


@dataclass(frozen=True, slots=True)
class Attached:
    """How many pictures found their file, and the names that still wait for one."""

    n_attached: int
    missing: tuple[str, ...]


def taken_ids(survey: Survey) -> set[str]:
    """Return the names the survey has given: its items' ids, and of each id/system or id/system+system.

    A survey not yet saved has none.
    """
    if not survey.pk:
        return set()
    taken = set(survey.items.values_list("external_id", flat=True))
    systems: dict[tuple[int, str], list[str]] = {}
    outputs = Output.objects.filter(item__survey=survey).values_list("item", "item__subject", "system")
    for item, subject, system in outputs:
        systems.setdefault((item, subject), []).append(system)
    return taken | {pair_name(subject, *of_item) for (_, subject), of_item in systems.items()}


def told_otherwise(plan: Plan, *, survey: Survey) -> Plan:
    """Return the plan with a warning for each item whose subject the survey has with other facts.

    Systems that are shown under another question, or graded by another answer, are not compared on the same item.
    """
    known = dict[str, tuple[object, str]]()
    if survey.pk:
        items = survey.items.order_by("position").values_list("subject", "payload__question", "gold")
        known = {subject: (question, gold) for subject, question, gold in items}
    return plan.with_problems(
        Problem(
            Severity.WARNING, f'The survey has "{item.subject}" with another {what}: "{str(before)[:80]}".'
        )
        for item in plan.items
        if item.subject in known
        for what, before, now in zip(
            ("question", "answer"), known[item.subject], (item.question, item.gold), strict=True
        )
        if before != now
    )


def write_items(
    plan: Plan,
    *,
    survey: Survey,
    pictures: Pictures | None,
    accept_warnings: bool = False,
    founder: Person | None = None,
    in_transaction: Callable[[], None] = lambda: None,
) -> int:
    """Create the plan's items in `survey` and return how many. A new survey is saved: its founder's, or shared.

    `in_transaction` is called once all is written: what it writes comes with the items, or not.

    ImportRefused, with nothing written, if the plan has errors, has warnings nobody accepted, or if the survey
    has got one of its ids in the meantime.
    """
    if refused := plan.errors or (() if accept_warnings else plan.warnings):
        raise ImportRefused(refused)
    kinds = {p.name: p.kind for item in plan.items for p in item.pictures if p.name not in plan.missing}
    with _stored(kinds, pictures=pictures) as stored, transaction.atomic():
        _save_new(survey, founder=founder)
        locked = Survey.objects.select_for_update().get(pk=survey.pk)
        _refuse_taken(plan, survey=survey)
        _create(plan.items, survey=survey, stored=stored)
        if plan.columns:
            remember(locked, header=plan.header, roles=plan.columns)
        in_transaction()
    return len(plan.items)


def _save_new(survey: Survey, *, founder: Person | None) -> None:
    if survey.pk is not None:
        return
    try:
        save_new(survey, founder=founder)
    except NameTaken as taken:
        raise ImportRefused([Problem(Severity.ERROR, str(taken))]) from None


def _refuse_taken(plan: Plan, *, survey: Survey) -> None:
    taken = taken_ids(survey)
    if both := [item.external_id for item in plan.items if item.names & taken]:
        message = f'The survey has an item "{both[0]}" already.'
        raise ImportRefused([Problem(Severity.ERROR, message)])


def _create(planned: tuple[PlannedItem, ...], *, survey: Survey, stored: dict[str, Stored]) -> None:
    position = (survey.items.aggregate(last=Max("position"))["last"] or 0) + 1
    for start in range(0, len(planned), AT_ONCE):
        part = planned[start : start + AT_ONCE]
        _create_part(part, survey=survey, start=position + start, stored=stored)


def _create_part(
    planned: tuple[PlannedItem, ...], *, survey: Survey, start: int, stored: dict[str, Stored]
) -> None:
    insert(
        Item,
        columns=ITEM,
        rows=(
            (
                survey.pk,
                plan.external_id,
                plan.subject,
                position,
                plan.source_row,
                plan.payload,
                plan.choices,
                plan.gold,
                list(plan.references),
            )
            for position, plan in enumerate(planned, start=start)
        ),
    )
    written = survey.items.filter(position__gte=start).order_by("position").values_list("pk", flat=True)
    pairs = list(zip(written, planned, strict=True))
    insert(
        Output,
        columns=OUTPUT,
        rows=(
            (pk, said.system, said.text, said.answer, said.model_correct)
            for pk, plan in pairs
            for said in plan.outputs
        ),
    )
    insert(Picture, columns=PICTURE, rows=_pictures(pairs, stored=stored))


def _pictures(
    pairs: list[tuple[int, PlannedItem]], *, stored: dict[str, Stored]
) -> Iterator[tuple[Any, ...]]:
    for pk, plan in pairs:
        for position, picture in enumerate(plan.pictures, start=1):
            facts = stored.get(picture.name, NOT_THERE)
            yield (pk, position, picture.name, picture.block, *facts)


def waiting_kinds(survey: Survey) -> dict[str, str]:
    """Return the names of the files the survey waits for, and what each has to be."""
    definition = survey.definition
    kinds = {block.column: block.file_kind for block in definition.blocks}
    waiting = Picture.objects.filter(item__survey=survey, file="").values_list("name", "block")
    return {
        name: definition.output_file_kind if block.startswith(OF_OUTPUT) else kinds.get(block, "picture")
        for name, block in waiting
    }


def attach_pictures(survey: Survey, *, pictures: Pictures) -> Attached:
    """Give the survey's pictures that have no file theirs, where `pictures` has it. ImportRefused if one is broken."""
    waiting = list(Picture.objects.filter(item__survey=survey, file="").order_by("pk"))
    found = {name: kind for name, kind in waiting_kinds(survey).items() if pictures.find(name)}
    with _stored(found, pictures=pictures) as stored, transaction.atomic():
        ready = [p for p in waiting if p.name in stored]
        for picture in ready:
            facts = stored[picture.name]
            picture.file.name = facts.file
            picture.content_type, picture.width, picture.height = facts[1:]
        Picture.objects.bulk_update(ready, ["file", "content_type", "width", "height"], batch_size=200)
    return Attached(len(ready), tuple(sorted({p.name for p in waiting} - stored.keys())))


@contextmanager
def _stored(kinds: dict[str, str], *, pictures: Pictures | None) -> Iterator[dict[str, Stored]]:
    """Write the files of these names and kinds; if anything fails after that, remove those that were not there."""
    written: list[str] = []
    try:
        with _media_lock(fcntl.LOCK_SH):
            yield {
                name: _store(name, kind=kinds[name], pictures=pictures, written=written)
                for name in sorted(kinds)
            }
    except BaseException:
        if written:
            _remove(written)
        raise


def _remove(written: list[str]) -> None:
    """Remove files that no row has, once no other import is about to have a row for one of them."""
    with _media_lock(fcntl.LOCK_EX):
        kept = set(Picture.objects.filter(file__in=written).values_list("file", flat=True))
        for file in set(written) - kept:
            (Path(settings.MEDIA_ROOT) / file).unlink(missing_ok=True)


@contextmanager
def _media_lock(kind: int) -> Iterator[None]:
    """Hold the files shared with other imports, until their rows are written; or alone, to remove some."""
    with (settings.DATA_DIR / "importing.lock").open("w") as file:
        fcntl.flock(file, kind)
        yield


def _store(name: str, *, kind: str, pictures: Pictures | None, written: list[str]) -> Stored:
    try:
        path = pictures.find(name) if pictures else None
        if pictures is None or path is None:
            raise PictureError("It is missing.")
        checked = check_file(pictures.read(path, kind=kind), kind=kind)
    except PictureError as error:
        raise ImportRefused([Problem(Severity.ERROR, f'The {kind} "{name}": {error}')]) from None
    digest = hashlib.sha256(checked.data).hexdigest()
    file = f"pictures/{digest[:2]}/{digest}.{checked.extension}"
    if _write_once(checked, path=Path(settings.MEDIA_ROOT) / file):
        written.append(file)
    return Stored(file, checked.content_type, checked.width, checked.height)


def _write_once(checked: CheckedPicture, *, path: Path) -> bool:
    """Write the file whole or not at all; False if it was there."""
    if path.exists():
        return False
    write_whole(checked.data, path=path)
    return True


def write_whole(data: bytes, *, path: Path) -> None:
    """Write a file that is there as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    Path(file.name).chmod(0o644)
    Path(file.name).replace(path)
