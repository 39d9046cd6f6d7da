"""Protocol files: what is read, and the sentence for whatever can't be."""

import json
from pathlib import Path

import pytest

from surveys.protocols import schema
from surveys.protocols.criteria import Choice
from surveys.protocols.documents import DocumentError, read
from surveys.protocols.registry import BUILTIN, ORDER
from tests.protocols import VQAX, XAI

DOCS = Path(__file__).parents[3] / "docs"
PLAIN = """\
protocol: captions
name: Captions
version: 1
title: Judge captions
question_label: ""
output_label: Caption
outputs_per_item: 1
headline: faithful
scales:
  agree:
    - {value: yes, label: Yes, score: 1}
    - {value: partly, label: Partly, score: 1/3}
    - {value: no, label: No, score: 0}
criteria:
  - key: faithful
    label: Is it faithful?
    choices: agree
  - key: remark
    label: What would you change?
    is_text: true
instructions:
  summary: You will see captions.
  steps:
    - Read the caption.
"""

SMALL = "small letters, digits and _, a letter first, up to 40."
LIST = "Here belongs a list, a line with “- ” for each."
SCORE = "scales, agree 2, score: Here belongs a number or a fraction, not"


def problems(text: str | bytes) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        read(text, name="captions.yaml")
    assert str(caught.value) == "\n".join(caught.value.problems)
    return caught.value.problems


def changed(old: str, new: str) -> str:
    assert PLAIN.count(old) == 1
    return PLAIN.replace(old, new)


def test_words_stay_words_and_fractions_are_exact() -> None:
    definition = read(PLAIN, name="captions.yaml")
    assert definition.key == "captions"
    assert definition.criterion("faithful").choices == (
        Choice("yes", "Yes", 1.0),
        Choice("partly", "Partly", 1 / 3),
        Choice("no", "No", 0.0),
    )
    assert (definition.criterion("remark").is_text, definition.answer) == (True, None)


def test_a_byte_order_mark_and_windows_lines_are_no_part_of_the_text() -> None:
    written = PLAIN.replace("\n", "\r\n").encode("utf-8-sig")
    assert read(written, name="captions.yaml") == read(PLAIN, name="captions.yaml")


def test_the_built_in_types_are_the_files_and_nothing_else() -> None:
    assert sorted(path.stem for path in BUILTIN.iterdir()) == sorted(ORDER)
    for key in ORDER:
        assert read((BUILTIN / f"{key}.yaml").read_bytes(), name=key).key == key
    assert VQAX.criteria[0].score("weak_yes") == 2 / 3
    assert [one.choices for one in XAI.criteria[:4]] == [XAI.criteria[0].choices] * 4


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ("headline: faithful", "headline: fun", 8, "The headline 'fun' is not one of its criteria."),
        ("headline: faithful", "headlines: faithful", 1, "“headline” is missing."),
        ("version: 1", "version: one", 3, "version: Here belongs a whole number, not 'one'."),
        ("version: 1", "version: 1.5", 3, "version: Here belongs a whole number, not '1.5'."),
        ("version: 1", "version: [1]", 3, "version: Here belongs a whole number."),
        ("score: 1/3", "score: 1/0", 12, f"{SCORE} '1/0'."),
        ("score: 1/3", "score: .inf", 12, f"{SCORE} '.inf'."),
        ("score: 1/3", "score: nan", 12, f"{SCORE} 'nan'."),
        (", score: 1/3", "", 17, "Criterion 'faithful' has choices without a score."),
        ("choices: agree", "choices: agre", 17, "criteria 1, choices: There is no scale 'agre' under “scales”."),
        ("choices: agree", "choices: {a: 1}", 17, f"criteria 1, choices: {LIST}"),
        ("is_text: true", "is_text: 1", 20, "criteria 2, is_text: Here belongs true or false, not '1'."),
        ("is_text: true", "is_txt: true", 20, "criteria 2, is_txt: There is no such key. Do you mean “is_text”?"),
        ("version: 1", "version: 1\npictures: some", 4, "pictures: Here belongs one of required, optional, none, not"),
        ("version: 1", "version: 1\npictures: none\nis_sequence: yes", 4, "A sequence is made of pictures."),
        ("key: remark", "key: faithful", 18, "Two questions are called 'faithful'."),
        ("key: remark", "key: re mark", 18, f"'re mark' is no name: {SMALL}"),
        ("key: remark", "key: a-b", 18, f"'a-b' is no name: {SMALL}"),
        ("protocol: captions", "protocol: My study", 1, "'My study' is no name: small letters, digits"),
        ("protocol: captions", "key: captions", 1, "key: A protocol has no “key”; its own is called “protocol”."),
        ("name: Captions", "name: Captions\nname: Again", 3, "“name” stands here twice."),
        ("name: Captions", "name: &a Captions", 2, "Anchors and aliases (& and *) are not taken."),
        ("name: Captions", "name: !!python/object:os.system x", 2, "Types (!) are not taken."),
        ("name: Captions", 'name: "\\u0007"', 2, "The text holds a character that can't be shown."),
        ("outputs_per_item: 1", "outputs_per_item: 1000000", 7, "A page shows 1 to 100."),
        ("title: Judge captions", f"title: {'x' * 129}", 4, "A marketplace takes titles of up to 128 characters."),
        ("    - Read the", "    Read the", 24, f"instructions, steps: {LIST}"),
        ("  - key: remark\n    label: What would you change?\n    is_text: true", "  - x", 18, "criteria: Here"),
        ("  agree:", "  agree: [", 11, "This is not YAML: "),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(old: str, new: str, line: int, sentence: str) -> None:
    said = problems(changed(old, new))
    assert any(one.startswith(f"captions.yaml, line {line}: {sentence}") for one in said), said


