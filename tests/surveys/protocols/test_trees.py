"""The tree of a protocol's document: what a form does to it, and that writing it loses nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surveys.protocols import documents
from surveys.protocols.documents import DocumentError
from surveys.protocols.registry import BUILTIN, ORDER
from surveys.protocols.trees import (
    added,
    at,
    copied,
    moved,
    new_name,
    put,
    removed,
    tree_of,
    written,
)

TREE = {"title": "Judge", "criteria": [{"key": "a", "label": "A"}, {"key": "b", "label": "B"}]}
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n"), max_size=60)
TREES = st.recursive(
    TEXTS
    | st.sampled_from(["1", "-2.50", "yes", "null", "~", "1e3", "12:30", "# no", "- a", "{n}", "!x", "&a"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), inner)
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("key", ORDER)
def test_a_type_that_is_written_again_says_the_same(key: str) -> None:
    text = (BUILTIN / f"{key}.yaml").read_bytes()
    again = written(tree_of(text, name="a.yaml"))
    assert documents.read(again, name="a.yaml") == documents.read(text, name="a.yaml")


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), TREES, min_size=1))
def test_any_tree_is_read_as_it_was_written(tree: dict) -> None:
    assert tree_of(written(tree), name="a.yaml") == tree


def test_a_key_that_stands_twice_has_no_tree() -> None:
    with pytest.raises(DocumentError) as caught:
        tree_of("title: a\ntitle: b\n", name="a.yaml")
    assert caught.value.problems == ["a.yaml, line 2: A key is a word, and stands once."]


def test_what_stands_at_a_place() -> None:
    assert at(TREE, ("criteria", 2, "label")) == "B"
    assert [at(TREE, path) for path in [("criteria", 3), ("criteria", 0), ("title", "x"), ("x",)]] == [
        None
    ] * 4


def test_changes_leave_the_tree_as_it_was() -> None:
    kept = written(TREE)
    put(TREE, ("title",), "Other")
    added(TREE, ("criteria",), {"key": "c"})
    removed(TREE, ("criteria", 1))
    moved(TREE, ("criteria", 1), by=1)
    copied(TREE, ("criteria", 1))
    assert written(TREE) == kept


def test_entries_are_added_moved_copied_and_removed() -> None:
    def keys(tree: dict) -> list[str]:
        return [one["key"] for one in tree.get("criteria", [])]

    assert keys(added(TREE, ("criteria",), {"key": "c"})) == ["a", "b", "c"]
    assert keys(moved(TREE, ("criteria", 1), by=1)) == ["b", "a"]
    assert keys(moved(TREE, ("criteria", 1), by=-1)) == ["a", "b"]
    assert keys(moved(TREE, ("criteria", 2), by=1)) == ["a", "b"]
    assert keys(copied(TREE, ("criteria", 1), free=["key"])) == ["a", "a_2", "b"]
    assert keys(removed(TREE, ("criteria", 1))) == ["b"]
    assert removed(removed(TREE, ("criteria", 1)), ("criteria", 1)) == {"title": "Judge"}


def test_a_list_is_begun_and_a_text_is_none() -> None:
    assert added({}, ("quiz",), {"scene": ""}) == {"quiz": [{"scene": ""}]}
    assert added({"quiz": ""}, ("quiz",), {"scene": ""}) == {"quiz": [{"scene": ""}]}
    assert added({"quiz": "a"}, ("quiz",), {"scene": ""}) == {"quiz": "a"}


def test_a_new_name_is_nobodys() -> None:
    assert new_name("a", {"a", "a_2"}) == "a_3"
    assert new_name("my-2", {"my-2"}, between="-") == "my-3"
