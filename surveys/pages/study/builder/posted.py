"""What a posted form changes in its document: the fields that differ from what was shown, then what a button does."""

from copy import deepcopy

from django.http import QueryDict

from surveys.pages.study.builder.fields import NAMES, OF_WAYS, asked_of, new_entry
from surveys.pages.study.builder.form import form_of
from surveys.pages.study.builder.parts import Entries, Entry, Field, Group, Part, id_of
from surveys.pages.study.builder.renamed import followed
from surveys.protocols.criteria import Choice, Criterion, Path
from surveys.protocols.definition import Definition
from surveys.protocols.translations import SCALES, SECTION
from surveys.protocols.trees import Tree, added, at, copied, mapped, moved, put, removed

Document = dict[str, Tree]


class UnknownAct(ValueError):
    """A button that this form does not have."""


def changed(tree: Document, data: QueryDict) -> Document:
    """Return the document with every field that was changed; what was left alone stays to the letter."""
    after = tree
    for one in form_of(tree).fields:
        if one.name in data:
            after = _with_field(after, one, data)
    return followed(tree, after)


def _with_field(tree: Document, one: Field, data: QueryDict) -> Document:
    if one.kind == "ticks":
        values = [value for value in data.getlist(one.name) if value]
        return tree if values == list(one.held) else _conditioned(tree, one.path[:-1], values=values)
    text = (data.get(one.name) or "").replace("\r\n", "\n").strip()
    if text == one.value.strip():
        return tree
    if one.path == ("preference", "by"):
        return _by(tree, text)
    if "asked_if" in one.path:
        return put(tree, one.path[:-1], {"question": text} if text else None)
    return put(mapped(tree, one.path[:-1]), one.path, _value(one, text))


def _by(tree: Document, way: str) -> Document:
    """Let outputs be compared in another way, with what only that asks for and without what it does not."""
    tree = put(tree, ("preference", "by"), way)
    for other, keys in OF_WAYS.items():
        for key, text in keys.items():
            held = at(tree, ("preference", key))
            tree = put(tree, ("preference", key), (held or text or None) if other == way else None)
    return tree


def _value(one: Field, text: str) -> "Tree | None":
    """Return what is written for a field; None where the key is better left out."""
    if one.kind == "lines":
        return [line.strip() for line in text.split("\n") if line.strip()] or (
            [] if one.is_required else None
        )
    return text if text or one.is_required else None


def _conditioned(tree: Document, path: Path, *, values: list[str]) -> Document:
    """Let a question depend on these answers, ticked ones of a checklist or one of a scale."""
    condition, criteria = at(tree, path), at(tree, ("criteria",))
    if not isinstance(condition, dict):
        return tree
    question = condition.get("question", "")
    entries = criteria if isinstance(criteria, list) else []
    of = next((one for one in entries if isinstance(one, dict) and one.get("key") == question), {})
    key = "ticked" if isinstance(of, dict) and of.get("is_checklist") in ("true", "yes") else "is"
    return put(tree, path, {"question": question, **({key: list(values)} if values else {})})


def _keys(tree: Document) -> list[str]:
    criteria = at(tree, ("criteria",))
    entries = criteria if isinstance(criteria, list) else []
    return [str(one.get("key", "")) if isinstance(one, dict) else "" for one in entries]


def _languages(tree: Document) -> list[str]:
    section = tree.get(SECTION)
    return list(section) if isinstance(section, dict) else []


def acted(tree: Document, act: str) -> tuple[Document, str]:
    """Return the document after a button, and the id of what the page is to go on with. Raises UnknownAct.

    `act` is what the button does, the place it is about and, of some, which: "add criteria scale".
    """
    what, _, rest = act.partition(" ")
    name, _, which = rest.partition(" ")
    part = next((one for one in form_of(tree).parts if one.name == name), None)
    if part is None or what not in ACTS:
        raise UnknownAct(act)
    return ACTS[what](tree, part, which)


def _add(tree: Document, part: Part, which: str) -> tuple[Document, str]:
    if not isinstance(part, Entries | Group) or which not in dict(part.adds):
        raise UnknownAct(which)
    if isinstance(part, Group):
        return _set(tree, part, which)
    held = at(tree, part.path)
    entries = held if isinstance(held, list) else []
    of = _type_at(part.path)
    taken = [*_keys(tree), *_preferred(tree)] if of is Criterion else []
    after = added(tree, part.path, new_entry(of, which, among=entries, taken=taken))
    return after, id_of((*part.path, len(entries) + 1))


def _set(tree: Document, group: Group, which: str) -> tuple[Document, str]:
    if group.is_set:
        raise UnknownAct(which)
    entry = new_entry(_type_at(group.path), which, among=(), taken=_keys(tree))
    return put(tree, group.path, entry), group.id


def _preferred(tree: Document) -> list[str]:
    name = at(tree, ("preference", "key"))
    return [name] if isinstance(name, str) else []


def _type_at(path: Path) -> type:
    """Return what the group or the entries at a place are."""
    if path[0] == SCALES:
        return Choice
    kind: type = Definition
    for key in (part for part in path if isinstance(part, str)):
        kind = next(one.of for one in asked_of(kind) if one.key == key and one.of)
    return kind


def _remove(tree: Document, part: Part, which: str) -> tuple[Document, str]:
    if isinstance(part, Entry) or (isinstance(part, Group) and part.is_optional):
        after = removed(tree, part.path)
        return _forgotten(tree, after, part.path), id_of(
            part.path[:-1] if isinstance(part, Entry) else part.path
        )
    raise UnknownAct(part.name)


def _forgotten(before: Document, after: Document, path: Path) -> Document:
    """Leave out the translations of a question that is gone."""
    if path[0] == "criteria" and len(path) == 2:
        for key in set(_keys(before)) - set(_keys(after)):
            for code in _languages(after):
                after = put(after, (SECTION, code, "criteria", key), None)
    return after


def _up(tree: Document, part: Part, which: str) -> tuple[Document, str]:
    return _moved(tree, part, by=-1)


def _down(tree: Document, part: Part, which: str) -> tuple[Document, str]:
    return _moved(tree, part, by=1)


def _moved(tree: Document, part: Part, *, by: int) -> tuple[Document, str]:
    if not isinstance(part, Entry):
        raise UnknownAct(part.name)
    n = min(max(part.n + by, 1), part.of)
    return moved(tree, part.path, by=by), id_of((*part.path[:-1], n))


def _copy(tree: Document, part: Part, which: str) -> tuple[Document, str]:
    if not isinstance(part, Entry):
        raise UnknownAct(part.name)
    of = _type_at(part.path)
    names = [NAMES[of]] if of in NAMES else []
    return copied(tree, part.path, free=names), id_of((*part.path[:-1], part.n + 1))


def _own(tree: Document, part: Part, which: str) -> tuple[Document, str]:
    """Give a question a list of its own in the place of the shared one."""
    if not isinstance(part, Entries) or not part.scale:
        raise UnknownAct(part.name)
    return put(tree, part.path, deepcopy(at(tree, (SCALES, part.scale)))), part.id


def _share(tree: Document, part: Part, which: str) -> tuple[Document, str]:
    """Let a question have a shared list in the place of its own."""
    if not isinstance(part, Entries) or which not in part.scales:
        raise UnknownAct(which)
    return put(tree, part.path, which), part.id


ACTS = {"add": _add, "remove": _remove, "up": _up, "down": _down, "copy": _copy, "own": _own, "share": _share}
