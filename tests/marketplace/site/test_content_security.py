"""Injected code finds no page of the marketplace that runs it; a requester's own document runs without an origin."""

from typing import Any

import pytest
from django.test import Client

from marketplace import clock
from marketplace.accounts import invitations
from marketplace.models import HIT
from tests.marketplace.api.bodies import QUALIFICATION
from tests.marketplace.question_documents import html_question
from tests.marketplace.questions.form_documents import EXAMPLE
from tests.policed import addresses, faults, inline

PAGES = {
    "/", "/sign-in", "/work", "/projects/{type}/tasks", "/projects/{type}/tasks/{hit}",
    "/assignments/{assignment}", "/qualifications/{kind}", "/invitations/{token}",
}  # fmt: skip


@pytest.fixture
def world(mturk: Any, new_hit: Any, new_worker: Any, settings: Any) -> dict[str, Any]:
    """A HIT in a frame that a worker holds, one by a document, one by a form, and a qualification."""
    settings.MARKETPLACE_CONTROL_TOKEN = "let-me"
    worker, hit_id = new_worker(), new_hit()
    kind = mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"]
    qualification = mturk.create_qualification_type(**QUALIFICATION)["QualificationType"]
    (token,) = invitations.create(number=1, most_uses=1, days=7, note="", now=clock.now())
    return {
        "worker": worker,
        "type": kind,
        "hit": hit_id,
        "assignment": worker.accept(kind, hit_id),
        "document": new_hit(Title="HTML", Question=html_question("<p onclick='x()'>Task</p>")),
        "form": new_hit(Title="Form", Question=EXAMPLE),
        "kind": qualification["QualificationTypeId"],
        "token": token,
    }


def filled(world: dict[str, Any]) -> list[str]:
    names = {"identifier": "type", "hit_id": "hit", "assignment_id": "assignment", "type_id": "kind"}
    return addresses(
        "marketplace.urls", fill=lambda route, kind, name: world.get(names.get(name, name), name)
    )


def visited(client: Client, world: dict[str, Any]) -> dict[tuple[str, str], Any]:
    client.raise_request_exception = False
    everything = sorted(filled(world), key=lambda address: "sign-out" in address)
    answers = {("GET", address): client.get(address) for address in everything}
    return answers | {("POST", address): client.post(address) for address in everything}


@pytest.mark.parametrize("is_signed_in", [True, False])
def test_every_answer_has_a_policy_and_no_code_of_its_own(world: Any, *, is_signed_in: bool) -> None:
    client = world["worker"].client if is_signed_in else Client(headers={"host": "localhost"})
    answers = visited(client, world)
    assert {at: found for at, answer in answers.items() if (found := faults(answer))} == {}
    shown = {at for (method, at), answer in answers.items() if method == "GET" and answer.status_code == 200}
    assert not is_signed_in or {address.format(**world) for address in PAGES} - shown == set()


def test_a_task_may_lie_anywhere_and_nothing_else_may(world: Any) -> None:
    for address in (f"/projects/{world['type']}/tasks", f"/projects/{world['type']}/tasks/{world['hit']}"):
        policy = world["worker"].client.get(address).headers["Content-Security-Policy"]
        assert "frame-src http: https:" in policy
        assert policy.endswith("frame-ancestors 'none'")
    assert "frame-src" not in world["worker"].client.get("/").headers["Content-Security-Policy"]


def test_a_form_of_a_requester_runs_nothing(world: Any) -> None:
    kind = HIT.objects.get(hit_id=world["form"]).hit_type.type_id
    page = world["worker"].client.get(f"/projects/{kind}/tasks")
    assert (page.status_code, faults(page)) == (200, [])


def test_a_document_of_a_requester_runs_without_our_origin(world: Any) -> None:
    """Scripts in it are the task itself: they stay, and reach nothing of ours."""
    page = world["worker"].client.get(f"/frames/{world['document']}")
    words = page.headers["Content-Security-Policy"].partition(";")[0].split()
    assert (words[0], "allow-same-origin" in words) == ("sandbox", False)
    assert len(inline(page.content.decode())) == 1


def test_what_a_frame_posts_is_answered_in_our_frame_only(world: Any) -> None:
    answer = Client(headers={"host": "localhost"}).post("/mturk/externalSubmit", {})
    assert answer.headers["Content-Security-Policy"].endswith("frame-ancestors 'self'")
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"


def test_error_pages(client: Client, monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    client = Client(headers={"host": "localhost"}, raise_request_exception=False)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("broken")

    missing = client.get("/nowhere")
    monkeypatch.setattr("marketplace.site.accounts.render", fail)
    broken = client.get("/sign-in")
    assert [(page.status_code, faults(page)) for page in (missing, broken)] == [(404, []), (500, [])]
