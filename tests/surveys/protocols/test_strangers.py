"""Six survey types nobody here has, each from its file to its numbers by the pages alone, with columns of its own.

They are written from docs/ as they stand: what these files can't say, a reader of docs/ can't either.
"""

import csv
import io
import re
import wave
from dataclasses import dataclass, field
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from surveys.models import Batch, Survey
from tests.driven import asked
from tests.market_site import eager
from tests.people import client_of
from tests.surveys.protocols.test_file_blocks import WEBM
from tests.surveys.studies.importing_cases import archive

__all__ = ["eager"]
HERE = Path(__file__).parent / "strangers"
OUT_OF_SPREADSHEETS = "=1+1 🚣"


def wav() -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setparams((1, 2, 8000, 0, "NONE", ""))
        sound.writeframes(b"\0\0" * 80)
    return file.getvalue()


@dataclass(frozen=True)
class Stranger:
    """A type: its items and their files, the roles nobody guesses, what two people answer, and what comes of it.

    `given` is {question: what everybody says}, `means` {(system, question): mean} of the lines in tidy.csv, by score;
    `quiz` is {field: what everybody says} of the questions that stand before the work.
    """

    items: str
    given: dict[str, str | list[str]]
    means: dict[tuple[str, str], float]
    roles: dict[str, str]
    files: dict[str, bytes]
    quiz: dict[str, str] = field(default_factory=dict)


STRANGERS = {
    "mos": Stranger(
        "mos.csv",
        {"naturalness": "4", "noises": ["robot"], "remark": OUT_OF_SPREADSHEETS},
        {
            (system, key): score
            for system in ("tacotron", "vits")
            for key, score in (("naturalness", 4.0), ("noises.clicks", 0.0), ("noises.robot", 1.0))
        },
        {"clip": "item_id"},
        {f"c{n}_{letter}.wav": wav() for n in (1, 2) for letter in "tv"},
    ),
    "video": Stranger(
        "video.jsonl",
        {"people": "2", "correct": "some", "wrong_at": "1.5"},
        {
            ("", "people"): 2.0,
            ("blip", "correct"): 0.5,
            ("blip", "wrong_at"): 1.5,
            ("flamingo", "correct"): 0.5,
            ("flamingo", "wrong_at"): 1.5,
        },
        {},
        {"v1.webm": WEBM},
    ),
    "dialogue": Stranger(
        "dialogue.jsonl",
        {"helpful": "not", "why_not": ["rude"], "what_else": "never asked", "better": "no_preference"},
        {
            (system, key): score
            for system in ("alpha", "beta")
            for key, score in (
                ("better", 0.0),
                ("helpful", 0.0),
                ("why_not.off_topic", 0.0),
                ("why_not.rude", 1.0),
                ("why_not.other", 0.0),
            )
        },
        {},
        {},
    ),
    "summary": Stranger(
        "summary.tsv",
        {"faithful": "2", "errors": ["number", "name"]},
        {
            (system, key): score
            for system in ("bart", "pegasus")
            for key, score in (
                ("faithful", 2.0),
                ("errors.number", 1.0),
                ("errors.name", 1.0),
                ("errors.invented", 0.0),
                ("errors.none", 0.0),
            )
        },
        {"body": "article", "gold": "reference_summary", "system_summary": "explanation"},
        {},
        quiz={"q1": "no"},
    ),
    "pairwise": Stranger("pairwise.csv", {}, {}, {}, {}),
    "table": Stranger(
        "table.jsonl",
        {"fluent": "yes", "n_wrong": "3", "language_known": "no"},
        {
            ("", "language_known"): 0.0,
            **{(s, k): n for s in ("t5", "gpt", "rule") for k, n in (("fluent", 1.0), ("n_wrong", 3.0))},
        },
        {},
        {},
    ),
}


def uploaded(client: Client, name: str) -> str:
    """Upload the type's file on its page; return what it is called."""
    document = (HERE / f"{name}.yaml").read_bytes()
    file = SimpleUploadedFile(f"{name}.yaml", document)
    answer = client.post("/survey-types/write", {"document": "", "file": file})
    assert answer.status_code == 302, answer.context["form"].errors
    return re.search(rb"^protocol: (\S+)", document)[1].decode()  # type: ignore[index]


def imported(client: Client, stranger: Stranger, *, key: str) -> Survey:
    """Upload items, say what the columns mean that nobody guessed, look, and confirm."""
    data: dict[str, Any] = {"name": key, "definition_key": key, "system": "model", "layout": "auto"}
    data["items"] = SimpleUploadedFile(stranger.items, (HERE / stranger.items).read_bytes())
    if stranger.files:
        data["archive"] = SimpleUploadedFile("files.zip", archive(stranger.files))
    columns = client.post(reverse("import_items"), data)["Location"]
    page = client.get(columns).context["page"]
    posted = {f"column-{n}": stranger.roles.get(one.name, one.role) for n, one in enumerate(page.columns)}
    answer = client.post(columns, posted)
    assert answer.status_code == 302, answer.context["page"].problems
    assert client.get(answer["Location"]).context["plan"].problems == ()
    assert client.post(answer["Location"])["Location"] == f"/studies/{key}/launch/"
    return Survey.objects.get(slug=key)


