"""What an annotator is shown of an assignment, in its drawn orders. Knows gold; shows none."""

from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Self

from django.conf import settings
from django.utils.translation import get_language, gettext, gettext_lazy

from annotators.models import Assignment
from statements import Hole, Statement, Together
from surveys.answering.contents import OUTPUTS, PICTURES, contents_of, unpacked, with_contents
from surveys.answering.orders import (
    base_values,
    items_again,
    output_ids,
    shuffled,
    slots_in_order,
)
from surveys.models import Batch, Item, Output, Picture, Questionnaire, Response
from surveys.protocols.blocks import OF_OUTPUT, Block, Part
from surveys.protocols.criteria import Choice, numbered
from surveys.protocols.definition import Definition
from surveys.protocols.languages import in_language, is_read_in

# What a file is called that its survey type gives no name.
FILE_KINDS = {
    "audio": gettext_lazy("Audio"),
    "picture": gettext_lazy("Picture"),
    "video": gettext_lazy("Video"),
}


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture, audio or video under its opaque name; no `url` while it is missing, not arrived or gone.

    `srcset` has the smaller copies a browser may choose instead, in the form of the attribute of this name. `among`
    says which item it belongs to, where the page has several.
    """

    url: str
    width: int
    height: int
    name: str
    srcset: str = ""
    among: str = ""

    @classmethod
    def of(cls, picture: Picture, *, name: str, among: str = "") -> Self:
        if not picture.is_there:
            return cls("", 0, 0, name, among=among)
        address = picture.get_absolute_url()
        return cls(address, picture.width, picture.height, name, picture.srcset, among)

    @property
    def alt(self) -> str:
        """Return what stands for it where it is not seen: "Picture 2 (Question 3)"."""
        if not self.among:
            return self.name
        return gettext("%(name)s (%(item)s)") % {"name": self.name, "item": self.among}


@dataclass(frozen=True, slots=True)
class ShownOutput:
    """An output without its system: its opaque code, a label such as "Explanation 1", and its text.

    One that is `files` of a `kind` has no text: the names of files would tell whose they are.
    """

    code: str
    label: str
    text: str
    kind: str = "text"
    files: tuple[ShownPicture, ...] = ()

    @property
    def steps(self) -> list[str]:
        """In a sequence: the transformations between one state and the next."""
        return self.text.split("\n")


@dataclass(frozen=True, slots=True)
class ShownBlock:
    """A text of the item itself, in parts: paragraphs, turns or rows; or its files.

    One that is marked has its `column` and its `exact` text, to the character.
    """

    kind: str
    label: str
    lang: str
    parts: tuple[Part, ...]
    is_markdown: bool = False
    files: tuple[ShownPicture, ...] = ()
    can_skip: bool = False
    column: str = ""
    exact: str = ""


@dataclass(frozen=True, slots=True)
class ShownItem:
    """All that a browser may know about an item, in the order it is shown.

    `position` names it, as in the questionnaire; `place` is where, from 1, this worker's page has it. `markable`
    are the exact texts of those blocks, by column, in which something is marked. What `stays_judged` was accepted
    with its answers: they may change, but nobody can say any more that it could not be seen. `among` is what its files
    say they belong to.
    """

    position: int
    place: int
    question: str
    pictures: tuple[ShownPicture, ...]
    choices: tuple[Choice, ...]
    outputs: tuple[ShownOutput, ...]
    draft: dict[str, Any]
    blocks: tuple[tuple[ShownBlock, ...], ...] = ()
    markable: Mapping[str, str] = field(default_factory=dict)
    stays_judged: bool = False
    among: str = ""

    @property
    def files(self) -> tuple[ShownPicture, ...]:
        """Return all files it shows: its own, its blocks' and its outputs'."""
        of_blocks = (file for row in self.blocks for block in row for file in block.files)
        of_outputs = (file for output in self.outputs for file in output.files)
        return (*self.pictures, *of_blocks, *of_outputs)

    @property
    def is_below(self) -> bool:
        """Whether another item stands before it on the page."""
        return self.place > 1


READ = "_read_responses"  # in an assignment's __dict__, as Django keeps there what it has read of a relation


def opened_responses(assignment: Assignment, *, batch: Batch) -> list[Response]:
    """Return the responses of an opened assignment of the batch in this worker's order, in one query, or none
    where `with_responses` read them already.

    That counts once: whoever asks again may have written meanwhile. `shown_item` needs no more.
    """
    read: list[Response] | None = assignment.__dict__.pop(READ, None)
    opened = unpacked(RESPONSES.all(assignment=assignment.pk) if read is None else read, OUTPUTS, PICTURES)
    for response in opened:
        response.batch, response.assignment = batch, assignment
    return by_place(opened)


def opened_response(assignment: Assignment, *, batch: Batch, position: int) -> Response | None:
    """Return the one at a position as a draft needs it: `shown_item` without files needs no more."""
    for response in contents_of(RESPONSE_AT, OUTPUTS, assignment=assignment.pk, position=position):
        response.batch, response.assignment = batch, assignment
        return response
    return None


def with_responses(together: Together[Assignment, Response], **values: Any) -> Assignment | None:
    """Return the assignment that a statement finds with RESPONSES, for `opened_responses`."""
    assignment, read = together(**values)
    if assignment is not None:
        assignment.__dict__[READ] = read
    return assignment


RESPONSE_AT = Statement(
    lambda: with_contents(Response.objects.all(), OUTPUTS).filter(
        assignment=Hole("assignment", Assignment._meta.pk),
        position=Hole("position", Response._meta.get_field("position")),
    )
)
RESPONSES = Statement(
    lambda: (
        with_contents(Response.objects.all(), OUTPUTS, PICTURES)
        .filter(assignment=Hole("assignment", Assignment._meta.pk))
        .order_by("position")
    )
)


def by_place(responses: Iterable[Response]) -> list[Response]:
    """Return responses in the order of their worker's page."""
    return sorted(responses, key=attrgetter("place"))


