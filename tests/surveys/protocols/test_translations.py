"""The section `translations` of a protocol's document: what it may say, and sentences on what it may not."""

import json

import pytest

from surveys.protocols.definition import Definition, TranslatedText, Translation
from surveys.protocols.documents import DocumentError, read
from surveys.protocols.languages import gaps, in_language

ORIGINAL = """\
protocol: captions
name: Captions
version: 1
title: Judge captions
question_label: ""
output_label: Caption {n}
outputs_per_item: 1
headline: faithful
scales:
  extent:
    - {value: 1, label: 1, score: 1, description: Not at all}
    - {value: 2, label: 2, score: 2, description: Completely}
criteria:
  - {key: faithful, label: How faithful?, help: Look twice., choices: extent}
  - {key: fluent, label: How fluent?, choices: extent}
  - key: faults
    label: What is wrong?
    is_checklist: true
    choices: [{value: yes, label: A lot}, {value: other, label: Something else}]
  - {key: people, label: How many people?, number: {unit: people}}
blocks: [{column: article, label: Article}]
pictures: none
instructions: {summary: Read., steps: [One, Two]}
quiz:
  - {scene: A cat., question: What is it?, choices: [{value: a, label: A cat}], answer: a, feedback: Look.}
"""
FIRST = ORIGINAL.count("\n") + 3  # the line after "translations:" and the language
RUSSIAN = """\
    title: Оцените подписи
    output_label: Подпись {n}
    scales:
      extent: {1: {description: Совсем нет}, 2: {description: Полностью}}
    criteria:
      faithful: {label: Насколько верно?, help: Посмотрите дважды.}
      fluent: {label: Насколько гладко?, choices: {2: {description: Совершенно}}}
      faults: {label: Что не так?, choices: [Многое, Другое]}
      people: {label: Сколько людей?, number: {unit: чел.}}
    blocks: {article: Статья}
    instructions: {summary: Читайте., steps: [Раз, Два]}
    quiz:
      - {scene: Кошка., question: Кто это?, choices: {a: Кошка}, feedback: Смотрите.}
"""


def document(texts: str, *, language: str = "ru") -> str:
    return f"{ORIGINAL}translations:\n  {language}:\n{texts}"


def problems(text: str) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        read(text, name="c.yaml")
    return caught.value.problems


def test_a_document_says_each_text_in_another_language() -> None:
    definition = read(document(RUSSIAN), name="c.yaml")
    assert [gaps(definition, one) for one in definition.translations] == [[]]
    shown = in_language(definition, "ru")
    assert [c.label for c in shown.criteria] == [
        "Насколько верно?", "Насколько гладко?", "Что не так?", "Сколько людей?",
    ]  # fmt: skip
    assert shown.criteria[3].number is not None
    assert shown.criteria[3].number.unit == "чел."
    assert (shown.blocks[0].label, shown.quiz[0].choices[0].label) == ("Статья", "Кошка")


def test_a_scale_is_translated_once_for_all_questions_but_those_with_words_of_their_own() -> None:
    shown = in_language(read(document(RUSSIAN), name="c.yaml"), "ru")
    assert [[one.description for one in c.choices] for c in shown.criteria[:2]] == [
        ["Совсем нет", "Полностью"], ["Совсем нет", "Совершенно"],
    ]  # fmt: skip


def test_what_is_missing_or_empty_is_no_mistake_but_a_gap() -> None:
    definition = read(
        document("    title: Оцените\n    criteria: {fluent: {label: ''}}\n    quiz: [null]\n    blocks:\n"),
        name="c",
    )
    assert definition.translations == (Translation("ru", (TranslatedText(("title",), "Оцените"),)),)
    assert gaps(definition, definition.translations[0])[:3] == [
        ("output_label",), ("criteria", "faithful", "label"), ("criteria", "faithful", "help"),
    ]  # fmt: skip


