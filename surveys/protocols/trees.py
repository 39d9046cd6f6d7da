"""A protocol's document as a tree that a form edits: mappings, lists and texts, from YAML and back to YAML.

What is read of the one that was written is what was read of the first, to the letter; comments do not survive.
"""

import re
from collections.abc import Container, Sequence
from copy import deepcopy
from typing import TypeAlias

import yaml

from surveys.protocols.criteria import Path
from surveys.protocols.documents import DocumentError, composed

Tree: TypeAlias = "dict[str, Tree] | list[Tree] | str"
PLAIN = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,9})?|true|false|yes|no")
WIDTH = 110
MOST_IN_A_ROW = 4  # scalars of a mapping that is written on one line
MOST_ROW = 100  # characters of it


def tree_of(text: str | bytes, *, name: str) -> dict[str, Tree]:
    """Return a document's tree, in which nothing is an empty text. DocumentError where it can't be told apart."""
    return _mapping(composed(text, name=name), name)


def _tree(node: yaml.Node, name: str) -> Tree:
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, name)
    if isinstance(node, yaml.SequenceNode):
        return [_tree(one, name) for one in node.value]
    return "" if node.tag == "tag:yaml.org,2002:null" else str(node.value)


def _mapping(node: yaml.MappingNode, name: str) -> dict[str, Tree]:
    entries: dict[str, Tree] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value in entries:
            line = key.start_mark.line + 1
            raise DocumentError([f"{name}, line {line}: A key is a word, and stands once."])
        entries[key.value] = _tree(value, name)
    return entries


def written(tree: Tree) -> str:
    """Return a tree as the text of a document."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return str(yaml.serialize(_node(tree), Dumper=dumper, allow_unicode=True, width=WIDTH))


def _node(tree: Tree) -> yaml.Node:
    if isinstance(tree, dict):
        pairs = [(_scalar(key), _node(value)) for key, value in tree.items()]
        return yaml.MappingNode("tag:yaml.org,2002:map", pairs, flow_style=_is_row(tree))
    if isinstance(tree, list):
        return yaml.SequenceNode("tag:yaml.org,2002:seq", [_node(one) for one in tree], flow_style=not tree)
    return _scalar(tree)


def _is_row(tree: dict[str, Tree]) -> bool:
    """Tell whether a mapping is short enough for one line, as a choice is."""
    texts = [value for value in tree.values() if isinstance(value, str) and "\n" not in value]
    is_short = sum(map(len, [*tree, *texts])) <= MOST_ROW
    return not tree or (is_short and len(texts) == len(tree) <= MOST_IN_A_ROW and "value" in tree)


def _scalar(text: str) -> yaml.ScalarNode:
    """A number and a truth are written as what they are; what is a text to YAML is quoted where it has to be."""
    if PLAIN.fullmatch(text):
        tag = yaml.SafeLoader("").resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
        return yaml.ScalarNode(tag, text)
    return yaml.ScalarNode("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


def at(tree: Tree, path: Path) -> "Tree | None":
    """Return what stands at a place, None where nothing does. Numbers count from 1."""
    for part in path:
        if isinstance(tree, dict) and isinstance(part, str) and part in tree:
            tree = tree[part]
        elif isinstance(tree, list) and isinstance(part, int) and 0 < part <= len(tree):
            tree = tree[part - 1]
        else:
            return None
    return tree


def mapped(tree: dict[str, Tree], path: Path) -> dict[str, Tree]:
    """Return the tree with a mapping at a place; what stands there otherwise is replaced, a text becomes its label."""
    held = at(tree, path)
    if isinstance(held, dict) or held is None:
        return tree
    changed = deepcopy(tree)
    around, key = at(changed, path[:-1]), path[-1]
    entry: dict[str, Tree] = {"label": held} if isinstance(held, str) and held else {}
    if isinstance(around, list) and isinstance(key, int):
        around[key - 1] = entry
    elif isinstance(around, dict) and isinstance(key, str):
        around[key] = entry
    return changed


def put(tree: dict[str, Tree], path: Path, value: "Tree | None") -> dict[str, Tree]:
    """Return the tree with a value at a key of a mapping that is there, or without that key (None)."""
    changed = deepcopy(tree)
    around, key = at(changed, path[:-1]), path[-1]
    if isinstance(around, dict) and isinstance(key, str):
        if value is None:
            around.pop(key, None)
        else:
            around[key] = value
    return changed


def listed(tree: dict[str, Tree], path: Path) -> list[Tree]:
    """Return a list of the tree itself, begun where there is none yet; a new one where its place is no list's."""
    value = at(tree, path)
    if isinstance(value, list):
        return value
    around, key, begun = at(tree, path[:-1]), path[-1], list[Tree]()
    if isinstance(around, dict) and isinstance(key, str) and not value:
        around[key] = begun
    return begun


def added(tree: dict[str, Tree], path: Path, entry: Tree) -> dict[str, Tree]:
    """Return the tree with one more entry at the end of a list."""
    changed = deepcopy(tree)
    listed(changed, path).append(deepcopy(entry))
    return changed


def removed(tree: dict[str, Tree], path: Path) -> dict[str, Tree]:
    """Return the tree without an entry of a list, or a key; without the list too, if that was the last."""
    if not isinstance(n := path[-1], int):
        return put(tree, path, None)
    changed = deepcopy(tree)
    entries = listed(changed, path[:-1])
    if 0 < n <= len(entries):
        del entries[n - 1]
    return changed if entries else put(changed, path[:-1], None)


def moved(tree: dict[str, Tree], path: Path, *, by: int) -> dict[str, Tree]:
    """Return the tree with an entry of a list further up (-1) or down (1), as far as there is room."""
    changed = deepcopy(tree)
    entries, n = listed(changed, path[:-1]), int(path[-1]) - 1
    if 0 <= n < len(entries) and 0 <= n + by < len(entries):
        entries.insert(n + by, entries.pop(n))
    return changed


def copied(tree: dict[str, Tree], path: Path, *, free: Sequence[str] = ()) -> dict[str, Tree]:
    """Return the tree with a copy of an entry after it; its names, the keys `free`, are made new ones."""
    changed = deepcopy(tree)
    entries, n = listed(changed, path[:-1]), int(path[-1]) - 1
    if not 0 <= n < len(entries):
        return changed
    copy = deepcopy(entries[n])
    if isinstance(copy, dict):
        for key in free:
            if isinstance(name := copy.get(key), str):
                copy[key] = new_name(name, [one.get(key) for one in entries if isinstance(one, dict)])
    entries.insert(n + 1, copy)
    return changed


def new_name(name: str, taken: Container[object], *, between: str = "_") -> str:
    """Return a name that nothing has yet: fluency_2 where there is a fluency."""
    stem = re.sub(rf"{between}\d+$", "", name)
    n = 2
    while f"{stem}{between}{n}" in taken:
        n += 1
    return f"{stem}{between}{n}"