# The languages somebody's browser asks for, the first first; empty where they or the study chose one.
BROWSERS: ContextVar[tuple[str, ...]] = ContextVar("browsers_languages", default=())


def shown_definition(batch: Batch) -> Definition:
    """Return what a batch asks in the language of its reader, as far as it is translated; names and values as stored.

    That is the page's, unless the browser asks for one before it that the protocol has and our pages lack.
    """
    definition = batch.definition
    page = get_language() or settings.LANGUAGE_CODE
    wanted = next((code for code in BROWSERS.get() if is_read_in(definition, code)), page)
    return in_language(definition, wanted, page=page)


def word_of(definition: Definition) -> str:
    """Return what an item is called where it is counted, in the survey type's own word if it has one."""
    return definition.item_word or gettext("Question")


def item_name(definition: Definition, *, place: int) -> str:
    """Return what an item is called among others: "Question 3"."""
    return f"{word_of(definition)} {place}"


def shown_item(response: Response, *, with_files: bool = True, is_alone: bool = False) -> ShownItem:
    """Return the item of a response as its worker sees it, or what of it is no file."""
    return _shown_item(
        response.item,
        position=response.position,
        place=response.place,
        definition=shown_definition(response.batch),
        order=response.shown["outputs"],
        values=response.shown["choices"],
        draft=response.draft,
        with_files=with_files,
        is_alone=is_alone,
    )


def preview_items(questionnaire: Questionnaire) -> list[ShownItem]:
    """Return the items as anybody sees them before accepting, in an order drawn from the seed alone."""
    definition, seed = shown_definition(questionnaire.batch), questionnaire.batch.seed
    slots = {slot.item_id: slot for slot in slots_in_order(questionnaire)}
    items = [slot.item for slot in slots.values()]
    shown = [*items, *items_again(items, batch=questionnaire.batch)]
    return [
        _shown_item(
            item,
            position=place,
            place=place,
            definition=definition,
            order=shuffled(output_ids(slots[item.pk]), seed=f"{seed}:outputs:{item.external_id}"),
            values=base_values(item, definition, seed=seed),
            draft={},
            is_alone=len(shown) == 1,
        )
        for place, item in enumerate(shown, 1)
    ]


def trial_item(item: Item, *, place: int, definition: Definition) -> ShownItem:
    """Return an item that nobody has stored as a page would show it: as many outputs as one shows, in their order."""
    outputs = [output.pk for output in item.outputs.all()]
    return _shown_item(
        item,
        position=place,
        place=place,
        definition=definition,
        order=outputs[: definition.outputs_per_item or None],
        values=base_values(item, definition, seed=0),
        draft={},
    )


