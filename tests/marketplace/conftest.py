"""A marketplace with money, requesters who reach it through real boto3, and workers who use its pages."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from playwright.sync_api import expect

from marketplace import clock
from marketplace.accounts import keys
from marketplace.engine import hits
from marketplace.engine.hits import TypeValues
from marketplace.models import HITType, Requester, Worker
from marketplace.money import ledger
from tests.marketplace.api.bodies import NOTIFICATION, QUALIFICATION
from tests.marketplace.notifications.notices import QUEUE, spec
from tests.marketplace.question_documents import QUESTION, html_question

TYPE = {
    "title": "Look at a picture",
    "description": "Five short questions about pictures, and which of two explanations convinces you.",
    "keywords": "image",
    "reward_cents": 38,
    "duration_seconds": 3600,
    "auto_approval_seconds": 3600,
    "requirements": [],
}


@pytest.fixture(autouse=True)
def marketplace_site(settings: Any) -> None:
    settings.MARKETPLACE_HOST = "localhost"
    settings.MARKETPLACE_URL = "http://localhost"
    settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "testserver"]
    settings.MARKETPLACE_ALLOW_HTTP_QUESTIONS = False
    settings.MARKETPLACE_OPEN_SIGNUP = True


@pytest.fixture
def requester(db: None) -> Requester:
    """A requester with $1,000.00 and no key."""
    requester = Requester.objects.create(name="Vision Lab")
    ledger.deposit(requester, cents=100_000, now=timezone.now())
    return requester


@pytest.fixture
def connect(live_server: Any) -> Iterator[Callable[..., Any]]:
    """A function that makes a boto3 client against the live server.

    The clients are closed in the end: the server's thread keeps its database session as long as they hold the line.
    """
    clients = []

    def connect(key_id: str, secret: str, *, endpoint_url: str = "", **options: Any) -> Any:
        client = boto3.client(
            "mturk",
            endpoint_url=endpoint_url or f"http://localhost:{live_server.thread.port}",
            region_name="us-east-1",
            aws_access_key_id=key_id,
            aws_secret_access_key=secret,
            config=Config(**{"retries": {"total_max_attempts": 1}, **options}),
        )
        clients.append(client)
        return client

    yield connect
    for client in clients:
        client.close()


@pytest.fixture
def mturk(connect: Callable[..., Any], requester: Requester) -> Any:
    """The requester's boto3 client."""
    key, secret = keys.create_key(requester)
    return connect(key.key_id, secret)


@pytest.fixture
def ordinary(connect: Callable[..., Any], requester: Requester) -> Any:
    """The requester's client with boto3's own retries, as a program has it that says nothing about them."""
    key, secret = keys.create_key(requester)
    return connect(key.key_id, secret, retries=None)


@pytest.fixture
def control(settings: Any, db: None) -> Callable[..., Any]:
    """A function that calls the open control API and returns its JSON; any refusal fails the test."""
    settings.MARKETPLACE_CONTROL_TOKEN = "let-me"

    def control(method: str, name: str, body: Any = None) -> Any:
        client = Client(headers={"host": "localhost", "authorization": "Bearer let-me"})
        response = client.generic(method, f"/control/{name}", json.dumps(body or {}))
        assert response.status_code == 200, response.content
        return response.json()

    return control


@pytest.fixture
def demo(connect: Callable[..., Any], db: None) -> Any:
    """A boto3 client with the published demo key pair."""
    call_command("loaddata", "marketplace_demo", verbosity=0)
    return connect("AKIDASSENTDEMO", "assent-demo-secret-loopback-only")


@pytest.fixture
def values() -> dict[str, Any]:
    """The values of a valid CreateHIT call."""
    return {
        "Title": "Look at a picture",
        "Description": "Five short questions about pictures.",
        "Keywords": "image, question",
        "Reward": "0.38",
        "AssignmentDurationInSeconds": 3600,
        "AutoApprovalDelayInSeconds": 259_200,
        "LifetimeInSeconds": 86_400,
        "MaxAssignments": 5,
        "Question": QUESTION,
        "RequesterAnnotation": "batch-1",
    }


@pytest.fixture
def new_hit(mturk: Any, values: dict[str, Any]) -> Callable[..., str]:
    """A function that publishes a HIT and returns its HITId."""

    def new_hit(**changes: Any) -> str:
        return mturk.create_hit(**{**values, **changes})["HIT"]["HITId"]

    return new_hit


@pytest.fixture
def targets(settings: Any, tmp_path: Path) -> Path:
    """The file that stands for a queue; no other notifications go anywhere."""
    settings.DATA_DIR = tmp_path
    settings.MARKETPLACE_WEBHOOK_HOSTS = []
    settings.MARKETPLACE_NOTIFICATION_TARGETS = {QUEUE: "told/queue.jsonl"}
    return tmp_path / "told" / "queue.jsonl"


@pytest.fixture
def watched(targets: Path, mturk: Any, new_hit: Callable[..., str]) -> Callable[..., tuple[str, str]]:
    """A function that publishes a HIT of a type whose events go to the queue; it returns (HITTypeId, HITId)."""

    def watched(notification: Any = None, **changes: Any) -> tuple[str, str]:
        type_id = mturk.get_hit(HITId=new_hit(**changes))["HIT"]["HITTypeId"]
        mturk.update_notification_settings(HITTypeId=type_id, Notification=notification or spec())
        return type_id, new_hit(**changes)

    return watched


