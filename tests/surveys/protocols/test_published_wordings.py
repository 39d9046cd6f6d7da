"""Two published surveys, from the documents their authors wrote to numbers. The wordings stay outside the project."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.test import Client

from surveys.results.files.layouts import batch_report
from tests import driven
from tests.surveys.pages.hit_pages import open_page
from tests.surveys.studies.importing_cases import jsonl, long_csv


def written(shared: Path, number: str) -> str:
    found = sorted((shared / "seeds").glob(f"{number}_*.txt"))
    if not found:
        pytest.skip(f"the published wording {number} (../shared/seeds) is not on this machine")
    return found[0].read_text()


def key_of(label: str) -> str:
    return re.sub(r"\W+", "_", label.strip().lower())


def headings(text: str) -> list[str]:
    return re.findall(r"^#+ (.+)$", text, re.MULTILINE)


def first_line(section: str) -> str:
    return section.strip().split("\n")[0]


def xai(text: str) -> dict[str, Any]:
    """Five criteria from 1 to 5, and worked examples without numbers."""
    questions = re.findall(r"^\d\. \*\*(.+?)\*\*: (.+)$", text, re.MULTILINE)
    named = r"\s+[^:\n]+: (.+)"
    example = rf"^#### .+{named}\s+([^:\n]+:) (.+){named}{named}$"
    _, task, _, explanations, _, note, *_ = re.split(r"^#+ .+$", text, flags=re.MULTILINE)
    return {
        "protocol": "published-xai",
        "name": "XAI as published",
        "version": 1,
        "title": headings(text)[0],
        "question_label": "Label",
        "output_label": "Explanation",
        "outputs_per_item": 1,
        "scales": {"one_to_five": [{"value": str(n), "label": str(n), "score": n} for n in range(1, 6)]},
        "criteria": [
            {"key": key_of(label), "label": label, "help": help_text, "choices": "one_to_five"}
            for label, help_text in questions
        ],
        "headline": key_of(questions[-1][0]),
        "instructions": {
            "summary": first_line(task).replace("**", ""),
            "steps": [first_line(explanations)],
            "notes": [first_line(note)],
            "examples": [
                {
                    "scene": scene,
                    "question": question,
                    "answer": answer,
                    "explanation": explanation,
                    "verdict": "",
                    "reason": reason,
                }
                for scene, question, answer, explanation, reason in re.findall(example, text, re.MULTILINE)
            ],
        },
    }


def vtt(text: str) -> dict[str, Any]:
    """Three criteria, each with a rubric for every level, of sentences between pictures; some can't be judged."""
    levels = r"(?:^\|.*\|\n?)+"
    pattern = rf"^(.* \*\*(.+?)\*\*.*)\n\n({levels})"
    criteria = [
        {
            "key": key_of(label),
            "label": label.capitalize(),
            "help": sentence,
            "choices": [
                {"value": score, "label": score, "score": int(score), "description": rubric}
                for score, rubric in re.findall(r"^\| (\d) +\| (.+?) *\|$", table, re.MULTILINE)
            ],
        }
        for sentence, label, table in re.findall(pattern, text, re.MULTILINE)
    ]
    tips = re.findall(r"^1\. (.+)$", text, re.MULTILINE)
    return {
        "protocol": "published-vtt",
        "name": "VTT as published",
        "version": 1,
        "title": headings(text)[0],
        "question_label": "",
        "output_label": "Transformations",
        "outputs_per_item": 1,
        "is_sequence": True,
        "criteria": criteria,
        "headline": "fluency",
        "skip_reasons": [{"value": "image", "label": tips[-1]}],
        "instructions": {"summary": headings(text)[1], "steps": tips},
    }


def texts_of(value: Any) -> list[str]:
    """Return every text of a document that an annotator reads."""
    if isinstance(value, dict):
        read = {"label", "help", "description", "scene", "explanation", "reason", "steps", "notes"}
        return [
            text
            for key, inner in value.items()
            for text in ([inner] if isinstance(inner, str) and key in read else texts_of(inner))
        ]
    if isinstance(value, list):
        return [text for one in value for text in ([one] if isinstance(one, str) else texts_of(one))]
    return []


def means(questionnaire: Any) -> dict[str, tuple[float | None, int]]:
    (system,) = batch_report(questionnaire.batch).summary.kept.systems
    return {c.key: (c.score.rating_mean, c.score.ratings) for c in system.criteria if c.score}


@pytest.mark.django_db
def test_five_criteria_of_explanations(shared: Path, tmp_path: Path) -> None:
    document = xai(written(shared, "003"))
    keys = [criterion["key"] for criterion in document["criteria"]]
    assert keys == ["fluency", "clarity", "convincing", "reflecting_the_decision_process", "overall_quality"]
    assert len(document["instructions"]["examples"]) == 3
    rows = [
        {"item_id": name, "image": f"{name}.png", "label": name, "explanation": f"A {name}.", "system": "m"}
        for name in ("barn", "boat")
    ]
    questionnaire = driven.study(
        yaml.safe_dump(document), items=long_csv(rows), folder=tmp_path, pictures=("barn.png", "boat.png")
    )
    page = unescape(open_page(Client(), questionnaire).content.decode())
    assert [text for text in texts_of(document) if text not in page] == []

    for given in (dict.fromkeys(keys, "5"), {key: str(n) for n, key in enumerate(keys, 1)}):
        assert driven.answer(questionnaire, given.__getitem__).status_code == 200
    assert means(questionnaire) == {key: ((5 + n) / 2, 4) for n, key in enumerate(keys, 1)}
    tidy = driven.files(questionnaire.batch, folder=tmp_path / "out")["tidy.csv"]
    assert sorted({row["criterion"] for row in tidy}) == sorted(keys)
    assert len(tidy) == 2 * 2 * 5


@pytest.mark.django_db
def test_three_criteria_of_transformations(shared: Path, tmp_path: Path) -> None:
    document = vtt(written(shared, "004"))
    keys = [criterion["key"] for criterion in document["criteria"]]
    assert keys == ["fluency", "relevance", "logical_consistency"]
    assert [len(criterion["choices"]) for criterion in document["criteria"]] == [5, 5, 5]
    pictures = ("tea_1.png", "tea_2.png", "tea_3.png")
    row = {"item_id": "tea", "images": list(pictures), "steps": ["Boil water.", "Pour it."], "system": "m"}
    questionnaire = driven.study(
        yaml.safe_dump(document), items=jsonl([row]), folder=tmp_path, pictures=pictures
    )
    page = unescape(open_page(Client(), questionnaire).content.decode())
    assert [text for text in texts_of(document) if text not in page] == []

    for scores in ("531", "421"):
        given = dict(zip(keys, scores, strict=True))
        assert driven.answer(questionnaire, given.__getitem__).status_code == 200
    assert means(questionnaire) == {
        "fluency": (4.5, 2),
        "relevance": (2.5, 2),
        "logical_consistency": (1.0, 2),
    }
    tidy = driven.files(questionnaire.batch, folder=tmp_path / "out")["tidy.csv"]
    assert [(row["criterion"], row["score"]) for row in tidy[:3]] == [
        ("fluency", "5.0"),
        ("relevance", "3.0"),
        ("logical_consistency", "1.0"),
    ]