def _shown_item(
    item: Item,
    *,
    position: int,
    place: int,
    definition: Definition,
    order: Iterable[int],
    values: Iterable[str],
    draft: dict[str, Any],
    with_files: bool = True,
    is_alone: bool = False,
) -> ShownItem:
    among = "" if is_alone else item_name(definition, place=place)
    outputs = {output.pk: output for output in item.outputs.all()}
    choices = {choice.value: choice for choice in item.choices_for(definition)}
    return ShownItem(
        position=position,
        place=place,
        question=item.payload.get("question", ""),
        pictures=tuple(_pictures_of(item, definition, among=among)) if with_files else (),
        choices=tuple(choices[value] for value in values),
        outputs=tuple(
            _shown_output(outputs[pk], item, n=n, among=among, definition=definition)
            for n, pk in enumerate(order, 1)
        ),
        draft=draft,
        blocks=shown_blocks(item, among=among, definition=definition, can_skip=bool(definition.skip_reasons))
        if with_files
        else (),
        markable={column: _cells(item).get(column, "") for column in _marked_columns(definition)},
        among=among,
    )


def _cells(item: Item) -> Mapping[str, str]:
    cells: Mapping[str, str] = item.payload.get("blocks", {})
    return cells


def _marked_columns(definition: Definition) -> set[str]:
    return {
        name for criterion in definition.criteria if criterion.spans for name in criterion.spans.columns
    } - {""}


def shown_blocks(
    item: Item, *, definition: Definition, among: str = "", can_skip: bool = False
) -> tuple[tuple[ShownBlock, ...], ...]:
    """Return the blocks that say anything, those beside each other together."""
    cells, marked = _cells(item), {c.spans.of for c in definition.criteria if c.spans}
    rows: list[list[ShownBlock]] = []
    for block in definition.blocks:
        if not block.is_beside:
            rows.append([])
        cell = cells.get(block.column, "")
        parts = () if block.file_kind else block.parts(cell)
        files = tuple(_shown_files(item, block, among=among))
        if parts or files:
            shown = ShownBlock(block.kind, block.label, block.lang, parts, block.is_markdown, files, can_skip)
            is_marked = block.column in marked
            rows[-1].append(replace(shown, column=block.column, exact=cell) if is_marked else shown)
    return tuple(tuple(row) for row in rows if row)


def _shown_files(item: Item, block: Block, *, among: str) -> Iterator[ShownPicture]:
    """Yield a block's files, called by its label or kind."""
    found = [file for file in item.pictures.all() if file.block == block.column] if block.file_kind else []
    yield from _named_files(found, name=str(block.label or FILE_KINDS.get(block.file_kind, "")), among=among)


def _named_files(found: list[Picture], *, name: str, among: str) -> Iterator[ShownPicture]:
    """Yield files by a name, numbered if they are several, and by the item they belong to if there are others."""
    for n, file in enumerate(found, 1):
        yield ShownPicture.of(file, name=f"{name} {n}" if len(found) > 1 else name, among=among)


def _pictures_of(item: Item, definition: Definition, *, among: str) -> Iterator[ShownPicture]:
    pictures = [picture for picture in item.pictures.all() if not picture.block]
    if not definition.is_sequence:
        yield from _named_files(pictures, name=str(FILE_KINDS["picture"]), among=among)
        return
    for n, picture in enumerate(pictures, 1):
        yield ShownPicture.of(picture, name=gettext("State %(n)d of %(of)d") % {"n": n, "of": len(pictures)})


def _shown_output(output: Output, item: Item, *, n: int, among: str, definition: Definition) -> ShownOutput:
    label = numbered(definition.output_label, n)
    if not definition.output_file_kind:
        return ShownOutput(code=output.code, label=label, text=output.text)
    files = tuple(_named_files(files_of(output, item), name=label, among=among))
    return ShownOutput(code=output.code, label=label, text="", kind=definition.output_kind, files=files)


def files_of(output: Output, item: Item) -> list[Picture]:
    """Return the files that an output is; none of one that is a text."""
    return [file for file in item.pictures.all() if file.block == f"{OF_OUTPUT}{output.system}"]
