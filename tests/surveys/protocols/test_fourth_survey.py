"""A survey type is one file: an invented one from its import to its numbers, with nothing else made for it."""

import csv
import io
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.test import Client

from annotators.models import Assignment
from surveys.answering.collection import task_answers
from surveys.models import Batch, Questionnaire, Rating, Survey
from surveys.protocols.definition import Definition, DefinitionError
from surveys.protocols.registry import DEFINITIONS
from surveys.publishing import hits, questionnaires
from surveys.publishing.terms.batch_form import BatchForm
from surveys.results.files.layouts import batch_report
from surveys.studies.importing.plan import Plan
from surveys.studies.importing.reading import read_items
from tests.factories import make_draft, make_survey
from tests.market_site import Site
from tests.market_study import again, publish, statuses, sync_study
from tests.policy_data import NEVER
from tests.surveys.pages.publishing.test_batch_form import data_for
from tests.surveys.pages.results.shown import results
from tests.surveys.protocols.caption_definition import CAPTION
from tests.surveys.studies.importing_cases import long_csv, png

ROWS = [
    {"item_id": item, "image": f"{item}.png", "text": f"A {item} by {system}.", "system": system}
    for item in ("barn", "boat")
    for system in ("blip", "human")
]
GIVEN = {"blip": ("3", "yes", "Say “boat”, not <ship>. 🚢"), "human": ("7", "no", "Nothing.")}


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DEFINITIONS, CAPTION.key, CAPTION)


@pytest.fixture
def survey(db: None, settings: Any, tmp_path: Path) -> Survey:
    """Imported by the command that imports every survey."""
    settings.MEDIA_ROOT = tmp_path / "media"
    (tmp_path / "items.csv").write_bytes(long_csv(ROWS))
    for item in ("barn", "boat"):
        (tmp_path / f"{item}.png").write_bytes(png())
    call_command(
        "import_items",
        str(tmp_path / "items.csv"),
        survey="captions",
        definition="caption",
        images=str(tmp_path),
        stdout=io.StringIO(),
    )
    return Survey.objects.get(slug="captions")


def published(survey: Survey, *, site: Site) -> list[Questionnaire]:
    """Drafted in the researcher's form, published on the marketplace."""
    batch = BatchForm(data_for(survey, policy_kind="of_type", assignments_per_hit=1)).save()
    questionnaires.start_publishing(batch)
    hits.register_hit_type(batch, gateway=site.gateway)
    for questionnaire in Questionnaire.objects.filter(batch=batch):
        publish(questionnaire, site)
    hits.finish_publishing(batch)
    return [again(questionnaire) for questionnaire in Questionnaire.objects.filter(batch=batch)]


class Annotator:
    """A worker in the frame, who answers by what stands on the page."""

    def __init__(self, site: Site, questionnaire: Questionnaire) -> None:
        assert questionnaire.hit is not None
        self.site, self.client = site, Client(headers={"host": "127.0.0.1"})
        self.accepted = site.accept(questionnaire.hit)
        self.url = f"/hits/{questionnaire.pk}/"
        query = {
            "assignmentId": self.accepted.assignment_id,
            "hitId": questionnaire.hit.hit_id,
            "workerId": self.accepted.worker.worker_id,
            "turkSubmitTo": django_settings.MTURK_ENDPOINTS["embedded"]["submit_origins"][0],
        }
        self.page = self.client.get(self.url, query).content.decode()

    def answers(self) -> dict[str, str]:
        """Everything the page asks for, filled in by who said the caption."""
        names = set(re.findall(r'name="(i\d+-[0-9a-f]{16}-\w+)"', self.page))
        filled = {}
        for name in names:
            system = self.system_of(name)
            keys = [criterion.key for criterion in CAPTION.criteria]
            filled[name] = GIVEN[system][keys.index(name.rsplit("-", 1)[1])]
        return filled

    def system_of(self, name: str) -> str:
        code = name.split("-")[1]
        texts = re.findall(r"A (?:barn|boat) by (\w+)\.", unescape(self.page))
        codes = list(dict.fromkeys(re.findall(r'name="i\d+-([0-9a-f]{16})-', self.page)))
        return texts[codes.index(code)]

    def send(self, **changes: str) -> Any:
        token = re.search(r'name="token" value="([^"]+)"', self.page)
        assert token
        return self.client.post(self.url, self.answers() | changes | {"token": token[1]})

    def submit(self) -> Assignment:
        """Save, and hand the complete answers to the marketplace as the page does."""
        assert self.send().status_code == 200
        assignment = Assignment.objects.get(assignment_id=self.accepted.assignment_id)
        self.site.submit(self.accepted, taskAnswers=task_answers(assignment), nonce=str(assignment.nonce))
        return assignment


def files_of(batch: Batch, *, folder: Path) -> dict[str, list[dict[str, str]]]:
    """All files of the batch that are tables, as the command writes them."""
    call_command("export_batch", str(batch.pk), out=folder, stdout=io.StringIO())
    return {path.name: list(csv.DictReader(path.open(newline=""))) for path in folder.glob("*.csv")}


