"""What an annotator is shown. Claims in, an assignment with its drawn orders out. Knows gold; shows none."""

from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache
from operator import attrgetter
from typing import Any, Self

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import get_language, gettext, gettext_lazy

from annotators.constraints import is_about
from annotators.crowds.base import crowd_of, has_market
from annotators.failpoints import reach
from annotators.models import HIT, IS_CLAIM, Assignment, Worker
from annotators.people.pseudonyms import locked_worker_of, names_of
from statements import Hole, Statement, insert
from surveys.answering import claiming
from surveys.answering.answer_copy import NOT_XML
from surveys.answering.contents import OUTPUTS, PICTURES, contents_of, with_contents
from surveys.answering.orders import (
    base_values,
    draw_responses,
    items_again,
    output_ids,
    shuffled,
    slots_in_order,
)
from surveys.models import AnnotationSlot, Batch, Item, Output, Picture, Questionnaire, Response
from surveys.protocols.blocks import OF_OUTPUT, Block, Part
from surveys.protocols.criteria import Choice, numbered
from surveys.protocols.definition import Definition
from surveys.protocols.languages import in_language, is_read_in
from surveys.publishing import pilots, quota
from surveys.publishing.quota import cap_of, has_reached_cap

ONCE_EACH: tuple[tuple[type[Model], str], ...] = (
    (Assignment, "assignment_once_per_hit_and_worker"),
    (Assignment, "assignment_id_once_per_worker"),
    (Response, "worker_sees_item_once_per_batch"),
)
# What a file is called that its survey type gives no name.
FILE_KINDS = {
    "audio": gettext_lazy("Audio"),
    "picture": gettext_lazy("Picture"),
    "video": gettext_lazy("Video"),
}
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
SEEN_BEFORE = gettext_lazy(
    "You have already worked on these questions in another HIT. Please return this one; it costs you nothing."
)
SHARE_DONE = gettext_lazy(
    "You have done as many of these HITs as one person may do ({most}), so that many people are heard. Please return "
    "this one: you lose nothing by it, and nothing is rejected because of it. Thank you for your work!"
)
IN_PILOT = gettext_lazy(
    "You have taken part in the first part of this study. Please return this HIT; it costs you nothing."
)
EXCLUDED = gettext_lazy("This HIT is not open to you. Please return it; returning costs you nothing.")
ALL_IN = gettext_lazy(
    "All answers that are wanted here have come in. Please return the HIT; it costs you nothing."
)


class CannotServe(Exception):
    """This work can't be given to this person; the message tells them what to do. `kind` is for the page."""

    def __init__(self, kind: str, message: str | Promise) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Claims:
    """What the frame's address says about who is looking. Nothing proves it until the marketplace confirms it."""

    assignment_id: str
    hit_id: str
    worker_id: str
    submit_to: str

    @property
    def is_preview(self) -> bool:
        return self.assignment_id in {"", PREVIEW}


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A picture, audio or video under its opaque name; no `url` while it is missing, not arrived or gone.

    `srcset` has the smaller copies a browser may choose instead, in the form of the attribute of this name.
    """

    url: str
    width: int
    height: int
    alt: str
    srcset: str = ""

    @classmethod
    def of(cls, picture: Picture, *, alt: str) -> Self:
        if not picture.is_there:
            return cls("", 0, 0, alt)
        return cls(picture.get_absolute_url(), picture.width, picture.height, alt, picture.srcset)


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
    with its answers: they may change, but nobody can say any more that it could not be seen.
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


def read_claims(params: Mapping[str, str], *, endpoint: str) -> Claims:
    """Read MTurk's query.

    Raises CannotServe where turkSubmitTo is none of the endpoint's own addresses, and where there is no marketplace
    that could have sent anybody.
    """
    if not has_market(endpoint):
        raise CannotServe(
            "unknown", gettext("People come to this study by a personal link. Please use yours.")
        )
    given = _given(params)
    submit_to = given.get("turkSubmitTo", "").rstrip("/")
    if submit_to and submit_to not in settings.MTURK_ENDPOINTS[endpoint]["submit_origins"]:
        raise CannotServe(
            "bad_claims",
            gettext("This page was opened from an address we don't know. Please return the HIT."),
        )
    return Claims(
        assignment_id=given.get("assignmentId", "")[:64],
        hit_id=given.get("hitId", "")[:64],
        worker_id=given.get("workerId", "")[:64],
        submit_to=submit_to,
    )


def named_assignment(params: Mapping[str, str]) -> str:
    """Return the AssignmentId of MTurk's query, whoever sent it; "" where it has none that MTurk could have given."""
    named = _given(params).get("assignmentId", "")[:64]
    return named if is_entity_id(named) else ""


