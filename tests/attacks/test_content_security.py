"""Injected code finds no page that runs it: every answer of the app has a policy, and no page a script of its own."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site_settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from surveys.models import Picture
from surveys.results.chosen import Chosen
from surveys.results.files.report import make_report
from surveys.results.frames.database import read_batch
from surveys.results.sharing import share
from tests.appeals import rejected
from tests.attacks.test_rights import World
from tests.builders import frame_query, make_questionnaire
from tests.factories import make_published
from tests.link_people import invite_one, make_panel
from tests.link_study import Visitor, make_link_batch, path_of
from tests.policed import addresses, faults, inline

pytestmark = pytest.mark.django_db
STRICT = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
# Pages that must be among those looked at: a walk that only meets refusals would prove nothing.
OPEN = {"/admin/login/", "/appeals/", "/hits/{questionnaire}/", "/links/{token}/", "/shared/{read_only}/"}
PAGES = {
    "/admin/", "/admin/password_change/", "/admin/auth/user/add/", "/admin/surveys/survey/",
    "/admin/surveys/batch/add/", "/admin/annotators/call/", "/admin/marketplace/requester/", "/import/",
    "/appeals/", "/appeals/open/", "/books/", "/batches/{batch}/", "/batches/{batch}/assignments/",
    "/batches/{batch}/assignments/{assignment}/", "/batches/{batch}/policy/", "/batches/{batch}/audit/",
    "/batches/{people}/people/", "/batches/{batch}/results/", "/batches/{batch}/results/answers/",
    "/batches/{batch}/results/disagreement/", "/batches/{batch}/results/share", "/shared/{read_only}/",
    "/studies/{slug}/launch/", "/studies/{slug}/script/", "/studies/{slug}/webhooks/", "/tokens/", "/workers/{worker}/",
    "/hits/{questionnaire}/", "/links/{token}/",
}  # fmt: skip


class Study(World):
    """One of everything that an address can name."""

    def __init__(self) -> None:
        super().__init__()
        self.visitor = Visitor(path_of(invite_one(make_link_batch(), "Ada")))
        self.token = self.visitor.at(None).split("/")[2]
        report = make_report(read_batch(self.batch))
        shared = {"numbers_at": timezone.now(), "chosen": Chosen(), "name": "Reviewers", "by": User(pk=None)}
        self.read_only = share(self.batch, report, **shared)
        self.panel = make_panel(self.link_batch)
        self.appeal = rejected(make_published())
        self.hit = make_questionnaire()

    def value(self, route: str, kind: str, name: str) -> Any:
        values = {
            "pk": self.link_batch.pk if "/people/" in route else self.batch.pk,
            "assignment_pk": self.assignment.pk,
            "worker_pk": self.assignment.worker_id,
            "invitation_pk": self.invitation.pk,
            "webhook_pk": self.webhook.pk,
            "appeal_pk": self.appeal.pk,
            "layout": "tidy",
            "slug": self.batch.survey.slug,
            "number": 1,
            "batch": self.link_batch.pk,
        }
        if kind == "uuid":
            return self.hit.pk
        if name == "token":
            tokens = {"links": self.token, "shared": self.read_only}
            return tokens.get(route.split("/")[0])
        if name == "code":
            codes = {"appeals": self.appeal.code, "panel": self.panel.code, "pictures": self.picture()}
            return codes[route.split("/")[0]]
        return values.get(name)

    def picture(self) -> str:
        return Picture.objects.exclude(file="").values_list("code", flat=True)[0]

    def named(self, address: str) -> str:
        return address.format(
            batch=self.batch.pk,
            people=self.link_batch.pk,
            assignment=self.assignment.pk,
            worker=self.assignment.worker_id,
            questionnaire=self.hit.pk,
            token=self.token,
            read_only=self.read_only,
            slug=self.batch.survey.slug,
        )


@pytest.fixture
def study(own_folders: Path) -> Study:
    return Study()


def visited(client: Client, study: Study) -> dict[tuple[str, str], Any]:
    """Every address, asked for and posted to; signing out comes last."""
    everything = sorted(addresses("config.urls", fill=study.value), key=lambda address: "logout" in address)
    client.raise_request_exception = False
    answers = {("GET", address): client.get(address) for address in everything}
    return answers | {("POST", address): client.post(address) for address in everything}


def test_every_answer_to_a_researcher_has_a_policy_and_no_code_of_its_own(
    study: Study, admin_client: Client
) -> None:
    answers = visited(admin_client, study)
    assert {at: found for at, answer in answers.items() if (found := faults(answer))} == {}
    assert {study.named(address) for address in PAGES} - pages(answers) == set()


def test_every_answer_to_a_stranger_has_a_policy_and_no_code_of_its_own(study: Study, client: Client) -> None:
    answers = visited(client, study)
    assert {at: found for at, answer in answers.items() if (found := faults(answer))} == {}
    assert {study.named(address) for address in OPEN} - pages(answers) == set()


def pages(answers: dict[tuple[str, str], Any]) -> set[str]:
    """Return the addresses that showed a page."""
    shown = {at: answer for at, answer in answers.items() if answer.status_code == 200 and at[0] == "GET"}
    return {at for (_, at), answer in shown.items() if answer.headers["Content-Type"].startswith("text/html")}


def test_an_annotators_pages_have_no_code_of_their_own(study: Study, client: Client) -> None:
    page = client.get(reverse("hit", args=[study.hit.pk]), frame_query(study.hit))
    assert (page.status_code, faults(page)) == (200, [])
    study.visitor.start()
    work = study.visitor.open(1)
    assert (work.status_code, faults(work)) == (200, [])


def test_a_hit_is_framed_by_the_configured_marketplaces_and_nobody_else(
    study: Study, client: Client, settings
) -> None:
    settings.FRAME_ANCESTORS = ["https://work.example.org"]
    page = client.get(reverse("hit", args=[study.hit.pk]), frame_query(study.hit))
    assert page.headers["Content-Security-Policy"].endswith("frame-ancestors https://work.example.org")
    assert "X-Frame-Options" not in page.headers
    assert client.get("/admin/login/").headers["Content-Security-Policy"] == STRICT


# -- What is no page of a view ----------------------------------------------------------------------------------------


def test_error_pages(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.raise_request_exception = False

    def fail(*_: object) -> None:
        raise RuntimeError("broken")

    strict = Client(enforce_csrf_checks=True)
    monkeypatch.setattr("surveys.pages.health.disk.is_low", fail)
    answers = {
        404: client.get("/nowhere/at/all"),
        500: client.get("/healthz"),
        400: client.get("/admin/%00"),
        403: strict.post("/admin/login/", {"username": "ada"}),
    }
    assert {status: (answer.status_code, faults(answer)) for status, answer in answers.items()} == {
        status: (status, []) for status in answers
    }
    elsewhere = client.get("/", headers={"host": "elsewhere.example"})
    assert (elsewhere.status_code, elsewhere.headers["Content-Security-Policy"]) == (400, STRICT)


def test_static_files_as_the_server_serves_them(client: Client) -> None:
    folder = Path(site_settings.STATIC_ROOT)
    (folder / "probe.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    answer = Client().get("/static/probe.svg")
    assert (answer.status_code, answer.headers["Content-Security-Policy"]) == (200, STRICT)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_an_upload_is_served_without_an_origin(study: Study, client: Client) -> None:
    answer = client.get(reverse("picture", args=[study.picture()]))
    policy = answer.headers["Content-Security-Policy"].split("; ")
    assert {"default-src 'none'", "sandbox"} <= {*policy}
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_no_other_address_serves_files_of_the_media_folder(study: Study, client: Client) -> None:
    """Uploads leave through the view above and nowhere else: MEDIA_URL has no address."""
    stored = Picture.objects.exclude(file="")[0].file.name
    found = [f"/{stored}", f"/media/{stored}", f"/static/{stored}", f"/static/../media/{stored}"]
    assert [client.get(address).status_code for address in found] == [404] * 4


# -- What is written --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", ["<script>x</script>", '<a href="javascript:x()">', '<p onclick="x()">',
                                  '<p style="x: y">', "<style>", '<iframe srcdoc="x">'])  # fmt: skip
def test_what_counts_as_code_of_a_pages_own(code: str) -> None:
    assert len(inline(code)) == 1
    assert inline('<script src="/a.js" defer></script><link rel="stylesheet" href="/a.css">') == []


def test_no_template_has_code_of_its_own() -> None:
    """Also in branches that no page of the walk takes."""
    folder = Path(site_settings.BASE_DIR) / "templates"
    tags = re.compile(r"{%.*?%}|{{.*?}}|{#.*?#}", re.DOTALL)
    written = {
        path.relative_to(folder): found
        for path in folder.rglob("*.html")
        if (found := inline(tags.sub("x", path.read_text())))
    }
    assert written == {}
