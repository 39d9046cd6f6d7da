"""The annotator's page with nowhere to send it: of a draft, with a few items beside it, or of an item of a study."""

from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, TypeVar

from django.http import HttpResponse
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils import translation

from surveys.answering.presentation import (
    ShownBlock,
    ShownItem,
    ShownOutput,
    ShownPicture,
    shown_definition,
    trial_item,
)
from surveys.models import Batch, Item, Output, Picture, Survey
from surveys.pages.answering import consent
from surveys.pages.answering.hit_form import HitForm
from surveys.pages.answering.styles import style_sources
from surveys.pages.answering.work_page import pay_rule, time_allowed
from surveys.protocols.definition import Definition
from surveys.publishing.terms.launch_form import last_of
from surveys.studies.importing.plan import Plan, PlannedItem
from surveys.studies.importing.reading import read_items, read_table
from surveys.studies.importing.roles import guessed, is_understood, roles_of, template_csv

MOST_ITEMS = 3
MOST_ITEMS_BYTES = 200_000
REWARD, MINUTES = Decimal("0.60"), 60
# Scripts of ours run, in a page of no origin that can send nothing and open nothing.
POLICY = (
    "default-src 'self'; img-src 'self' data:; connect-src 'none'; form-action 'none'; object-src 'none'; "
    "base-uri 'none'; frame-ancestors 'self'; sandbox allow-scripts"
)


@dataclass(frozen=True, slots=True)
class Trial:
    """Items to look at, what the file's problems are, and whether it is only an example of ours."""

    items: tuple[PlannedItem, ...]
    problems: tuple[str, ...] = ()
    is_example: bool = False
    columns: tuple[
        str, ...
    ] = ()  # by which a file's columns would have to go, where its names tell too little


def trial_of(items: str, *, definition: Definition) -> Trial:
    """Return the first items of a file, as an import would read it; an example where it has none."""
    plan = _plan(items, definition=definition) if items.strip() else Plan()
    problems = tuple(dict.fromkeys(str(problem) for problem in plan.errors))
    if plan.items and not problems:
        return Trial(plan.items[:MOST_ITEMS])
    example = read_items(template_csv(definition).encode(), definition=definition)
    columns = tuple(role.name for role in roles_of(definition) if role.is_required) if problems else ()
    return Trial(example.items[:1], problems, is_example=True, columns=columns)


def _plan(items: str, *, definition: Definition) -> Plan:
    data = items.encode()
    table = read_table(data)
    if is_understood(table, definition=definition):
        return read_items(data, definition=definition)
    return read_items(data, definition=definition, columns=guessed(table.header, definition=definition))


def preview(definition: Definition, *, trial: Trial, language: str) -> HttpResponse:
    """Return the page of a draft with all controls switched on, and nowhere to send what is answered."""
    batch = _batch(definition)
    with translation.override(language):
        shown = shown_definition(batch)
        items = [
            _with_pictures(trial_item(_item(planned), place=place, definition=shown))
            for place, planned in enumerate(trial.items, 1)
        ]
        return _page(batch, items)


def preview_of_item(item: Item) -> HttpResponse:
    """Return the page on which a stored item is asked about, as the newest batch asks it, marked as a preview."""
    survey = item.survey
    batch = last_of(survey) or _batch(survey.definition, survey=survey)
    with translation.override(batch.page_language or translation.get_language()):
        shown = trial_item(item, place=1, definition=shown_definition(batch))
        return _page(batch, [shown], previewed=item)


def _page(batch: Batch, items: list[ShownItem], *, previewed: Item | None = None) -> HttpResponse:
    form = HitForm(definition=shown_definition(batch), items=items)
    context: dict[str, Any] = {
        "batch": batch,
        "form": form,
        "instructions": form.definition.instructions,
        "time_allowed": time_allowed(batch),
        "pay_rule": pay_rule(batch),
        "is_first_visit": False,
        "is_beside_a_form": True,  # somebody is typing there: the page takes no focus by itself
        "action": "",
        "consent": consent.shown(batch) if batch.pk else None,
        "previewed": previewed,
    }
    response = HttpResponse(render_to_string("study/builder/preview.html", context))
    response["Content-Security-Policy"] = f"{style_sources()}; {POLICY}"
    response["X-Frame-Options"] = "SAMEORIGIN"
    response["Cache-Control"] = "no-store"
    return response


def _batch(definition: Definition, *, survey: Survey | None = None) -> Batch:
    """Return a batch of the type, that nobody stores, on terms as usual."""
    return Batch(
        survey=survey or Survey(name=definition.name, definition_key=definition.key),
        title=definition.title,
        snapshot=definition.to_snapshot(),
        reward=REWARD,
        assignment_duration=timedelta(minutes=MINUTES),
        review_policy=definition.review_policy,
    )


def _item(planned: PlannedItem) -> Item:
    """Return a planned item with its outputs and pictures at hand, as if it had been fetched with them."""
    item = Item(pk=1, external_id=planned.external_id, payload=planned.payload, choices=planned.choices)
    outputs = [
        Output(pk=n, item=item, system=output.system, text=output.text, code=f"o{n}")
        for n, output in enumerate(planned.outputs, 1)
    ]
    pictures = [
        Picture(pk=n, item=item, position=n, name=one.name, block=one.block)
        for n, one in enumerate(planned.pictures, 1)
    ]
    item._prefetched_objects_cache = {"outputs": outputs, "pictures": pictures}  # type: ignore[attr-defined]
    return item


Shown = TypeVar("Shown", ShownBlock, ShownOutput)


def _with_pictures(item: ShownItem) -> ShownItem:
    """Return the item with a stand-in for each picture, as only their names are known here."""
    return replace(
        item,
        pictures=tuple(_stand_in(picture) for picture in item.pictures),
        blocks=tuple(tuple(_block(block) for block in row) for row in item.blocks),
        outputs=tuple(_block(output) for output in item.outputs),
    )


def _block(block: Shown) -> Shown:
    if block.kind != "pictures":
        return block
    return replace(block, files=tuple(_stand_in(picture) for picture in block.files))


def _stand_in(picture: ShownPicture) -> ShownPicture:
    return replace(picture, url=static("study/picture.svg"), width=640, height=480)