def _given(params: Mapping[str, str]) -> dict[str, str]:
    """Keys that arrive as `amp;hitId` are real traffic (Dallinger#1963)."""
    return {key.removeprefix("amp;"): value.strip() for key, value in params.items()}


@dataclass(frozen=True, slots=True)
class Opened:
    """An assignment, and its responses as `draw_responses` gave them where they were drawn just now.

    `is_newcomer`: its worker was not known before this.
    """

    assignment: Assignment
    drawn: list[Response]
    is_newcomer: bool = False

    def responses(self, batch: Batch) -> list[Response]:
        """Return what the page shows, in its order; read only where it was drawn before."""
        return by_place(self.drawn) or opened_responses(self.assignment, batch=batch)


def open_assignment(
    questionnaire: Questionnaire,
    *,
    claims: Claims,
    user_agent: str = "",
    address: str = "",
    is_new: bool = False,
) -> Opened:
    """Return the assignment that is claimed, with its orders drawn; opened anew for each AssignmentId.

    What was claimed under another AssignmentId is neither shown nor changed: nobody has said yet that both are one
    person's. `address` is the visitor's network address, "" where it is not known. `is_new`: a moment ago nobody had
    opened the HIT under this AssignmentId, so that it is not looked for before a lock is taken. Raises CannotServe; a
    worker who is turned away is asked to return the HIT and loses nothing by it. Who was excluded after they began may
    finish what they began.
    """
    hit = _check_claims(questionnaire, claims)
    if not is_new and (opened := _opened_earlier(questionnaire, claims)):
        return Opened(opened, [])  # a reload takes no lock
    claim = Assignment(
        hit=hit,
        assignment_id=claims.assignment_id,
        user_agent=NOT_XML.sub("", user_agent)[:255],
        claimed_from=claiming.origin(address),
    )
    try:
        return _opened(questionnaire, claim, worker_id=claims.worker_id)
    except IntegrityError as error:
        # The same worker at once on a sibling HIT, or with another HIT's AssignmentId.
        if any(is_about(error, model, name) for model, name in ONCE_EACH):
            raise CannotServe("seen_before", SEEN_BEFORE) from error
        raise


def _opened_earlier(questionnaire: Questionnaire, claims: Claims) -> Assignment | None:
    names = names_of(claims.worker_id)
    return _opened_before(len(names)).first(
        hit=questionnaire.hit_id,
        source=questionnaire.batch.endpoint,
        assignment_id=claims.assignment_id,
        **{f"name_{n}": name for n, name in enumerate(names)},
    )


@cache
def _opened_before(n_names: int) -> Statement[Assignment]:
    """Return the statement that finds a claim, opened by a worker with so many names."""
    names = [Hole(f"name_{n}", Worker._meta.get_field("worker_id")) for n in range(n_names)]

    def made() -> QuerySet[Assignment]:
        claimed = Assignment.objects.select_related("worker").filter(
            Exists(Response.objects.filter(assignment=OuterRef("pk"))),
            hit=Hole("hit", HIT._meta.pk),
            worker__source=Hole("source", Worker._meta.get_field("source")),
            worker__worker_id__in=names,
            assignment_id=Hole("assignment_id", Assignment._meta.get_field("assignment_id")),
        )
        return claimed.order_by("hit_id", "submitted_at", "pk")[:1]

    return Statement(made)


