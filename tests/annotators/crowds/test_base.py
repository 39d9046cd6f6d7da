"""Pages, budget and review ask what a crowd can do; which crowd it is stands in `annotators/crowds` alone."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from annotators.crowds.base import CROWDS, MORE_TIME, crowd_of, has_market
from annotators.models import Assignment, Channel, Endpoint
from marketplace.engine import assignments

ROOT = Path(__file__).parents[3]
NAMES = {"Endpoint", "Channel"}
IN_TEMPLATES = re.compile(r"\b(?:endpoint|channel) *(?:==|!=|in) ")


def compared(code: str) -> Iterator[str]:
    """Yield comparisons with a crowd by its name."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                if isinstance(side, ast.Attribute) and getattr(side.value, "id", "") in NAMES:
                    yield f"{node.lineno}: {ast.unparse(node)}"


def test_a_comparison_with_a_crowd_is_found() -> None:
    assert list(compared("if batch.endpoint == Endpoint.LINK: pass")) == [
        "1: batch.endpoint == Endpoint.LINK"
    ]
    assert list(compared("ok = Channel.PANEL != row.channel")) == ["1: Channel.PANEL != row.channel"]


def test_research_names_no_crowd_to_decide_by() -> None:
    files = [path for path in (ROOT / "surveys").rglob("*.py") if "migrations" not in path.parts]
    found = {path.name: list(compared(path.read_text("utf-8"))) for path in files}
    assert {name: lines for name, lines in found.items() if lines} == {}


def test_pages_name_no_crowd_to_decide_by() -> None:
    found = [
        path.name
        for path in (ROOT / "templates").rglob("*.html")
        if IN_TEMPLATES.search(path.read_text("utf-8"))
    ]
    assert found == []


def test_every_way_to_people_says_what_it_can_do() -> None:
    assert set(CROWDS) == set(Channel.values)
    assert [channel for channel in Channel if crowd_of(Assignment(channel=channel)).has_market] == [
        Channel.MARKETPLACE
    ]
    assert [endpoint for endpoint in Endpoint if not has_market(endpoint)] == [Endpoint.LINK]


def test_nobody_is_thought_to_be_over_whom_our_marketplace_gave_more_time() -> None:
    assert assignments.MORE_TIME == MORE_TIME
