"""What is called by a name in a document, and follows where that name is changed.

A question is called by its key, a choice by its value and a block by its column: by conditions, the main question, the
quiz, marked texts and translations.
"""

from collections.abc import Iterator, Mapping

from surveys.pages.study.builder.parts import NAME_KEYS
from surveys.protocols.conditions import ANSWER
from surveys.protocols.criteria import Path
from surveys.protocols.translations import SCALES, SECTION
from surveys.protocols.trees import Tree, at, put

Document = dict[str, Tree]
Names = Mapping[str, str]  # {old: new}


def followed(before: Document, after: Document) -> Document:
    """Return the document after a change, in which everything calls by its new name what was renamed."""
    for path in _lists(before):
        if names := _renamed(_entries(before, path, "value"), _entries(after, path, "value")):
            for place in _calling_choices(before, path):
                after = _replaced(after, place, names)
    if names := _renamed(_entries(before, ("blocks",), "column"), _entries(after, ("blocks",), "column")):
        for place in _calling_columns(before):
            after = _replaced(after, place, names)
    if names := _renamed(question_names(before), question_names(after)):
        for place in _calling_questions(before):
            after = _replaced(after, place, names)
    return after


def question_names(tree: Document) -> list[str]:
    """Return what the questions are called, in their order, and last the preference."""
    return [*_entries(tree, ("criteria",), "key"), _text(at(tree, ("preference", "key")))]


def _renamed(before: list[str], after: list[str]) -> Names:
    """Return what got another name; not where one or the other is the name of two, so that it tells too little."""
    return {
        old: new
        for old, new in zip(before, after, strict=False)
        if old != new and old and new and before.count(old) == after.count(new) == 1
    }


def _lists(tree: Document) -> Iterator[Path]:
    """Yield where lists of choices stand."""
    yield from (("answer", "choices"), ("skip_reasons",))
    yield from (("quiz", n, "choices") for n in _numbers(tree, ("quiz",)))
    for n in _numbers(tree, ("criteria",)):
        yield ("criteria", n, "choices")
        yield from (("criteria", n, "spans", key) for key in ("severities", "categories"))
    scales = tree.get(SCALES)
    yield from ((SCALES, name) for name in (scales if isinstance(scales, dict) else ()))


def _calling_choices(tree: Document, path: Path) -> Iterator[Path]:
    """Yield the places that call the choices of a list by their values."""
    yield from _translated(tree, path)
    if path[0] == SCALES:
        for n in _numbers(tree, ("criteria",)):
            if at(tree, ("criteria", n, "choices")) == path[1]:
                yield from _calling_choices(tree, ("criteria", n, "choices"))
    elif path[0] == "quiz":
        yield (*path[:-1], "answer")
    elif path == ("answer", "choices"):
        yield from _conditions(tree, ANSWER)
    elif path[0] == "criteria" and path[2] == "choices":
        yield (*path[:-1], "exclusive")
        yield from _conditions(tree, _text(at(tree, (*path[:2], "key"))))


def _conditions(tree: Document, question: str) -> Iterator[Path]:
    for n in _numbers(tree, ("criteria",)):
        condition: Path = ("criteria", n, "asked_if")
        if at(tree, (*condition, "question")) == question:
            yield from ((*condition, key) for key in ("is", "ticked"))


def _calling_columns(tree: Document) -> Iterator[Path]:
    yield from _translated(tree, ("blocks",))
    for n in _numbers(tree, ("criteria",)):
        yield from (("criteria", n, "spans", key) for key in ("of", "missing_in"))


def _calling_questions(tree: Document) -> Iterator[Path]:
    yield ("headline",)
    yield from _translated(tree, ("criteria",))
    yield from (("criteria", n, "asked_if", "question") for n in _numbers(tree, ("criteria",)))


def _translated(tree: Document, path: Path) -> Iterator[Path]:
    """Yield where each translation has what stands at a place, if it has it by names and not in the same order."""
    section = tree.get(SECTION)
    for code in section if isinstance(section, dict) else ():
        here: Path = (SECTION, code)
        for n, step in enumerate(path, 1):
            is_by_name = isinstance(step, int) and isinstance(at(tree, here), dict)
            here = (*here, _name(at(tree, path[:n])) if is_by_name else step)
        if isinstance(at(tree, here), dict):
            yield here


def _name(entry: "Tree | None") -> str:
    return (
        next((_text(entry[key]) for key in NAME_KEYS if key in entry), "") if isinstance(entry, dict) else ""
    )


def _replaced(tree: Document, path: Path, names: Names) -> Document:
    held = at(tree, path)
    if isinstance(held, str):
        return put(tree, path, names[held]) if held in names else tree
    if isinstance(held, list):
        return put(tree, path, [names.get(one, one) if isinstance(one, str) else one for one in held])
    if isinstance(held, dict):
        return put(tree, path, {names.get(name, name): one for name, one in held.items()})
    return tree


def _entries(tree: Document, path: Path, key: str) -> list[str]:
    return [_text(at(tree, (*path, n, key))) for n in _numbers(tree, path)]


def _numbers(tree: Document, path: Path) -> range:
    held = at(tree, path)
    return range(1, len(held) + 1) if isinstance(held, list) else range(0)


def _text(held: "Tree | None") -> str:
    return held if isinstance(held, str) else ""