# Claims to a HIT, and a worker's rows of it.
HERE = Statement(
    lambda: Assignment.objects.filter(
        IS_CLAIM | Q(worker=Hole("worker", Worker._meta.pk)), hit=Hole("hit", HIT._meta.pk)
    )
)


def is_entity_id(text: str) -> bool:
    """Tell whether MTurk could have given this name: ASCII letters and digits."""
    return text.isascii() and text.isalnum()


def opened_responses(assignment: Assignment, *, batch: Batch) -> list[Response]:
    """Return the responses of an opened assignment of the batch in this worker's order, in one query.

    `shown_item` needs no more.
    """
    opened = contents_of(RESPONSES, OUTPUTS, PICTURES, assignment=assignment.pk)
    for response in opened:
        response.batch, response.assignment = batch, assignment
    return by_place(opened)


def opened_response(assignment: Assignment, *, batch: Batch, position: int) -> Response | None:
    """Return the one at a position as a draft needs it: `shown_item` without files needs no more."""
    for response in contents_of(RESPONSE_AT, OUTPUTS, assignment=assignment.pk, position=position):
        response.batch, response.assignment = batch, assignment
        return response
    return None


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
    return in_language(
        definition, next((code for code in BROWSERS.get() if is_read_in(definition, code)), page)
    )


def word_of(definition: Definition) -> str:
    """Return what an item is called where it is counted, in the survey type's own word if it has one."""
    return definition.item_word or gettext("Question")


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


def _check_claims(questionnaire: Questionnaire, claims: Claims) -> HIT:
    if questionnaire.hit is None:
        raise CannotServe(
            "not_published", gettext("This HIT is just being published. Please open it again in a moment.")
        )
    is_ours = claims.hit_id == questionnaire.hit.hit_id and not claims.is_preview
    if not is_ours or not is_entity_id(claims.worker_id) or not is_entity_id(claims.assignment_id):
        raise CannotServe(
            "bad_claims", gettext("This address does not belong to this HIT. Please open it from your queue.")
        )
    return questionnaire.hit


@transaction.atomic
def _opened(questionnaire: Questionnaire, claim: Assignment, *, worker_id: str) -> Opened:
    """Worker before questionnaire: the order in which `allocation` locks too."""
    claim.worker, is_newcomer = locked_worker_of(worker_id, source=questionnaire.batch.endpoint)
    if claim.worker.standing == Worker.Standing.EXCLUDED:
        raise CannotServe("excluded", EXCLUDED)
    _lock(questionnaire)
    here = HERE.all(worker=claim.worker_id, hit=claim.hit_id)
    if opened := _existing(claim, here):
        quota.keep(opened)
    else:
        claiming.make_room(claim, among=[one for one in here if one.is_claim])
        if not is_newcomer:
            _check_not_seen(questionnaire, claim)
        if pilots.took_part(claim.worker, batch=questionnaire.batch):
            raise CannotServe("seen_before", IN_PILOT)
        _check_share(questionnaire, claim)
        slot = _free_slot(questionnaire, claim.worker)
        insert([claim])
        if slot:
            quota.give(slot, assignment=claim)
    drawn = draw_responses(
        questionnaire, assignment=opened or claim, is_new=opened is None, is_newcomer=is_newcomer
    )
    reach("open.drawing")
    return Opened(opened or claim, drawn, is_newcomer)


def _lock(questionnaire: Questionnaire) -> None:
    """SQLite has no locks of rows: of it a transaction locks the whole."""
    if connection.features.has_select_for_update:
        Questionnaire.objects.select_for_update(no_key=True).values_list("pk").get(pk=questionnaire.pk)


