"""What an item and its pictures are called: by the survey type's own word, in the language of the page."""

import re

import pytest
from django.test import Client
from django.utils import translation

from surveys.answering.presentation import word_of
from surveys.protocols.languages import in_language
from surveys.protocols.registry import get_definition
from tests.builders import make_questionnaire
from tests.surveys.pages.hit_pages import open_page

WORDS = {
    "evil-vqax": ("Question", "Вопрос"),
    "evil-vcr": ("Question", "Вопрос"),
    "evil-esnlive": ("Statement", "Утверждение"),
    "xai": ("Explanation", "Объяснение"),
    "vtt": ("Texts", "Тексты"),
}


@pytest.mark.parametrize(("key", "words"), WORDS.items(), ids=WORDS)
def test_each_type_has_its_own_word(key: str, words: tuple[str, str]) -> None:
    definition = get_definition(key)
    said = []
    for language in ("en", "ru"):
        with translation.override(language):
            said.append(str(word_of(in_language(definition, language))))
    assert tuple(said) == words


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("n_items", "alts"),
    [(2, ["Picture (Explanation 1)", "Picture (Explanation 2)"]), (1, ["Picture"])],
    ids=["several", "one"],
)
def test_a_picture_is_named_by_its_item_where_there_are_others(n_items: int, alts: list[str]) -> None:
    questionnaire = make_questionnaire(definition=get_definition("xai"), n_items=n_items)
    page = open_page(Client(), questionnaire).content.decode()
    assert re.findall(r'<img [^>]*alt="([^"]+)"', page) == alts


@pytest.mark.django_db
def test_a_heading_reads_as_two_parts() -> None:
    questionnaire = make_questionnaire(n_items=2)
    page = open_page(Client(), questionnaire).content.decode()
    heading = re.search(r'<h2 id="i1-title"[^>]*>(.*?)</h2>', page, re.DOTALL)
    assert heading is not None
    said = re.sub(r"<[^>]+>", "", heading[1])
    assert re.fullmatch(r"1 of 2 · Question: \S.*", said)
