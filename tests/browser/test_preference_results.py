"""What comes out of pairs, rankings, best and worst, and marked spans: legible, wide or narrow, light or dark.

RESULTS_PICTURES=folder keeps what the pages looked like.
"""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import Page

from annotators.models import Assignment
from surveys.answering.answer_copy import ItemAnswer
from surveys.answering.collection import save_answers
from surveys.models import Batch, KeptReport, Response
from surveys.protocols.templates import templates
from surveys.results import reports
from tests.accessible import faults
from tests.arena import make_arena
from tests.browser.conftest import Visit
from tests.factories import open_batch, open_for

PICTURES = os.environ.get("RESULTS_PICTURES", "")
TWELVE = tuple(f"model-with-a-long-name-{n:02}" for n in range(12))
Say = Callable[[Response, random.Random], ItemAnswer]


def document(template: str) -> str:
    """Return a template as a study of `tests.arena` asks it, under that one's name."""
    text = templates()[template].document
    return text.replace(f"protocol: {template}\n", "protocol: arena\n", 1)


def by_strength(response: Response, chance: random.Random) -> list[str]:
    """Return the codes of what is shown, the best first, as somebody in doubt sees it."""
    worth = {o.code: -int(o.system[-2:], 36) + 40 * chance.gauss(0, 0.12) for o in response.shown_outputs}
    return sorted(worth, key=lambda code: -worth[code])


def choose(response: Response, chance: random.Random) -> ItemAnswer:
    order = by_strength(response, chance)
    chosen = "" if chance.random() < 0.2 else order[0]
    return ItemAnswer(response.position, ratings={code: {} for code in order}, preference=chosen)


def rank(response: Response, chance: random.Random) -> ItemAnswer:
    order = by_strength(response, chance)
    places = {code: str(n) for n, code in enumerate(order, 1)}
    return ItemAnswer(response.position, ratings={code: {} for code in order}, preference=places)


def best_and_worst(response: Response, chance: random.Random) -> ItemAnswer:
    order = by_strength(response, chance)
    places = {
        code: "best" if code == order[0] else "worst" if code == order[-1] else "other" for code in order
    }
    return ItemAnswer(response.position, ratings={code: {} for code in order}, preference=places)


def mark(response: Response, chance: random.Random) -> ItemAnswer:
    (output,) = response.shown_outputs
    words = [
        word
        for word in output.text.split()
        if chance.random() < (0.1 if output.system.endswith("a") else 0.3)
    ]
    marks = [_mark(output.text, word, chance) for word in dict.fromkeys(words)]
    values = {
        "errors": json.dumps(marks, ensure_ascii=False, separators=(",", ":")),
        "meaning": chance.choice("1234"),
    }
    return ItemAnswer(response.position, ratings={output.code: values})


def _mark(text: str, word: str, chance: random.Random) -> dict[str, object]:
    start = text.index(word)
    kind = {
        "severity": chance.choice(["minor", "major"]),
        "category": chance.choice(["grammar", "omission", "style"]),
    }
    return {**kind, "start": start, "end": start + len(word), "text": word}


def answered(batch: Batch, say: Say, *, raters: int = 4) -> Batch:
    chance = random.Random(7)
    for questionnaire in open_batch(batch):
        for _ in range(raters):
            hand_in(open_for(questionnaire), say, chance)
    return batch


def hand_in(assignment: Assignment, say: Say, chance: random.Random) -> None:
    responses = assignment.responses.select_related("item").prefetch_related("item__outputs")
    assert save_answers(assignment, answers=[say(response, chance) for response in responses])
    times = {"accepted_at": assignment.loaded_at, "submitted_at": assignment.loaded_at}
    Assignment.objects.filter(pk=assignment.pk).update(status="Submitted", **times)


def with_report(page: Page, address: str) -> None:
    page.request.get(address)  # asks for it, and is no page that loads itself again once it is there
    for row in KeptReport.objects.exclude(asked_version=""):
        reports.make(row.pk)
    page.goto(address)


def looked_at(page: Page, name: str) -> None:
    """Take the pictures, if any, and look for what nobody could read."""
    for width, scheme in ((1280, "light"), (390, "light"), (390, "dark"), (1280, "dark")) if PICTURES else ():
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(400)
        page.screenshot(path=Path(PICTURES) / f"{name}-{width}-{scheme}.png", full_page=True)
    assert faults(page) == []


CASES = {
    "arena": (choose, TWELVE, 36),
    "ranking": (rank, TWELVE[:4], 6),
    "best-worst": (best_and_worst, TWELVE[:6], 18),
}


@pytest.mark.parametrize("template", CASES)
def test_strengths_and_win_rates(visit: Visit, template: str) -> None:
    say, systems, n_items = CASES[template]
    batch = make_arena(document=document(template), systems=systems, n_items=n_items)
    batch = answered(batch, say)
    page = visit("/")
    with_report(page, reverse("batch_results", args=[batch.pk]))
    names = page.get_by_role("region", name="Table of strengths").locator("tbody th").all_inner_texts()
    assert (len(names), set(names)) == (len(systems), set(systems))
    assert page.locator("svg.chart circle.mark").count() >= len(systems)
    looked_at(page, template)
    with_report(page, reverse("study_results", args=[batch.survey.slug]))
    assert page.get_by_role("region", name="Table of win rates").locator("tbody tr").count() == len(systems)


def test_marks_that_cost(visit: Visit) -> None:
    text = document("translation").replace("      missing_in: source\n", "")
    text = text.replace("blocks:\n  - {column: source, label: Original}\n", "")
    text = text.replace('question_label: ""', "question_label: Original")
    batch = make_arena(document=text, systems=("model-a", "model-b"), n_items=6)
    answered(batch, mark)
    page = visit("/")
    with_report(page, reverse("batch_results", args=[batch.pk]))
    profiles = page.get_by_role("region", name="Table of error profiles")
    assert profiles.locator("tbody th").all_inner_texts() == ["model-a", "model-b"]
    looked_at(page, "spans")
