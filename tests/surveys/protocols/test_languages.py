"""Which texts people read, and in which language each of them is found."""

from copy import deepcopy
from dataclasses import fields, replace
from string import ascii_lowercase
from typing import get_type_hints

import pytest
from langcodes import Language, standardize_tag

from surveys.protocols.definition import Definition, TranslatedText, Translation
from surveys.protocols.languages import (
    PLAIN,
    PLAIN_RIGHT_TO_LEFT,
    READ,
    RIGHT_TO_LEFT,
    TextIn,
    direction,
    gaps,
    in_language,
    standard,
    texts_of,
)
from surveys.protocols.registry import get_definition

VQAX = replace(get_definition("evil-vqax"), translations=())
YES = ("criteria", "justifies", "choices", "yes", "label")
NO = ("criteria", "justifies", "choices", "no", "label")
# Names, values, files and formats of the study; what researchers and a paper's readers read; a part of the item's text.
NOT_READ = {
    "Definition": {
        "key", "name", "headline", "reference_system", "question_ending", "changes", "pictures", "language",
        "output_kind",
    },
    "Criterion": {"key", "exclusive", "aliases"},
    "Choice": {"value"},
    "Preference": {"key", "by"},
    "Spans": {"of", "missing_in"},
    "Block": {"column", "kind", "lang", "format"},
    "WorkedExample": {"picture"},
    "Passage": {"picture"},
    "QuizQuestion": {"answer"},
}  # fmt: skip


def translated(**texts: dict[tuple[str, ...], str]) -> Definition:
    """Return e-ViL in English with these texts: ru={place: text}, ru_RU for ru-RU."""
    return replace(
        VQAX,
        translations=tuple(
            Translation(lang.replace("_", "-"), tuple(TranslatedText(*one) for one in places.items()))
            for lang, places in texts.items()
        ),
    )


def labels(definition: Definition) -> list[tuple[str, str]]:
    choices = definition.criterion("justifies").choices
    return [(choice.label, getattr(choice.label, "language", "")) for choice in (choices[0], choices[-1])]


@pytest.mark.parametrize("kind", READ, ids=lambda kind: kind.__name__)
def test_of_every_text_it_is_known_whether_people_read_it(kind: type) -> None:
    written = {
        name for name, hint in get_type_hints(kind).items() if "str" in str(hint) or "Literal" in str(hint)
    }
    read = {name for name in READ[kind] if name in written}
    assert written - read == NOT_READ.get(kind.__name__, set())
    assert set(READ[kind]) <= {field.name for field in fields(kind)}


def test_the_original_is_returned_as_it_is_where_it_is_wanted() -> None:
    assert in_language(VQAX, "en-gb") is VQAX
    assert in_language(translated(ru={YES: "Да"}), "en") == translated(ru={YES: "Да"})
    assert in_language(VQAX, "en", page="en-gb") is VQAX
    assert labels(in_language(VQAX, "en", page="ru")) == [("Yes", "en"), ("No", "en")]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("ru-ru", [("Да (РФ)", "ru-RU"), ("Нет", "ru")]),
        ("ru", [("Да", "ru"), ("Нет", "ru")]),
        ("ru-Latn", [("Да", "ru"), ("Нет", "ru")]),
        ("pt", [("Sim", "pt-BR"), ("No", "en")]),
        ("de", [("Yes", "en"), ("No", "en")]),
    ],
)
def test_a_text_is_looked_for_in_the_nearest_language_first(code: str, found: list[tuple[str, str]]) -> None:
    definition = translated(ru={YES: "Да", NO: "Нет"}, ru_RU={YES: "Да (РФ)"}, pt_BR={YES: "Sim"})
    assert labels(in_language(definition, code)) == found


def test_what_is_stored_is_the_same_in_every_language() -> None:
    definition = translated(ru={place: f"Ы {text}" for place, text in texts_of(VQAX).items()})
    shown = in_language(definition, "ru")
    assert (shown.language, shown.translations) == ("ru", ())
    assert shown.instructions.steps[0] == f"Ы {VQAX.instructions.steps[0]}"
    unread = replace(in_language(shown, "en"), **{name: getattr(VQAX, name) for name in READ[Definition]})
    assert replace(unread, language="en") == VQAX
    assert [(c.key, c.values, [one.score for one in c.choices]) for c in shown.criteria] == [
        (c.key, c.values, [one.score for one in c.choices]) for c in VQAX.criteria
    ]


def test_what_is_empty_in_the_original_stays_empty() -> None:
    shown = in_language(translated(ru={("criteria", "justifies", "help"): "Лишнее"}), "ru")
    assert shown.criterion("justifies").help == ""


def test_gaps_are_places_with_words_that_a_translation_leaves_out() -> None:
    vtt = replace(get_definition("vtt"), translations=())
    given = {place: "Ы" for place in texts_of(vtt) if place != ("criteria", "fluency", "help")}
    given = {place: text for place, text in given.items() if place[-3:] != ("choices", "5", "label")}
    translation = Translation("ru", tuple(TranslatedText(*one) for one in given.items()))
    assert gaps(vtt, translation) == [("criteria", "fluency", "help")]  # the label 5 is a numeral


def test_a_label_keeps_its_language_when_it_is_numbered() -> None:
    label = TextIn("Объяснение {n}", "ru").replace("{n}", "2")
    assert (label, label.language) == ("Объяснение 2", "ru")


def test_a_definition_in_another_language_is_copied_with_its_languages() -> None:
    copied = deepcopy(in_language(translated(ru={YES: "Да"}), "ru"))
    assert labels(copied) == [("Да", "ru"), ("No", "en")]


@pytest.mark.parametrize(
    ("tag", "code"),
    [("ru", "ru"), ("RU-ru", "ru-RU"), ("zh-hant", "zh-Hant"), ("sr-Latn-RS", "sr-Latn-RS"), ("english", ""),
     ("xx", ""), ("", ""), ("en_US", ""), ("und", ""), ("ru<script>", ""), ("e", "")],
)  # fmt: skip
def test_a_code_is_written_as_the_standard_writes_it(tag: str, code: str) -> None:
    assert standard(tag) == code


def test_codes_of_two_letters_are_those_of_the_tables() -> None:
    codes = {first + second for first in ascii_lowercase for second in ascii_lowercase}
    assert {
        code for code in codes if standardize_tag(code) == code and Language.get(code).is_valid()
    } == PLAIN
    scripts = {code: Language.get(code).maximize().script for code in PLAIN}
    assert {code for code, script in scripts.items() if script in RIGHT_TO_LEFT} == PLAIN_RIGHT_TO_LEFT


@pytest.mark.parametrize(
    ("code", "way"),
    [("ar-EG", "rtl"), ("he", "rtl"), ("fa", "rtl"), ("ckb", "rtl"), ("az-Arab", "rtl"), ("az", "ltr"), ("ru", "ltr"),
     ("?", "ltr")],
)  # fmt: skip
def test_the_direction_is_that_of_the_script(code: str, way: str) -> None:
    assert direction(code) == way
