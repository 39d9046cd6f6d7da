"""On the way out: no cell of our own layouts is run by a spreadsheet, whoever typed it."""

import csv
import io
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment
from surveys import audit
from surveys.answering.invitations import Person, invite
from surveys.models import Batch, MetricScore, Response
from surveys.results.files.layouts import LAYOUTS, layouts_for
from tests import factories
from tests.link_people import make_batch

pytestmark = pytest.mark.django_db
FORMULAS = [
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1+1",
    "\r=1+1",
    '=HYPERLINK("http://evil.example")',
]
# Raw files and OFA-X's own keep what was typed, to the byte; docs/results.md says so.
AS_TYPED = {"raw", "responses", "legacy", "legacy_filtered"}


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def dangerous(text: str) -> list[str]:
    rows = csv.reader(io.StringIO(text, newline=""))
    return [
        c for row in rows for c in row if c.startswith(("=", "+", "-", "@", "\t", "\r")) and not is_number(c)
    ]


def study(formula: str) -> Batch:
    """A study in which everything that anybody can type begins with a formula."""
    survey = factories.make_survey(name=formula)
    item = factories.make_item(
        survey, external_id=formula, subject=formula, payload={"question": formula},
        choices=(formula, "no"), gold=formula,
    )  # fmt: skip
    item.outputs.update(text=formula, answer=formula)
    for output in item.outputs.all():
        MetricScore.objects.create(
            output=output, metric="text_f1", value=0.5, version=formula[:20], scored_at=timezone.now()
        )
    batch = factories.make_batch(survey, name=formula, items_per_hit=1)
    questionnaire = factories.make_questionnaire(batch, items=[item], hit=factories.make_hit())
    for _ in range(2):
        factories.submitted(questionnaire, n_correct=1)
    Assignment.objects.update(comment=formula, feedback=formula)
    Response.objects.update(skip_reason=formula)
    return batch


@pytest.mark.parametrize("formula", FORMULAS)
def test_our_own_layouts(formula: str) -> None:
    batch = study(formula)
    own = [
        name
        for name in layouts_for(batch)
        if name not in AS_TYPED and LAYOUTS[name].content_type == "text/csv"
    ]
    assert {"processed", "tidy", "table", "metrics"} <= set(own)
    for name in own:
        stream = io.StringIO(newline="")
        LAYOUTS[name].write(batch, stream)
        assert (name, dangerous(stream.getvalue())) == (name, [])


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_list_of_links(researcher: Client, formula: str) -> None:
    batch = make_batch()
    until = timezone.now() + timedelta(days=1)
    invite(batch, people=[Person(formula)], expires_at=until, by=None)
    for name in ("links_csv", "earned_csv"):
        answer = researcher.get(reverse(name, args=[batch.pk]))
        assert dangerous(answer.content.decode()) == []


@pytest.mark.parametrize("formula", FORMULAS)
def test_the_audit_trail(researcher: Client, formula: str) -> None:
    batch = study(formula)
    audit.record(audit.Kind.POLICY, formula[:32], batch=batch, reason=formula, details={formula: formula})
    answer = researcher.get(reverse("batch_trail_csv", args=[batch.pk]))
    assert dangerous(b"".join(answer.streaming_content).decode()) == []
