"""METEOR beside the vectors, with their thesaurus."""

from typing import Any

import pytest

from metrics.thesaurus import ListedThesaurus
from tests.metrics.vectors import deviations

UNREPRODUCED = {
    "captioning_meteor": {"derivation"},
    "visual_qa_meteor": {"true_synonym", "hypernym_forward", "derivation"},
}
"""Where the competition's code looks up hypernyms and derivations in place of synonyms."""


@pytest.fixture
def thesaurus(vectors: dict[str, Any]) -> ListedThesaurus:
    synsets = vectors["thesaurus_fixture"]["synsets"]
    return ListedThesaurus(
        ((key, lemma) for key, synset in synsets.items() for lemma in synset["lemmas"]), name="fixture"
    )


@pytest.mark.parametrize("name", UNREPRODUCED)
def test_every_vector_of_the_document(vectors: dict[str, Any], thesaurus: ListedThesaurus, name: str) -> None:
    assert deviations(vectors[name]["cases"], name, "document", thesaurus=thesaurus) == {}


@pytest.mark.parametrize("name", UNREPRODUCED)
def test_every_vector_of_the_code_but_its_thesaurus(
    vectors: dict[str, Any], thesaurus: ListedThesaurus, name: str
) -> None:
    found = deviations(vectors[name]["cases"], name, "reference", thesaurus=thesaurus)
    assert set(found) == UNREPRODUCED[name]