def test_a_document_in_another_language_says_so() -> None:
    text = document("    title: Judge\n", language="en").replace("version: 1", "version: 1\nlanguage: ru")
    definition = read(text, name="c.yaml")
    assert (definition.language, in_language(definition, "en").title) == ("ru", "Judge")
    assert in_language(definition, "de").title.language == "ru"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("texts", "place", "sentence"),
    [
        ("criteria: {fluentt: x}", "criteria, fluentt",
         "The protocol has no such key. Do you mean “fluent”?"),
        ("criteria: {faults: {choices: [Раз]}}", "criteria, faults, choices",
         "The protocol has 2 here, the translation 1."),
        ("criteria: {faults: {choices: {maybe: Да}}}", "criteria, faults, choices, maybe",
         "The protocol has no such key. Known are: yes, other."),
        ("scales: {extent: [Раз, Два, Три]}", "scales, extent",
         "The protocol has 2 here, the translation 3."),
        ("scales: {extend: [Раз, Два]}", "scales, extend",
         "The protocol has no such key. Do you mean “extent”?"),
        ("criteria: {faults: {choices: {yes: {score: 3}}}}", "criteria, faults, choices, yes, score",
         "This is no text that people read, and is not translated. What is: label, description."),
        ("criteria: {faithful: {choices: {1: {label: [1]}}}}", "criteria, faithful, choices, 1, label",
         "Here belongs text."),
        ("title: {de: x}", "title",
         "Here belongs text."),
        ("instructions: {steps: {1: Раз}}", "instructions, steps",
         "Here belongs a list, a line with “- ” for each."),
        ("instructions: {notes: [Раз]}", "instructions, notes",
         "The protocol itself has none."),
        ("answer: Что?", "answer",
         "The protocol itself has none."),
        ("question_label: Вопрос", "question_label",
         "The protocol itself says nothing here, so there is nothing to translate."),
        ("output_label: Подпись", "output_label",
         "{n}, the output's number, is missing."),
        ("output_label: '{n} {m}'", "output_label",
         "The only thing in braces is {n}, the output's number."),
        (f"instructions: {{steps: [{'Ы' * 10_001}, Два]}}", "instructions, steps 1",
         "The text has more than 10,000 characters."),
        (f"title: {'Ы' * 129}", "title",
         "A marketplace takes titles of up to 128 characters."),
        ('title: "a\\x07b"', "title",
         "The text holds a character that can't be shown."),
    ],
)  # fmt: skip
def test_what_fits_nothing_is_told_with_file_line_and_key(texts: str, place: str, sentence: str) -> None:
    assert problems(document(f"    {texts}\n")) == [
        f"c.yaml, line {FIRST}: translations, ru, {place}: {sentence}"
    ]


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("russian", "'russian' is no language, such as ru or pt-BR."),
        ("xx", "'xx' is no language, such as ru or pt-BR."),
        ("en", "The protocol itself is in this language."),
    ],
)
def test_a_translation_is_into_another_language(language: str, sentence: str) -> None:
    assert problems(document("    title: x\n", language=language)) == [
        f"c.yaml, line {FIRST - 1}: translations, {language}: {sentence}"
    ]


def test_a_language_stands_once_however_it_is_written() -> None:
    assert problems(document("    title: Раз\n  RU:\n    title: Два\n")) == [
        f"c.yaml, line {FIRST + 1}: translations, RU: This language stands here twice."
    ]


def test_the_language_of_a_document_is_one() -> None:
    said = [problems(f"language: {code}\n{ORIGINAL}") for code in ("klingonese", "RU")]
    assert said == [
        ["c.yaml, line 1: 'klingonese' is no language, such as en or pt-BR."],
        ["c.yaml, line 1: 'RU' is written ru."],
    ]


REGIONS = ("AR", "BE", "BR", "CA", "CH", "ES")
CODES = [f"{language}-{region}" for language in ("de", "es", "fr", "pt") for region in REGIONS]


def test_twenty_languages_are_the_most() -> None:
    text = ORIGINAL + "translations:\n" + "".join(f"  {code}: {{title: x}}\n" for code in CODES)
    assert problems(text)[0] == (
        f"c.yaml, line {FIRST + 19}: translations, {CODES[20]}: A protocol has up to 20 translations."
    )


def test_anchors_are_no_way_to_a_tree_without_end() -> None:
    assert problems(document("    instructions: &again {steps: *again}\n")) == [
        f"c.yaml, line {FIRST}: Anchors and aliases (& and *) are not taken."
    ]


def test_a_document_of_five_megabytes_is_not_read() -> None:
    assert problems(document(f"    title: {'Ы' * 5_000_000}\n")) == [
        "c.yaml: The file is larger than 500 kB."
    ]


def test_a_snapshot_keeps_translations_and_says_nothing_of_none() -> None:
    definition = read(document(RUSSIAN), name="c.yaml")
    assert Definition.from_snapshot(json.loads(json.dumps(definition.to_snapshot()))) == definition
    plain = read(ORIGINAL, name="c.yaml").to_snapshot()
    assert {"language", "translations"} & plain.keys() == set()
    assert Definition.from_snapshot(json.loads(json.dumps(plain))).language == "en"
