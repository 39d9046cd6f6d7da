"""How far the longest ways through the code are: `make flows` prints the files and functions of ours each crosses.

No test of `make test`: a flow is walked once, under a profiler that notes every function of ours it calls, of the
app's side only, or of the marketplace's. Lambdas, comprehensions and the like are part of the function they stand in.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotators.models import Assignment
from marketplace.models import HIT
from surveys import sync
from surveys.models import Batch, Questionnaire, Survey
from surveys.publishing import questionnaires
from tests.builders import make_questionnaire
from tests.factories import make_draft, make_hit, make_survey
from tests.market_site import Site, eager, site, wire
from tests.market_study import again, max_assignments, statuses, work
from tests.marketplace.api.signing import respond
from tests.marketplace.question_documents import QUESTION
from tests.people import client_of
from tests.policy_data import NEVER
from tests.surveys.pages.hit_pages import full_answers, open_page, post
from tests.surveys.pages.study.import_pages import TWO, preview_of
from tests.surveys.studies.importing_cases import batch_csv, slot

__all__ = ["eager", "site", "wire"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("eager")]
PACKAGES = ("annotators", "config", "metrics", "statements", "surveys")
ROOT = Path(django_settings.BASE_DIR)


@contextmanager
def crossing(
    flow: str, capsys: pytest.CaptureFixture[str], *, packages: Sequence[str] = PACKAGES
) -> Iterator[None]:
    """Print which files and how many functions of ours are called inside, in this thread."""
    crossed: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and not frame.f_code.co_name.startswith("<"):
            crossed.add(frame.f_code)

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
    ours = [code for code in crossed if file_of(code).partition("/")[0] in packages]
    files = sorted({file_of(code) for code in ours})
    with capsys.disabled():
        sys.stdout.write(f"\n{flow}: {len(files)} files, {len(ours)} functions\n")
        sys.stdout.writelines(f"  {file}\n" for file in files)


def file_of(code: CodeType) -> str:
    """Return where a function stands, "" outside of the project."""
    path = Path(code.co_filename)
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else ""


@pytest.fixture(autouse=True)
def _sync_at_once(settings: pytest.FixtureRequest) -> None:
    settings.SYNC_EVERY_SECONDS = 0


def test_an_answer_until_it_stands_in_the_csv(capsys: pytest.CaptureFixture[str]) -> None:
    questionnaire = make_questionnaire()
    batch = questionnaire.batch
    visitor, researcher = Client(), client_of("Researcher")
    answers = full_answers(open_page(visitor, questionnaire))
    with crossing("An answer posted, until it stands in the CSV", capsys):
        assert post(visitor, questionnaire, answers).status_code == 200
        Assignment.objects.update(status="Submitted", submitted_at="2026-01-01T12:00:00Z")
        page = researcher.get(reverse("batch_download", args=[batch.pk, "tidy"]))
        assert page.getvalue().count(b"\n") > 1


def test_a_row_until_it_shows_on_a_page(capsys: pytest.CaptureFixture[str], settings, tmp_path) -> None:
    settings.MEDIA_ROOT = tmp_path
    researcher = client_of("Researcher")
    with crossing("An uploaded row, until it shows on a page", capsys):
        preview = preview_of(researcher, batch_csv([slot(1)]), pictures=TWO)
        assert "What is in picture 1?" in researcher.get(preview).content.decode()
        researcher.post(preview)
        survey = Survey.objects.get()
        batch = make_draft(survey, items_per_hit=1, review_policy=NEVER)
        questionnaires.start_publishing(batch)
        Batch.objects.update(status="open")
        Questionnaire.objects.update(hit=make_hit())
        page = open_page(Client(), Questionnaire.objects.get())
        assert "What is in picture 1?" in page.content.decode()


def test_a_rejection(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    batch = make_draft(make_survey(n_items=5))
    questionnaires.start_publishing(batch)
    sync.sweep()
    questionnaire = again(Questionnaire.objects.get())
    work(site, questionnaire, n_correct=0)
    before = max_assignments(questionnaire)
    with crossing("A rejection", capsys):
        sync.sync_hit(questionnaire.hit_id)
    assert statuses(questionnaire) == ["Rejected"]
    assert max_assignments(questionnaire) == before + 1


def test_create_hit(capsys: pytest.CaptureFixture[str], settings) -> None:
    settings.MARKETPLACE_HOST = "localhost"
    call_command("loaddata", "marketplace_demo", verbosity=0)
    key = ("AKIDASSENTDEMO", "assent-demo-secret-loopback-only")
    wanted = {"QualificationTypeId": "0" * 18 + "40", "Comparator": "GreaterThan", "IntegerValues": [-1]}
    values = {
        "Title": "Look at a picture",
        "Description": "Five short questions about pictures.",
        "Reward": "0.38",
        "AssignmentDurationInSeconds": 3600,
        "LifetimeInSeconds": 86_400,
        "MaxAssignments": 5,
        "Question": QUESTION,
        "QualificationRequirements": [wanted],
    }

    def create(token: str) -> int:
        body = json.dumps({**values, "UniqueRequestToken": token}).encode()
        target = "MTurkRequesterServiceV20170117.CreateHIT"
        return respond(key, target=target, body=body).status_code

    # What is kept for good, as the description of the service, is read by the first.
    assert create("first") == 200
    with crossing("CreateHIT, from the request to the row", capsys, packages=("marketplace",)):
        assert create("second") == 200
    assert HIT.objects.count() == 2