def test_everything_that_is_wrong_is_said_at_once() -> None:
    text = PLAIN.replace("version: 1", "version: one").replace("is_text: true", "is_text: perhaps")
    assert problems(text) == [
        "captions.yaml, line 3: version: Here belongs a whole number, not 'one'.",
        "captions.yaml, line 20: criteria 2, is_text: Here belongs true or false, not 'perhaps'.",
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "captions.yaml: A protocol is a mapping of keys such as “protocol: my-study”."),
        ("- a\n", "captions.yaml: A protocol is a mapping of keys such as “protocol: my-study”."),
        (b"name: \xff", "captions.yaml, line 1: The file is not UTF-8 text."),
        ("x" * 500_001, "captions.yaml: The file is larger than 500 kB."),
        ("a: " + "[" * 5000, "captions.yaml, line 1: No protocol is that large or that deep."),
        ("a: [" + "1," * 30_000 + "1]", "captions.yaml, line 1: No protocol is that large or that deep."),
        ("a: &a [x, x]\nb: [*a, *a]", "captions.yaml, line 1: Anchors and aliases (& and *) are not taken."),
        ("a: 1\n---\nb: 2\n", "captions.yaml, line 2: This is not YAML: but found another document."),
    ],
)
def test_what_is_no_protocol_at_all(text: str | bytes, sentence: str) -> None:
    assert problems(text) == [sentence]


def test_what_no_page_could_show_is_refused() -> None:
    many = "".join(f"    - {{value: v{n}, label: L, score: {n}}}\n" for n in range(10_000 // 4))
    assert problems(changed("    - {value: yes, label: Yes, score: 1}\n", many))[0].endswith(
        "The list has 2,502 entries; 100 are the most."
    )
    assert problems(changed("What would you change?", "x" * 10_001)) == [
        "captions.yaml, line 19: The text has more than 10,000 characters."
    ]
    option = f"is_checklist: true\n    choices: [{{value: {'v' * 60}, label: L}}]"
    assert problems(changed("is_text: true", option)) == [
        "captions.yaml, line 21: A value here has up to 57 characters."
    ]


def test_the_schema_for_editors_is_of_this_code() -> None:
    assert (DOCS / "protocol.schema.json").read_text() == schema.text()
    assert json.loads(schema.text())["required"][:2] == ["protocol", "name"]