def test_the_import_reads_its_columns(survey: Survey) -> None:
    found = survey.items.values_list("external_id", "subject", "outputs__text", "pictures__name")
    assert list(found) == [
        (f"{row['item_id']}/{row['system']}", row["item_id"], row["text"], row["image"]) for row in ROWS
    ]


@pytest.mark.django_db(transaction=True)
def test_from_import_to_export(survey: Survey, site: Site, admin_client: Client, tmp_path: Path) -> None:
    first, second = published(survey, site=site)
    assert first.batch.review_policy == NEVER
    worker = Annotator(site, first)
    assert worker.page.count('type="radio"') == 2 * (7 + 2)
    assert (
        worker.page.count("<textarea") == 2 + 2 + 1
    )  # and a report of each item's problem, and the comment on the HIT
    assert "A short caption can be as faithful as a long one." in worker.page

    gap = next(name for name in worker.answers() if name.endswith("-comment"))
    refused = worker.send(**{gap: "  "})
    assert (refused.status_code, Rating.objects.count()) == (422, 0)
    assert f'href="#{gap}' in refused.content.decode()

    worker.submit()
    Annotator(site, second).submit()
    for questionnaire in (first, second):
        sync_study(site, questionnaire)
        assert statuses(questionnaire) == ["Approved"]
    scores = Rating.objects.values_list("output__system", "criterion", "value", "score")
    assert set(scores) == {
        (system, key, value, float(value) if key == "faithful" else {"yes": 1.0, "no": 0.0}.get(value))
        for system, values in GIVEN.items()
        for key, value in zip(("faithful", "invents", "comment"), values, strict=True)
    }

    batch = Batch.objects.get(pk=first.batch_id)
    report = batch_report(batch)
    kept = {system.system: system for system in report.summary.kept.systems}
    means = {
        name: [c.score.rating_mean if c.score else None for c in system.criteria]
        for name, system in kept.items()
    }
    assert means == {"blip": [3.0, 1.0, None], "human": [7.0, 0.0, None]}

    results(batch)
    page = admin_client.get(f"/batches/{batch.pk}/results/", headers={"host": "127.0.0.1"})
    assert (page.status_code, b"How faithful is the caption?" in page.content) == (200, True)
    files = files_of(batch, folder=tmp_path / "out")
    assert sorted(files) == ["processed.csv", "responses.csv", "table.csv", "tidy.csv"]
    tidy = [(r["item_id"], r["system"], r["criterion"], r["value"], r["score"]) for r in files["tidy.csv"]]
    assert sorted(tidy) == sorted(
        (row["item_id"], row["system"], key, value, score)
        for row in ROWS
        for key, value, score in tidy_of(row["system"])
    )
    assert len(files["processed.csv"]) == 4


def tidy_of(system: str) -> list[tuple[str, str, str]]:
    faithful, invents, comment = GIVEN[system]
    return [
        ("faithful", faithful, f"{faithful}.0"),
        ("invents", invents, {"yes": "1.0", "no": "0.0"}[invents]),
        ("comment", comment, ""),
    ]


@pytest.mark.django_db
def test_a_batch_keeps_the_definition_it_was_published_with(monkeypatch: pytest.MonkeyPatch) -> None:
    survey = make_survey(n_items=2, definition_key="caption")
    batch, draft = (make_draft(survey, name=name, items_per_hit=2, review_policy=NEVER) for name in "ab")
    questionnaires.start_publishing(batch)
    scale = replace(CAPTION.criteria[0], label="Faithful?", choices=CAPTION.criteria[0].choices[:5])
    changed = replace(CAPTION, version=2, criteria=(scale,))
    monkeypatch.setitem(DEFINITIONS, "caption", changed)
    stored = {b.name: Batch.objects.get(pk=b.pk).definition for b in (batch, draft)}
    assert stored == {"a": CAPTION, "b": changed}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"criteria": CAPTION.criteria * 2}, "two questions are called 'faithful'."),
        ({"headline": "faithfulness"}, "the headline 'faithfulness' is not one of its criteria."),
        ({"headline": "comment"}, "the headline 'comment' is a text, which has no mean."),
        (
            {"minimum_correct": 1},
            "its review policy counts right answers, but it asks for no answer that has a gold one.",
        ),
    ],
)
def test_a_definition_that_contradicts_itself_cant_be_imported(changes: Any, sentence: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        replace(CAPTION, **changes)
    assert str(caught.value) == f"Survey type 'caption': {sentence}"


@pytest.mark.parametrize("definition", [CAPTION], ids=lambda d: d.key)
def test_its_columns_are_named_when_they_are_missing(definition: Definition) -> None:
    plan: Plan = read_items(b"item_id,system\n1,blip\n", definition=definition)
    assert [(p.column, p.message) for p in plan.errors] == [
        ("image", "The column is missing. The file has item_id, system."),
        ("explanation", "The column is missing. The file has item_id, system."),
    ]
