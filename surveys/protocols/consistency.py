"""What in a definition contradicts itself, in sentences."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from surveys.protocols.definition import Choice, Criterion, Definition

RESERVED = {"answer", "seconds", "comment", "skip"}  # names of other fields on the HIT's form


def problems_of(definition: "Definition") -> Iterator[str]:
    """Yield a sentence about each contradiction; nothing if the definition holds together."""
    yield from _names(definition)
    yield from _headline(definition)
    for criterion in definition.criteria:
        yield from _criterion(criterion)
    yield from _outputs(definition)
    yield from _review(definition)
    yield from _quiz(definition)
    yield from _choices("The list of reasons to skip", definition.skip_reasons)


def _names(definition: "Definition") -> Iterator[str]:
    names = [name for criterion in definition.criteria for name in (criterion.key, *criterion.aliases)]
    names += [definition.preference.key] if definition.preference else []
    names += ["answer"] if definition.answer else []
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield f"two questions are called {name!r}."
    for criterion in definition.item_criteria:
        if criterion.key in RESERVED:
            yield f"a question about the item can't be called {criterion.key!r}."


def _headline(definition: "Definition") -> Iterator[str]:
    headline = {criterion.key: criterion for criterion in definition.criteria}.get(definition.headline)
    if headline is None:
        yield f"the headline {definition.headline!r} is not one of its criteria."
    elif not headline.is_scale:
        kind = "checklist" if headline.is_checklist else "text"
        yield f"the headline {headline.key!r} is a {kind}, which has no mean."
    elif not headline.per_output:
        yield f"the headline {headline.key!r} is about the item, so it can't compare systems."


def _criterion(criterion: "Criterion") -> Iterator[str]:
    name = f"criterion {criterion.key!r}"
    yield from _choices(name, criterion.choices)
    if criterion.is_checklist and criterion.is_text:
        yield f"{name} can't be a checklist and a text."
    if criterion.is_text == bool(criterion.choices):
        yield f"{name} is a text and has choices." if criterion.is_text else f"{name} has no choices."
    if criterion.exclusive and not (criterion.is_checklist and criterion.exclusive in criterion.values):
        yield f"{name} has no choice {criterion.exclusive!r} to be exclusive."
    if criterion.is_scale and any(choice.score is None for choice in criterion.choices):
        yield f"{name} has choices without a score."


def _choices(name: str, choices: "Sequence[Choice]") -> Iterator[str]:
    values = [choice.value for choice in choices]
    if len(set(values)) < len(values):
        yield f"{name} lists a value twice."


def _outputs(definition: "Definition") -> Iterator[str]:
    if definition.outputs_per_item < 1:
        yield "an item without outputs leaves nothing to judge."
    if definition.preference and definition.outputs_per_item < 2:
        yield "a preference needs at least two outputs to compare."
    if definition.is_sequence and definition.outputs_per_item != 1:
        yield "a sequence shows one output between its states."


def _review(definition: "Definition") -> Iterator[str]:
    if definition.minimum_correct and definition.answer is None:
        yield "its review policy counts right answers, but it asks for no answer that has a gold one."
    if not 0 <= definition.minimum_correct <= definition.items_per_hit:
        yield f"nobody can have {definition.minimum_correct} of {definition.items_per_hit} answers right."


def _quiz(definition: "Definition") -> Iterator[str]:
    for n, question in enumerate(definition.quiz, 1):
        yield from _choices(f"quiz question {n}", question.choices)
        if question.answer not in [choice.value for choice in question.choices]:
            yield f"the right answer of quiz question {n} is not one of its choices."
