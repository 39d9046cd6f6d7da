"""Every example in docs/api.md, and every step on a study's page, run against the live server."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site_settings

from annotators.models import Assignment
from assent_client import Batch as ClientBatch
from assent_client import Unreachable
from surveys import sync
from surveys.models import Batch, Decision, Invitation
from surveys.pages.study.script import steps_of
from tests.factories import make_draft, make_survey
from tests.policy_data import NEVER
from tests.services_site import Site
from tests.surveys.api.asking import hand_in, person_of, token_of
from tests.surveys.studies.importing_cases import png

pytestmark = pytest.mark.django_db(transaction=True)
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
Run = Callable[[str], None]
ITEMS = """item_id,image,question,answer,choices,system,explanation
one,1.png,Is it raining?,yes,yes|no,ofa-x,People hold umbrellas.
one,1.png,Is it raining?,yes,yes|no,ground_truth,The street is wet.
"""


@pytest.fixture
def folder(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the examples run: an address and a token in the environment, a worker that is at once."""
    monkeypatch.setattr(sync.make_report, "delay", sync.make_report)
    monkeypatch.setattr(sync.simulate, "delay", sync.simulate)
    monkeypatch.setattr("assent_client.work.POLL_SECONDS", 0)
    monkeypatch.setenv("ASSENT_URL", site.app_url)
    monkeypatch.setenv("ASSENT_TOKEN", token_of(person_of("Researcher")))
    monkeypatch.chdir(tmp_path)
    if shutil.which("curl") is None:
        monkeypatch.setenv("PATH", stand_in(tmp_path / "bin"), prepend=os.pathsep)
    site_settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path


def stand_in(folder: Path) -> str:
    """Put a curl of our own into a folder, and return that: a bare machine has none."""
    folder.mkdir()
    curl = folder / "curl"
    curl.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).with_name("curl.py")}" "$@"\n')
    curl.chmod(0o755)
    return str(folder)


class Shell:
    """Runs one block after the other, each with what the ones before have said."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.before = folder, ""

    def run(self, block: str) -> None:
        file = self.folder / "state.sh"
        script = f"set -euo pipefail\n[ ! -e {file} ] || . {file}\n{block}\ndeclare -f > {file}; "
        script += f'for name in items batch tried total; do [ -z "${{!name-}}" ] || declare -p $name >> {file}; done\n'
        done = subprocess.run(
            ["bash", "-c", script], capture_output=True, text=True, check=False, env=os.environ
        )
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"


def python() -> Run:
    names: dict[str, Any] = {}
    return lambda block: exec(block, names)


def run_all(cells: list[str], *, hands_in: bool = False) -> None:
    run = python()
    for cell in cells:
        run(cell)
        if hands_in and "publish" in cell:
            hand_in(Batch.objects.get())


def unreachable(batch: ClientBatch) -> ClientBatch:
    raise Unreachable("No answer.")


def test_every_example_of_the_page_about_the_api(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (Path(site_settings.BASE_DIR) / "docs" / "api.md").read_text()
    run: dict[str, Run] = {"sh": Shell(folder).run, "python": python()}
    blocks = BLOCK.findall(text)
    assert len(blocks) == 17
    for language, block in blocks:
        run[language](block)
        if "publish" in block:
            hand_in(Batch.objects.filter(is_simulated=False).latest("pk"))
    assert (folder / "tidy.csv").read_text().startswith("study,")
    assert "answer" in capsys.readouterr().out


def test_the_notebook_of_every_week_makes_and_costs_nothing_twice(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first run dies before it publishes, the second goes on from there, the third only reads."""
    file = Path(site_settings.BASE_DIR) / "clients" / "python" / "examples" / "weekly.ipynb"
    cells = [
        "".join(cell["source"])
        for cell in json.loads(file.read_text())["cells"]
        if cell["cell_type"] == "code"
    ]
    with monkeypatch.context() as cut:
        cut.setattr(ClientBatch, "publish", unreachable)
        with pytest.raises(Unreachable):
            run_all(cells)
    for is_first in (True, False):
        run_all(cells, hands_in=is_first)
    assert (Batch.objects.count(), Assignment.objects.count(), Invitation.objects.count()) == (1, 3, 3)
    said = capsys.readouterr().out
    assert (said.count("It costs"), said.count("ratings in Checkpoint"), said.count("/links/")) == (2, 2, 6)


@pytest.mark.parametrize("said", ["curl", "python"])
def test_every_step_on_a_studys_page(folder: Path, said: str) -> None:
    survey = make_survey(slug="rain", n_items=1)
    terms = {"endpoint": "link", "takes_links": True, "review_policy": NEVER, "pilot_items": 1}
    draft = make_draft(survey, items_per_hit=1, assignments_per_hit=1, **terms)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("1.png", png())
    (folder / "items.csv").write_text(ITEMS)
    (folder / "pictures.zip").write_bytes(archive.getvalue())
    make_draft(survey, endpoint="link", takes_links=True, is_simulated=True, reward=0)
    run = Shell(folder).run if said == "curl" else python()
    for step in steps_of(survey):
        code = getattr(step, said)
        run(code.replace("curl ", "curl --silent --show-error --fail-with-body ") if said == "curl" else code)
        if step.title.startswith("Publish"):
            hand_in(draft)
            work = Assignment.objects.get(hit__questionnaire__batch=draft)
            Assignment.objects.filter(pk=work.pk).update(submitted_at=work.accepted_at + timedelta(minutes=6))
            Decision.objects.create(
                assignment=work, verdict="flag", reason="Odd.", decided_at=work.accepted_at
            )
    rest = Batch.objects.get(follows=draft)
    assert (rest.reward, Decision.objects.get(assignment=work).verdict) == (Decimal("1.20"), "approve")
    assert Invitation.objects.filter(batch=draft).count() == 2
    assert Batch.objects.filter(is_simulated=True).count() == 2
    assert (folder / "tidy.csv").read_text().startswith("study,")
