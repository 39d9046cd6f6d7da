"""A protocol file from its upload to its numbers: kept, imported for, answered on its page, exported."""

import csv
import io
import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from annotators.models import Assignment
from surveys.models import Batch, Questionnaire, Survey
from surveys.studies import protocols
from surveys.studies.packages import Package
from tests.factories import make_draft, make_hit, make_questionnaire, new_id
from tests.surveys.pages.hit_pages import open_page, post, token_of
from tests.surveys.studies.importing_cases import png

Given = Callable[[str], str | list[str]]  # {question's key: what is answered}


def study(document: str, *, items: bytes, folder: Path, pictures: tuple[str, ...] = ()) -> Questionnaire:
    """Keep a document as an uploaded type, import items for it, and put them on one HIT."""
    person = get_user_model().objects.create_superuser("rosa", password="a-Long-one-4")
    definition = protocols.keep(Package("protocol.yaml", document.encode()), by=person).definition
    protocols.new_survey(person, key=definition.key, name=definition.name, slug=definition.key).save()
    (folder / "items.csv").write_bytes(items)
    for name in pictures:
        if not (folder / name).exists():
            (folder / name).write_bytes(png())
    wanted = {"images": str(folder)} if pictures else {}
    call_command(
        "import_items", str(folder / "items.csv"), survey=definition.key, stdout=io.StringIO(), **wanted
    )
    survey = Survey.objects.get(slug=definition.key)
    found = list(survey.items.order_by("pk"))
    terms = {"status": Batch.Status.OPEN, "published_at": timezone.now(), "items_per_hit": len(found)}
    batch = make_draft(survey, snapshot=definition.to_snapshot(), **terms)
    return make_questionnaire(batch, items=found, hit=make_hit())


def asked(page: str) -> dict[str, str]:
    """Return {field: its question's key} of all that a page asks about its items."""
    names = dict.fromkeys(re.findall(r'name="(i\d+-(?:[0-9a-f]{16}-)?[a-z]\w*)"', page))
    return {
        name: re.split(r"-", name)[-1]
        for name in names
        if not name.endswith(("-seconds", "-skip", "-problem"))
    }


def answer(questionnaire: Questionnaire, given: Given) -> Any:
    """Open the page as a new annotator and post what they say to each question; return the answer to that."""
    visitor = Client()
    ids = {"assignmentId": new_id("ASSIGNMENT"), "workerId": new_id("AWORKER")}
    opened = open_page(visitor, questionnaire, **ids)
    fields = {name: given(key) for name, key in asked(opened.content.decode()).items()}
    answered = post(visitor, questionnaire, {**fields, "token": token_of(opened)})
    hand_in()
    return answered


def hand_in() -> None:
    """Have every complete assignment be submitted on the marketplace."""
    now = timezone.now()
    Assignment.objects.filter(saved_at__isnull=False, status="Accepted").update(
        status="Submitted", accepted_at=now - timedelta(minutes=9), submitted_at=now
    )


def problems(answered: Any) -> list[str]:
    """Return the sentences that stand at the questions of a page that was sent back."""
    return [
        unescape(text) for text in re.findall(r'<p class="error"[^>]*>([^<]+)', answered.content.decode())
    ]


def files(batch: Batch, *, folder: Path) -> dict[str, list[dict[str, str]]]:
    """Return the lines of every table that is exported of a batch."""
    call_command("export_batch", str(batch.pk), out=folder, stdout=io.StringIO())
    return {path.name: list(csv.DictReader(path.open(newline=""))) for path in folder.glob("*.csv")}
