"""Every example of the other pages, as far as it runs without somebody's model, server or money."""

import json
import re
from argparse import Action, ArgumentParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.core.management import get_commands, load_command_class

from metrics import METRICS
from metrics.thesaurus import from_mapping
from surveys.protocols import documents, policy
from surveys.protocols.definition import Definition
from surveys.studies.importing.reading import read_items
from tests.protocols import VQAX, VTT, XAI

ROOT = Path(settings.BASE_DIR)
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "clients").rglob("README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"manage\.py ([a-z_]+)((?: [^\n`#|;&]*)?(?:\n    +(?!manage)[^\n`#]*)*)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
KNOWN = get_commands() | {"version": "django.core"}  # Django's own, whose answer manage.py gives itself
KINDS = {"csv", "ini", "json", "jsonl", "nginx", "python", "sh", "text", "yaml"}
# {what an example about one thing takes for granted: what stands in the rest of a document}
GRANTED = {
    "errors": "blocks: [{column: source, label: Source}]",
    "preference": "outputs_per_item: 2",
    "severity": """
criteria:
  - key: fluent
    label: Is it fluent?
    choices: [{value: no, label: No, score: 0}, {value: weak_no, label: Hardly, score: 1}]
  - {key: faults, label: Faults, is_checklist: true, choices: [{value: other, label: Other, score: 0}]}
""",
    "language": """
blocks: [{column: article, label: Article}]
skip_reasons: [{value: other, label: Another reason}]
criteria:
  - {key: faithful, label: "How faithful is the caption?", help: Look twice., choices: extent}
  - key: faults
    label: What is wrong with it?
    is_checklist: true
    choices: [{value: blurred, label: Vague, score: 0}, {value: other, label: Other, score: 0}]
""",
}


def blocks(page: str, kind: str) -> list[str]:
    return [text for tag, text in BLOCK.findall((ROOT / page).read_text()) if tag == kind]


def test_every_block_says_what_it_is() -> None:
    kinds = {kind for page in PAGES for kind, _ in BLOCK.findall(page.read_text())}
    assert kinds == KINDS


def test_the_readme_has_two_screens_and_one_picture() -> None:
    """A screen has some 45 lines of 110 letters; a picture takes 16."""
    text = (ROOT / "README.md").read_text()
    shown = re.sub(r"\]\([^)]*\)|<img[^>]*>|[\[*`]", "", text)
    flowing = re.sub(r"\n(?=[a-zA-Z(\[.]|  )", " ", shown)
    lines = sum(-(-len(line) // 110) or 1 for line in flowing.splitlines())
    assert lines + 16 <= 90
    assert text.count("<img ") + text.count("![") == 1


@pytest.mark.parametrize(
    ("nth", "kind", "definition"), [(0, "csv", VQAX), (1, "csv", XAI), (0, "jsonl", VTT)]
)
def test_files_of_the_page_about_importing(nth: int, kind: str, definition: Definition) -> None:
    plan = read_items(blocks("docs/importing.md", kind)[nth].encode(), definition=definition)
    assert (plan.errors, len(plan.items)) == ((), 1)


def test_every_file_of_the_page_about_importing_is_read_here() -> None:
    assert [len(blocks("docs/importing.md", kind)) for kind in ("csv", "jsonl")] == [2, 1]


def test_metrics_are_what_their_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that ends in a comment with a number gives that number."""
    cars = from_mapping({"c": ["машина", "автомобиль"]}, name="ruwordnet.db")
    monkeypatch.setattr("metrics.open_thesaurus", lambda path: cars)
    first, models = blocks("docs/metrics.md", "python")
    names: dict[str, Any] = {}
    exec(first, names)
    flat = re.sub(r"\(\n\s+(.*?)\n\)", r"(\1)", first)
    stated = re.findall(r"^(METRICS\S+\]\..*\))  # ([\d.]+)$", flat, re.MULTILINE)
    assert (
        [eval(code, names) for code, _ in stated]
        == [float(number) for _, number in stated]
        == [0.5, 0.75, 1.0]
    )
    assert set(re.findall(r'METRICS\["(\w+)"\]', models)) <= METRICS.keys()
    imports = models.partition("\n\n")[0]
    exec(imports, {})


def test_rules_of_the_page_about_review() -> None:
    [rules] = blocks("docs/review.md", "json")
    assert policy.read_policy(json.loads(rules), items_per_hit=5).reject_at == 2


def whole() -> dict[str, Any]:
    document: dict[str, Any] = yaml.load(blocks("docs/protocol-files.md", "yaml")[0], yaml.BaseLoader)
    return document


@pytest.mark.parametrize("nth", range(10))
def test_survey_types_of_their_page(nth: int) -> None:
    """A part is read in the document that the page begins with."""
    part: Any = yaml.load(blocks("docs/protocol-files.md", "yaml")[nth], yaml.BaseLoader)
    first = part[0]["key"] if isinstance(part, list) else next(iter(part))
    document = whole() | yaml.load(GRANTED.get(first, "{}"), yaml.BaseLoader)
    if isinstance(part, list):
        own = {one["key"]: one for one in [*whole()["criteria"], *document["criteria"], *part]}
        document["criteria"] = list(own.values())
    else:
        document |= part
    definition = documents.read(yaml.safe_dump(document, allow_unicode=True), name="part.yaml")
    assert definition.key == "captions"


def test_every_part_of_a_survey_type_is_read_here() -> None:
    assert len(blocks("docs/protocol-files.md", "yaml")) == 10


def options_of(command: str) -> set[str]:
    if command not in get_commands():
        return set()
    parser: ArgumentParser = load_command_class(get_commands()[command], command).create_parser(
        "manage.py", command
    )
    actions: list[Action] = parser._actions
    return {one for action in actions for one in action.option_strings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_a_page_names_are_there(page: Path) -> None:
    """Each `manage.py` command is one, and takes the options that stand behind it."""
    for command, rest in COMMAND.findall(page.read_text()):
        assert command in KNOWN, f"{page.name}: manage.py {command}"
        unknown = set(OPTION.findall(rest)) - options_of(command)
        assert unknown == set(), f"{page.name}: manage.py {command} {unknown}"