def _existing(claim: Assignment, here: list[Assignment]) -> Assignment | None:
    """Return the row of this very claim. Who is known to have handed in this HIT can't open it once more."""
    theirs = [row for row in here if row.worker_id == claim.worker_id]
    rows = [row for row in theirs if not row.is_claim or row.assignment_id == claim.assignment_id]
    for row in rows:
        if row.assignment_id != claim.assignment_id or not crowd_of(row).has_market:
            raise CannotServe("seen_before", SEEN_BEFORE)
    return rows[0] if rows else None


def _check_not_seen(questionnaire: Questionnaire, claim: Assignment) -> None:
    """Somebody else's claim to be this worker closes no HIT to them, nor does their own of before a return."""
    if SEEN.rows(
        claimed_from=claim.claimed_from,
        batch=questionnaire.batch_id,
        worker=claim.worker_id,
        questionnaire=questionnaire.pk,
        hit=claim.hit_id,
    ):
        raise CannotServe("seen_before", SEEN_BEFORE)


def _seen() -> QuerySet[Response, Any]:
    """Return one of what counts as seen of a questionnaire's items; a claim to its own HIT does not."""
    claimed_from = Hole("claimed_from", Assignment._meta.get_field("claimed_from"))
    responses = Response.objects.filter(
        quota.is_borne_out(claimed_from, assignment="assignment__"),
        batch=Hole("batch", Batch._meta.pk),
        worker=Hole("worker", Worker._meta.pk),
        item__slots__questionnaire=Hole("questionnaire", Questionnaire._meta.pk),
    )
    elsewhere = responses.exclude(is_claim=True, assignment__hit=Hole("hit", HIT._meta.pk))
    return elsewhere.order_by().values_list("pk")[:1]


SEEN = Statement(_seen)


def _check_share(questionnaire: Questionnaire, claim: Assignment) -> None:
    if has_reached_cap(questionnaire.batch, claim=claim):
        raise CannotServe("share", SHARE_DONE.format(most=cap_of(questionnaire.batch)))


def _free_slot(questionnaire: Questionnaire, worker: Worker) -> AnnotationSlot | None:
    """Return one of the annotations still wanted of these items, where people who come by link share them."""
    if not quota.has_slots(questionnaire.batch):
        return None
    free = quota.free_slots(questionnaire.batch, worker=worker)
    root = questionnaire.sibling_of_id or questionnaire.pk
    if slot := quota.lock_free(free.filter(questionnaire=root)):
        return slot
    raise CannotServe("complete", ALL_IN)


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
    among = "" if is_alone else f"{word_of(definition)} {place}"
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
        alt = f"{name} {n}" if len(found) > 1 else name
        named = gettext("%(name)s (%(item)s)") % {"name": alt, "item": among} if among else alt
        yield ShownPicture.of(file, alt=named)


def _pictures_of(item: Item, definition: Definition, *, among: str) -> Iterator[ShownPicture]:
    pictures = [picture for picture in item.pictures.all() if not picture.block]
    if not definition.is_sequence:
        yield from _named_files(pictures, name=str(FILE_KINDS["picture"]), among=among)
        return
    for n, picture in enumerate(pictures, 1):
        yield ShownPicture.of(picture, alt=gettext("State %(n)d of %(of)d") % {"n": n, "of": len(pictures)})


def _shown_output(output: Output, item: Item, *, n: int, among: str, definition: Definition) -> ShownOutput:
    label = numbered(definition.output_label, n)
    if not definition.output_file_kind:
        return ShownOutput(code=output.code, label=label, text=output.text)
    files = tuple(_named_files(files_of(output, item), name=label, among=among))
    return ShownOutput(code=output.code, label=label, text="", kind=definition.output_kind, files=files)


def files_of(output: Output, item: Item) -> list[Picture]:
    """Return the files that an output is; none of one that is a text."""
    return [file for file in item.pictures.all() if file.block == f"{OF_OUTPUT}{output.system}"]
