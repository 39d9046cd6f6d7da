"""The Python client against the live server: from a token to results."""

import csv
from decimal import Decimal
from pathlib import Path

import pytest
from django.conf import settings

from assent_client import Client, Conflict, FileRefused, Invalid, Money, NotFound, NotSignedIn
from surveys import sync
from surveys.models import Batch, Survey
from tests.services_site import Site
from tests.surveys.api.asking import hand_in, person_of, token_of
from tests.surveys.studies.importing_cases import archive, png

pytestmark = pytest.mark.django_db(transaction=True)
ITEMS = b"""item_id,image,question,answer,choices,system,explanation
one,one.png,Is it raining?,yes,yes|no,ofa-x,People hold umbrellas.
one,one.png,Is it raining?,yes,yes|no,ground_truth,The street is wet.
two,two.png,Is the dog asleep?,no,yes|no,ofa-x,Its eyes are open.
two,two.png,Is the dog asleep?,no,yes|no,ground_truth,It runs.
"""


@pytest.fixture
def client(site: Site, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Client:
    monkeypatch.setattr(settings, "MEDIA_ROOT", tmp_path / "media")
    monkeypatch.setattr(sync.publish_batch, "delay", lambda pk: None)
    monkeypatch.setattr(sync.make_report, "delay", sync.make_report)
    return Client(site.app_url, token_of(person_of("Researcher")))


def test_a_study_from_its_token_to_its_results(client: Client, tmp_path: Path) -> None:
    study = client.create_study("Rain and dogs", survey_type="evil-vqax")
    looked = study.import_items(ITEMS, dry_run=True, allow_missing=True, accept_warnings=True)
    assert (looked.n_items, looked.can_be_imported, client.study("rain-and-dogs").n_items) == (2, True, 0)
    assert study.import_items(ITEMS, allow_missing=True, accept_warnings=True).n_items == 2
    assert [item.id for item in study.items()] == ["one", "two"]
    assert study.attach_pictures(archive({"one.png": png()})) == 1
    assert [item.n_missing_pictures for item in study.items()] == [0, 1]
    draft = study.draft(items_per_hit=2, assignments_per_hit=2, reward="0.50", endpoint="link")
    assert (draft.status, draft.problems, draft.price and draft.price.total) == (
        "draft",
        [],
        Money(Decimal(1)),
    )
    assert draft.publish().status in {"publishing", "open"}
    invited = draft.invite(["Ann", {"name": "Ben", "email": "ben@example.org"}], max_assignments=1)
    assert [(one.name, one.email, one.max_assignments) for one in invited] == [
        ("Ann", "", 1),
        ("Ben", "ben@example.org", 1),
    ]
    assert [one.link and one.link.startswith(f"{settings.APP_URL}/links/") for one in invited] == [True, True]
    hand_in(Batch.objects.get())
    shown: list[int] = []
    assert draft.wait(every=0, show=lambda progress: shown.append(progress.n_kept)).is_done
    report = draft.report(every=0.05)
    assert shown == [2]
    assert report is not None
    assert report["counts"]["kept"] == 2
    assert "tidy" in draft.files()
    lines = list(csv.DictReader(draft.save("tidy", tmp_path / "tidy.csv").open()))
    assert {line["item_id"] for line in lines} == {"one", "two"}


def test_refusals_are_exceptions_of_their_own(client: Client, site: Site) -> None:
    study = client.create_study("Rain", survey_type="evil-vqax")
    with pytest.raises(FileRefused) as refused:
        study.import_items(ITEMS.replace(b"yes|no,ground", b"maybe|no,ground", 1), allow_missing=True)
    assert {(one.row, one.column) for one in refused.value.mistakes if one.severity == "error"} != set()
    with pytest.raises(Invalid, match="survey_type"):
        client.create_study("Rain 2", survey_type="none")
    with pytest.raises(NotFound):
        client.batch(99)
    with pytest.raises(NotSignedIn):
        next(Client(site.app_url, "assent_wrong").studies())
    with pytest.raises(Conflict):
        study.draft().publish(total=None)
    assert Survey.objects.count() == 1
