"""Entries to planned items: what is empty, too long, given twice or not among the choices."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from urllib.parse import unquote

from surveys.protocols.definition import Definition
from surveys.studies.importing.plan import (
    Cell,
    Entry,
    Option,
    Plan,
    PlannedItem,
    PlannedOutput,
    PlannedPicture,
    Problem,
)
from surveys.studies.planted_checks import COLUMN, CheckError, read_check

SYSTEM_NAME = re.compile(r"[-a-zA-Z0-9_]{1,64}")
MARKUP = re.compile(r"<[a-zA-Z/!][^<>]*>|&(?:[a-zA-Z]+|#[0-9]+|#x[0-9a-fA-F]+);")
ID_LENGTH, ANSWER_LENGTH, PICTURE_NAME_LENGTH = 255, 2000, 500


def is_system_name(text: str) -> bool:
    return SYSTEM_NAME.fullmatch(text) is not None


def check_entries(entries: list[Entry], *, definition: Definition, taken: Collection[str]) -> Plan:
    """Return the items of all entries and every problem found in them."""
    problems: list[Problem] = []
    for entry in entries:
        problems.extend(_entry_problems(entry, definition=definition))
    find = _pair_problems if definition.outputs_per_item == 1 else _id_problems
    problems.extend(find(entries, taken=set(taken)))
    return Plan(tuple(planned_item(entry) for entry in entries), tuple(problems))


def named(
    entries: list[Entry], *, definition: Definition, taken: Collection[str], is_alone: bool
) -> list[Entry]:
    """Return the entries with what they are to be called: their id or, where it can't be theirs alone, id/system.

    Only a survey type that shows one output at a time makes several items of one id.
    """
    if definition.outputs_per_item > 1:
        return entries
    systems = {entry.outputs[0].system for entry in entries}
    is_free = not any(entry.id.text in taken for entry in entries)
    if is_alone and len(systems) == 1 and is_free:
        return entries
    return [replace(entry, external_id=entry.pair) for entry in entries]


def planned_item(entry: Entry) -> PlannedItem:
    """Return the item an entry makes; its choices are sorted by value, so that the order tells nothing."""
    gold = entry.gold.text if entry.gold else ""
    question = entry.question.text if entry.question else ""
    kept = sorted(_distinct(entry.options, gold=gold), key=lambda option: option.value)
    return PlannedItem(
        external_id=entry.external_id or entry.id.text,
        question=question,
        choices=[{"value": option.value, "label": option.cell.text} for option in kept],
        gold=gold,
        outputs=tuple(
            PlannedOutput(said.system, said.text.text, said.answer, said.model_correct)
            for said in entry.outputs
        ),
        pictures=tuple(PlannedPicture(unquote(cell.text), cell) for cell in entry.images),
        payload={"question": question, **entry.payload, **_planted(entry)},
        source_row=entry.source_row,
        subject=entry.id.text,
        references=entry.references,
    )


def _planted(entry: Entry) -> dict[str, str]:
    return {COLUMN: entry.check.text} if entry.check and entry.check.text else {}


def _check_problems(entry: Entry, *, definition: Definition) -> Iterator[Problem]:
    if not entry.check or not entry.check.text:
        return
    try:
        found = read_check(entry.check.text, definition=definition)
    except CheckError as error:
        yield entry.check.error(f"No planted check: {error}")
        return
    if found.system and found.system not in {said.system for said in entry.outputs}:
        yield entry.check.error(f'No planted check: "{found.system}" says nothing about this item.')


def _distinct(options: tuple[Option, ...], *, gold: str) -> list[Option]:
    """Return each label once; where two keys share a label, the right one stays."""
    by_label: dict[str, Option] = {}
    for option in options:
        if option.cell.text not in by_label or option.value == gold:
            by_label[option.cell.text] = option
    return list(by_label.values())


def _id_problems(entries: list[Entry], *, taken: set[str]) -> Iterator[Problem]:
    seen: dict[str, Cell] = {}
    for entry in entries:
        if not entry.id.text:
            continue
        if first := seen.get(entry.id.text):
            yield entry.id.error(
                f'The id "{entry.id.text}" stands in row {first.row}, column {first.column} already.'
            )
        elif entry.id.text in taken:
            yield entry.id.error(f'The survey has an item "{entry.id.text}" already.')
        seen.setdefault(entry.id.text, entry.id)


def _pair_problems(entries: list[Entry], *, taken: set[str]) -> Iterator[Problem]:
    """Say which outputs come twice in a batch file or are in the survey; the long layout has told of its own."""
    seen: dict[str, Cell] = {}
    for entry in entries:
        if first := seen.get(entry.pair):
            yield entry.id.error(
                f'The id "{entry.id.text}" stands in row {first.row}, column {first.column} already.'
            )
        elif entry.id.text and entry.pair in taken:
            system = entry.outputs[0].system
            yield entry.id.error(f'The survey has an output by "{system}" on item "{entry.id.text}" already.')
        elif entry.id.text:
            seen[entry.pair] = entry.id


def _entry_problems(entry: Entry, *, definition: Definition) -> Iterator[Problem]:
    yield from _empty_problems(entry)
    yield from _length_problems(entry)
    yield from _choice_problems(entry, definition=definition)
    yield from _check_problems(entry, definition=definition)
    for cell in dict.fromkeys(_shown_cells(entry)):
        if token := MARKUP.search(cell.text):
            yield cell.warning(
                f'The text holds "{token.group()[:40]}", which annotators will see as it stands.'
            )


def _shown_cells(entry: Entry) -> Iterator[Cell]:
    if entry.question:
        yield entry.question
    yield from (option.cell for option in entry.options)
    yield from (said.text for said in entry.outputs)


def _empty_problems(entry: Entry) -> Iterator[Problem]:
    gold = (entry.gold,) if entry.gold else ()
    for cell in dict.fromkeys((entry.id, *gold, *entry.images, *_shown_cells(entry))):
        if not cell.text:
            yield cell.error("The cell is empty.")
    for cell in entry.images:
        if "\0" in unquote(cell.text):
            yield cell.error("The file name holds a NUL character.")


def _length_problems(entry: Entry) -> Iterator[Problem]:
    limits = [(entry.id, entry.external_id or entry.id.text, ID_LENGTH)]
    limits += [(cell, cell.text, PICTURE_NAME_LENGTH) for cell in entry.images]
    limits += [(option.cell, option.value, ANSWER_LENGTH) for option in entry.options]
    limits += [(said.text, said.answer, ANSWER_LENGTH) for said in entry.outputs]
    limits += [(entry.gold, entry.gold.text, ANSWER_LENGTH)] if entry.gold else []
    for cell, text, limit in limits:
        if len(text) > limit:
            yield cell.error(f"The text has {len(text)} characters; at most {limit} are allowed.")


def _choice_problems(entry: Entry, *, definition: Definition) -> Iterator[Problem]:
    if not definition.answer or not entry.gold:
        return
    fixed = [choice.value for choice in definition.answer.choices]
    values = fixed or [option.value for option in entry.options]
    if entry.gold.text and entry.gold.text not in values:
        yield entry.gold.error(
            f'The answer "{entry.gold.text[:80]}" is not among the choices: {", ".join(values)[:200]}.'
        )
    if not fixed:
        yield from _repetition_problems(entry)


def _repetition_problems(entry: Entry) -> Iterator[Problem]:
    seen: set[str] = set()
    for option in entry.options:
        if option.cell.text and option.cell.text in seen:
            yield option.cell.warning(
                f'The choice "{option.cell.text[:80]}" is given twice; it is shown once.'
            )
        seen.add(option.cell.text)
    if len(seen - {""}) < 2 and entry.gold:
        yield entry.options[-1].cell.error("The question needs at least two different choices.")