def launched(client: Client, survey: Survey) -> Batch:
    url = reverse("launch", args=[survey.slug])
    form = {**client.get(url).context["form"].data, "endpoint": "link", "takes_links": "on"}
    form["assignments_per_hit"] = "2"
    priced = client.post(url, {**form, "do": "price"}).content.decode()
    total = re.search(r"Publish \d+ HITs? for \$([\d.,]+)", priced)
    assert total
    assert client.post(url, {**form, "do": "publish", "total": total[1]}).status_code == 302
    return Batch.objects.get()


def invited(client: Client, batch: Batch) -> list[str]:
    """Return the personal links of two people."""
    tomorrow = (timezone.localtime() + timedelta(days=1)).strftime("%Y-%m-%d")
    url = reverse("invite_people", args=[batch.pk])
    page = client.post(url, {"people": "Ann\nBea", "expires_at": tomorrow}).content.decode()
    return list(dict.fromkeys(re.findall(r'value="https?://[^/"]+(/links/[^"]+)"', page)))


def filled(page: str, given: dict[str, str | list[str]]) -> dict[str, Any]:
    """Return the page's fields as a browser without scripts sends them; of what nobody said anything of, the first."""
    first = dict(reversed(re.findall(r'type="radio" name="([^"]+)" value="([^"]*)"', page)))
    return hidden(page) | {name: given.get(key, first.get(name, "")) for name, key in asked(page).items()}


def hidden(page: str) -> dict[str, str]:
    found = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page)
    return {name: unescape(value) for name, value in found}


def work(link: str, stranger: Stranger) -> tuple[int, int]:
    """Answer whatever a personal link gives, and return how many pages of a quiz and of work that were."""
    person, n_quizzes, n_done = Client(), 0, 0
    while "/end" not in (address := person.post(link, {"number": ""})["Location"]):
        page = person.get(address).content.decode()
        is_quiz = 'name="quiz"' in page
        data = hidden(page) | stranger.quiz if is_quiz else filled(page, stranger.given)
        answer = person.post(address, data)
        assert answer.status_code == 303, re.findall(r'class="error"[^>]*>([^<]+)', answer.content.decode())
        n_quizzes, n_done = n_quizzes + is_quiz, n_done + (not is_quiz)
        assert n_quizzes + n_done < 20, f"{address} is given again and again"
    return n_quizzes, n_done


def files_of(client: Client, batch: Batch) -> dict[str, str]:
    """Return every file that a researcher can download."""
    listed = client.get(reverse("batch_files", args=[batch.pk])).context["downloads"]
    return {one.filename: client.get(one.url).getvalue().decode() for one in listed}


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


def means_of(tidy: list[dict[str, str]]) -> dict[tuple[str, str], float]:
    scores: dict[tuple[str, str], list[float]] = {}
    for row in tidy:
        if row["score"]:
            scores.setdefault((row["system"], row["criterion"]), []).append(float(row["score"]))
    return {key: sum(found) / len(found) for key, found in scores.items()}


@pytest.fixture
def client(settings: Any, tmp_path: Path) -> Client:
    settings.DATA_DIR, settings.MEDIA_ROOT = tmp_path, tmp_path / "media"
    return client_of("Researcher")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", STRANGERS)
def test_from_a_file_to_its_numbers(name: str, client: Client, eager: None) -> None:
    stranger = STRANGERS[name]
    survey = imported(client, stranger, key=uploaded(client, name))
    batch = launched(client, survey)
    n_hits = batch.questionnaires.count()
    assert [work(link, stranger) for link in invited(client, batch)] == [(bool(stranger.quiz), n_hits)] * 2
    results = reverse("batch_results", args=[batch.pk])
    assert [client.get(results).status_code for _ in range(2)] == [200, 200]
    files = files_of(client, batch)
    assert {"responses.csv", "processed.csv", "tidy.csv", "table.csv", "summary.json"} <= set(files)
    tidy = rows_of(files["tidy.csv"])
    if name == "pairwise":
        by_value = [row["value"] for row in tidy]
        assert (by_value.count("preferred"), by_value.count("other")) == (4, 4)
        return
    assert means_of(tidy) == stranger.means
    systems = {system for system, _ in stranger.means} - {""}
    assert {row["system"] for row in rows_of(files["table.csv"])} == systems


@pytest.mark.django_db
def test_a_file_to_fill_in_names_files_where_outputs_are_files(client: Client) -> None:
    uploaded(client, "mos")
    template = client.get("/survey-types/tts-mos-items.csv").content.decode("utf-8-sig")
    assert rows_of(template)[0]["explanation"] == "a1-model-1.wav"