class Browser:
    """A worker's browser, without JavaScript: it reads forms and frames from the pages."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.client = Client(headers={"host": "localhost"})
        session = self.client.session
        session["marketplace_worker"] = worker.pk
        session.save()

    def accept(self, type_id: str, hit_id: str = "") -> str | None:
        """Accept a HIT of a type; return the AssignmentId, or None when there was none."""
        page = self.client.post(f"/projects/{type_id}/tasks/accept_random", {"hitId": hit_id}, follow=True)
        found = re.search(r'data-assignment-id="(\w+)"', page.content.decode())
        return found.group(1) if found else None

    def give_back(self, assignment_id: str) -> None:
        self.client.post(f"/assignments/{assignment_id}/return")

    def submit(self, assignment_id: str, **fields: Any) -> int:
        """Post to externalSubmit as the task in the frame does, without cookies; return the HTTP status."""
        form = {"assignmentId": assignment_id, **(fields or {"answer": "yes"})}
        return Client(headers={"host": "localhost"}).post("/mturk/externalSubmit", form).status_code


@pytest.fixture
def new_worker(db: None) -> Callable[[], Browser]:
    return lambda: Browser(keys.create_worker()[0])


@pytest.fixture
def later() -> Iterator[Callable[..., datetime]]:
    """Move the marketplace's clock forward."""
    return clock.advance


@pytest.fixture
def scene(
    mturk: Any,
    values: dict[str, Any],
    new_hit: Callable[..., str],
    new_worker: Callable[[], Browser],
    settings: Any,
) -> dict[str, Any]:
    """Ids of one row of each kind, some of them twice so that an operation may use one up."""
    settings.MARKETPLACE_NOTIFICATION_TARGETS = {NOTIFICATION["Destination"]: "q.jsonl"}
    kind = mturk.create_qualification_type(**QUALIFICATION)["QualificationType"]["QualificationTypeId"]
    guard = [{"QualificationTypeId": kind, "Comparator": "Exists"}]
    mturk_hit = mturk.create_hit(**values)["HIT"]
    browser, worker_id = new_worker(), ""
    worker_id = browser.worker.worker_id
    assignment_id = browser.accept(mturk_hit["HITTypeId"])
    browser.submit(assignment_id)
    mturk.send_bonus(WorkerId=worker_id, AssignmentId=assignment_id, BonusAmount="1", Reason="r")
    mturk.associate_qualification_with_worker(QualificationTypeId=kind, WorkerId=worker_id)
    mturk.create_worker_block(WorkerId=worker_id, Reason="r")
    asker = new_worker()
    asker.client.post(f"/qualifications/{kind}")
    asked = mturk.list_qualification_requests()["QualificationRequests"][0]["QualificationRequestId"]
    new_hit(Title="Guarded", QualificationRequirements=guard)
    old = new_hit(Title="Old")
    mturk.update_expiration_for_hit(HITId=old, ExpireAt=0)
    return {
        "hit": {"HITId": mturk_hit["HITId"]},
        "old": {"HITId": old},
        "type": {"HITTypeId": mturk_hit["HITTypeId"]},
        "work": {"AssignmentId": assignment_id},
        "kind": {"QualificationTypeId": kind},
        "worker": {"WorkerId": worker_id},
        "asked": {"QualificationRequestId": asked},
        "values": values,
    }


@pytest.fixture
def worker_site(live_server: Any, settings: Any) -> str:
    """The worker site's address for a real browser."""
    address = f"http://localhost:{live_server.thread.port}"
    settings.MARKETPLACE_URL = address
    settings.CSRF_TRUSTED_ORIGINS = [address]
    return address


@pytest.fixture
def publish(requester: Requester) -> Callable[..., HITType]:
    """A function that publishes HITs of one type with a question document and returns the type."""

    def publish(question: str, *, count: int = 1, max_assignments: int = 1, **changes: Any) -> HITType:
        now = timezone.now()
        kind = hits.hit_type_for(requester, values=TypeValues(**{**TYPE, **changes}), now=now)
        for _ in range(count):
            offer = hits.Offer(question=question, max_assignments=max_assignments, lifetime=timedelta(days=1))
            hits.publish(kind, offer=offer, now=now)
        return kind

    return publish


@pytest.fixture
def sign_in(page: Any, worker_site: str) -> Callable[..., Any]:
    """A function that signs a new worker in on a real browser's page, which then is at `path`."""

    def sign_in(path: str = "/") -> Any:
        worker, code = keys.create_worker()
        page.goto(f"{worker_site}/sign-in?next={path}")
        page.get_by_label("Worker id").fill(worker.worker_id)
        page.get_by_label("Access code").fill(code)
        page.locator("#sign-in button").click()
        return page

    return sign_in


@pytest.fixture
def start(sign_in: Callable[..., Any], publish: Callable[..., HITType]) -> Callable[..., Any]:
    """A function that publishes an HTML document and opens it in a real browser: as a preview, or accepted."""

    def start(html: str, *, accept: bool = True) -> Any:
        page = sign_in(f"/projects/{publish(html_question(html)).type_id}/tasks")
        if accept:
            page.get_by_role("button", name="Accept").click()
            expect(page.locator("#countdown")).to_be_visible()
        expect(page.frame_locator("#task").get_by_role("heading", name="Task")).to_be_visible()
        return page

    return start
