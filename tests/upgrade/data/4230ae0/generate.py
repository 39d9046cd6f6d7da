"""Make the data of this folder with the code of commit 4230ae0. README.md beside it says how it is run.

One process is everything: the web server of both sites, the tasks (run where they are enqueued) and the simulated
people of the rehearsal. Time, random bytes and ids follow from constants, so that a second run makes the same bytes.
"""

import csv
import hmac
import itertools
import json
import os
import secrets
import shutil
import sqlite3
import sys
import threading
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stdout
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urljoin, urlsplit

HERE = Path(__file__).resolve().parent
PORT = 8731
KEY = "the data of 4230ae0 open nothing"
TOKEN = "control"
BEGIN = datetime(2026, 6, 1, 9, tzinfo=UTC)
EVIL, XAI, VTT = "Explanations, June", "Labels, June", "Changes, by link"


def main() -> None:
    out = Path(sys.argv[1]).resolve()
    live, expected = out / "live", out / "expected"
    live.mkdir(parents=True)
    prepare_process(live)
    with served():
        keys = perform(expected)
    write_databases(live, out)
    write_doors(keys, out)
    shutil.rmtree(live)


# -- A process in which everything follows from constants ----------------------------------------------------------


class Chance:
    """Stands for `secrets` and `uuid`: a stream of bytes that is the same every time."""

    def __init__(self) -> None:
        self.n, self.lock = itertools.count(), threading.Lock()

    def token_bytes(self, n: int | None = None) -> bytes:
        with self.lock:
            blocks = (
                hmac.digest(KEY.encode(), str(next(self.n)).encode(), "sha256") for _ in itertools.count()
            )
            data = b""
            while len(data) < (n or 32):
                data += next(blocks)
        return data[: n or 32]

    def token_hex(self, n: int | None = None) -> str:
        return self.token_bytes(n).hex()

    def token_urlsafe(self, n: int | None = None) -> str:
        return self.token_hex(n)

    def randbelow(self, limit: int) -> int:
        return int.from_bytes(self.token_bytes(16)) % limit

    def choice(self, options: Any) -> Any:
        return options[self.randbelow(len(options))]

    def uuid4(self) -> uuid.UUID:
        return uuid.UUID(bytes=self.token_bytes(16), version=4)


class Clock:
    """A time of our own. Each look at it takes a millisecond."""

    def __init__(self) -> None:
        self.at = BEGIN

    def now(self) -> datetime:
        self.at += timedelta(milliseconds=1)
        return self.at

    def let_pass(self, **time: float) -> None:
        self.at += timedelta(**time)


CLOCK, CHANCE = Clock(), Chance()


def prepare_process(live: Path) -> None:
    """Point the settings into `live`, and take chance and time away; before any model is imported."""
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "ASSENT_DATA_DIR": str(live),
        "ASSENT_APP_URL": f"http://127.0.0.1:{PORT}",
        "ASSENT_MARKETPLACE_URL": f"http://localhost:{PORT}",
        "SECRET_KEY": KEY,
        "MARKETPLACE_CONTROL_TOKEN": TOKEN,
        "LOG_LEVEL": "ERROR",
        "LOGNAME": "lab",  # whom getpass.getuser() names
        "NO_PROXY": "127.0.0.1,localhost",
    }
    for name in ("DATABASE_URL", "REDIS_URL", "ASSENT_MEDIA_DIR", "DEBUG"):
        os.environ.pop(name, None)
    for name in ("token_bytes", "token_hex", "token_urlsafe", "randbelow", "choice"):
        setattr(secrets, name, getattr(CHANCE, name))
    uuid.uuid4 = CHANCE.uuid4
    zipfile.time = SimpleNamespace(localtime=lambda *_: BEGIN.timetuple(), time=lambda: BEGIN.timestamp())

    import django
    from django.utils import timezone

    timezone.now = CLOCK.now
    django.setup()
    import botocore.auth
    from django.core import signing

    from config.celery import app

    botocore.auth.get_current_datetime = lambda: CLOCK.now().replace(tzinfo=None)
    signing.time = SimpleNamespace(time=lambda: CLOCK.at.timestamp())
    app.conf.update(task_always_eager=True, task_eager_propagates=True)


@contextmanager
def served() -> Iterator[None]:
    """Serve both sites from a thread of this process."""
    from django.core.management import call_command
    from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler

    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    from config.wsgi import application  # looks for the static files as it starts

    class Handler(WSGIRequestHandler):
        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadedWSGIServer(("127.0.0.1", PORT), Handler)
    server.set_app(application)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield
    finally:
        server.shutdown()


# -- The people ----------------------------------------------------------------------------------------------------


class Crowd:
    """Workers of the marketplace, each with how much they know (0: always wrong)."""

    def __init__(self) -> None:
        from django.conf import settings

        from surveys.rehearsal.browser import new_pool
        from surveys.rehearsal.control import Control

        self.pool = new_pool()
        self.url = settings.MARKETPLACE_URL
        self.control = Control(self.url, TOKEN, self.pool)
        self.accounts = self.control.workers(count=14, seed=4230)

    def visitor(self, number: int, world: Any, *, knows: float, kind: str) -> Any:
        from surveys.rehearsal.browser import Browser
        from surveys.rehearsal.hit_visits import HitVisitor
        from surveys.rehearsal.people import Kind, Person

        person = Person(*self.accounts[number], Kind(kind), knows, 1.0)
        return HitVisitor(person, Browser(self.pool), world)


def world_of(batch: Any, crowd: Crowd, *, items: Path) -> Any:
    from surveys.rehearsal.knowledge import Knowledge
    from surveys.rehearsal.visits import World

    knowledge = Knowledge.of_file(items, definition=batch.definition)
    return World(crowd.url, 4230, knowledge)


class Work:
    """One batch on the marketplace, and who does which HIT of it."""

    def __init__(self, batch: Any, crowd: Crowd, *, items: Path) -> None:
        self.batch, self.crowd = batch, crowd
        self.world = world_of(batch, crowd, items=items)

    def hit(self, position: int) -> Any:
        return self.batch.questionnaires.get(position=position).hit

    def open(self, number: int, position: int, *, knows: float = 1.0, kind: str = "diligent") -> Any:
        """Let worker `number` accept and think over a HIT."""
        CLOCK.let_pass(minutes=11)
        hit = self.hit(position)
        visitor = self.crowd.visitor(number, self.world, knows=knows, kind=kind)
        visit = visitor.accept(hit_type_id=hit.hit_type.hit_type_id, hit_id=hit.hit_id)
        visit.look(seen=set())
        visit.think()
        return visit

    def do(self, number: int, position: int, **how: Any) -> Any:
        """Let worker `number` do a HIT; return our assignment."""
        visit = self.open(number, position, **how)
        CLOCK.let_pass(minutes=4, seconds=number)
        visit.submit()
        return self.assignment(number, position)

    def assignment(self, number: int, position: int) -> Any:
        from annotators.models import Assignment

        return Assignment.objects.get(
            hit=self.hit(position), worker__worker_id=self.crowd.accounts[number][0]
        )

    def settle(self) -> None:
        """What beat would do about this batch, until nothing changes any more."""
        from surveys import tasks

        CLOCK.let_pass(minutes=2)
        for _ in range(3):
            tasks.sync_batch(self.batch.pk)
        tasks.sweep()
        self.batch.refresh_from_db()


class Researcher:
    """Somebody's browser on the researchers' pages."""

    def __init__(self, name: str) -> None:
        from django.contrib.auth.models import User
        from django.test import Client

        self.client = Client(headers={"host": f"127.0.0.1:{PORT}"})
        self.client.force_login(User.objects.get(username=name))

    def send(self, path: str, **fields: Any) -> Any:
        """Post a form; the page must be taken."""
        CLOCK.let_pass(seconds=40)
        answer = self.client.post(path, fields)
        assert answer.status_code in {200, 302}, (path, answer.status_code, answer.content[:2000])
        return answer


# -- The course ----------------------------------------------------------------------------------------------------


def perform(expected: Path) -> dict[str, Any]:
    """Let all of it happen; return what people hold in their hands."""
    from django.core.management import call_command

    call_command("loaddata", "marketplace_demo", verbosity=0)
    with redirect_stdout(StringIO()):
        call_command("create_roles")
    make_people()
    crowd = Crowd()
    xai = do_xai(crowd)
    CLOCK.let_pass(days=45)
    purge_whoever_did_nothing_since()
    evil = do_evil(crowd)
    vtt, keys = do_vtt(crowd)
    keys |= use_marketplace(crowd)
    keys |= use_requester_site()
    score()
    CLOCK.let_pass(
        days=40
    )  # rates of the last 30 days in raw files are those of nothing, whenever they are read
    write_expected(expected, batches=[evil, xai, vtt])
    return keys


def make_people() -> None:
    """A superuser, two researchers, an assistant; none of them has a password."""
    from django.contrib.auth.models import Group, Permission, User

    from marketplace.models import Requester

    roles = {"ada": "", "marie": "Researcher", "otto": "Researcher", "niels": "Assistant"}
    for name, role in roles.items():
        person = User(username=name, email=f"{name}@example.org", is_staff=True, is_superuser=not role)
        person.set_unusable_password()
        person.save()
        person.groups.set(Group.objects.filter(name=role))
    otto = User.objects.get(username="otto")
    otto.user_permissions.add(Permission.objects.get(codename="view_loggedcall"))
    Requester.objects.get(name="Demo Lab").researchers.add(User.objects.get(username="marie"))


def draft(definition: str, *, name: str, **terms: Any) -> tuple[Any, Path]:
    """Draft a batch of the demo study of that type; return it with its item file."""
    from django.contrib.auth.models import User

    from surveys.management.demo_studies import FOLDER, STUDIES, demo_batch, demo_survey

    study = next(study for study in STUDIES if study.definition.key == definition)
    study = replace(study, batch=name, terms={**study.terms, "seed": 4230, **terms})
    batch = demo_batch(study, survey=demo_survey(study))
    batch.created_by = User.objects.get(username="marie")
    batch.save()
    return batch, FOLDER / study.items


def publish(batch: Any) -> None:
    from surveys import publishing, tasks

    publishing.start_publishing(batch, by=batch.created_by)
    tasks.publish_batch(batch.pk)
    batch.refresh_from_db()
    assert batch.status == "open", batch.error


def do_xai(crowd: Crowd) -> Any:
    """Three HITs, two workers each, with the quiz. Worker 13 is seen nowhere else, and purged later."""
    batch, items = draft("xai", name=XAI, assignments_per_hit=2)
    publish(batch)
    work = Work(batch, crowd, items=items)
    for position in (1, 2, 3):
        work.do(position, position, kind="careless")
        work.do(0 if position < 3 else 13, position)
    work.settle()
    approve_whatever_waits(work)
    assert batch.status == "complete", batch.status
    return batch


def approve_whatever_waits(work: Work) -> None:
    """Approve, as a person, what rules leave to one."""
    from annotators.models import Assignment

    waiting = Assignment.objects.filter(hit__questionnaire__batch=work.batch, status="Submitted")
    for assignment in waiting.order_by("pk"):
        Researcher("niels").send(f"{page_of(assignment)}decide", action="approve", reason="")
    work.settle()


def purge_whoever_did_nothing_since() -> None:
    """Purge worker 13 by their last work: the others, who worked then too, are held by later visits to the site."""
    from django.core.management import call_command

    from annotators.models import Worker

    others = Worker.objects.exclude(pk=Worker.objects.latest("pk").pk)
    created = dict(others.values_list("pk", "created_at"))
    others.update(created_at=CLOCK.now())
    with redirect_stdout(StringIO()) as told:
        call_command("purge_workers", before=f"{CLOCK.now() - timedelta(days=30):%Y-%m-%d}")
    assert "purged: 1" in told.getvalue(), told.getvalue()
    for pk, at in created.items():
        Worker.objects.filter(pk=pk).update(created_at=at)


def do_evil(crowd: Crowd) -> Any:
    """Three HITs for three workers each; five more are bought for rejected and excluded work."""
    from surveys.models import Appeal

    batch, items = draft("evil-vqax", name=EVIL, assignments_per_hit=3, budget=Decimal("9.00"))
    publish(batch)
    work, marie = Work(batch, crowd, items=items), Researcher("marie")
    give_back(work.open(6, 1))
    work.do(0, 1)
    work.do(1, 1, knows=0.8, kind="careless")
    upheld = work.do(2, 1, knows=0.0)
    work.do(0, 2, kind="double submitter")
    overturned = work.do(4, 2, knows=0.0)
    left_out = work.do(5, 2)
    work.do(1, 3, knows=0.9)
    granted = work.do(7, 3, knows=0.0)
    unused = work.do(8, 3)
    work.settle()
    marie.send(f"/batches/{batch.pk}/budget", budget="25.00")
    work.settle()

    watch(marie, worker=upheld.worker, standing="excluded", reason="Chose the first answer everywhere.")
    decide(
        marie,
        overturned,
        action="overturn",
        reason="We looked again: the pictures were hard.",
        use_answers="on",
    )
    marie.send(
        f"{page_of(left_out)}use", action="exclude", reason="Said afterwards that they guessed.", replace="on"
    )
    marie.send(f"{page_of(unused)}use", action="exclude", reason="Knew the pictures from elsewhere.")
    appeal(Appeal.objects.get(assignment=upheld), text="I did look at <all> of them – honestly.")
    appeal(
        Appeal.objects.get(assignment=granted), text="The stall sells flowers, not fish.\nPlease look again."
    )
    work.settle()
    answer(marie, granted, outcome="overturned", answer="You are right, and we thank you.")
    answer(marie, upheld, outcome="upheld", answer="Four of five answers name things that are not there.")
    work.settle()

    for number, position in ((3, 1), (9, 2), (10, 2), (11, 3)):
        if (
            work.hit(position).max_assignments
            > work.hit(position).assignments.exclude(status="Accepted").count()
        ):
            work.do(number, position)
            work.settle()
    approve_whatever_waits(work)
    give_bonus(work.assignment(0, 1), amount="0.50", reason="For the long remark.")
    watch(marie, worker=work.assignment(1, 1).worker, standing="watch", reason="Very quick on two HITs.")
    work.settle()
    assert batch.status == "complete", (batch.status, batch.error)
    return batch


def page_of(assignment: Any) -> str:
    return f"/batches/{assignment.hit.questionnaire.batch_id}/assignments/{assignment.pk}/"


def decide(by: Researcher, assignment: Any, **form: str) -> None:
    by.send(f"{page_of(assignment)}decide", **form)


def watch(by: Researcher, *, worker: Any, standing: str, reason: str) -> None:
    by.send(f"/workers/{worker.pk}/standing", standing=standing, was=worker.standing, reason=reason)


def give_back(visit: Any) -> None:
    """Return a HIT whose drafts were saved."""
    from marketplace import clock, engine
    from marketplace.models import Assignment

    found = Assignment.objects.get(worker__worker_id=visit.person.worker_id, status=Assignment.Status.OPEN)
    engine.give_back(found, now=clock.now())


def appeal(made: Any, *, text: str) -> None:
    """Send the appeal's page, as the worker does."""
    from django.test import Client

    CLOCK.let_pass(hours=3)
    answer = Client(headers={"host": f"127.0.0.1:{PORT}"}).post(f"/appeals/{made.code}/", {"text": text})
    assert answer.status_code in {200, 303}, answer.content


def answer(by: Researcher, assignment: Any, **form: str) -> None:
    by.send(f"/appeals/{assignment.appeal.pk}/answer", **form)


def give_bonus(assignment: Any, *, amount: str, reason: str) -> None:
    form = {"nonce": str(CHANCE.uuid4()), "amount": amount, "reason": reason, "confirmed": "1"}
    Researcher("marie").send(f"{page_of(assignment)}bonus", **form)


def do_vtt(crowd: Crowd) -> tuple[Any, dict[str, Any]]:
    """A survey of a team's own: two people are at work, one has not come, one may not, one came from a panel."""
    from django.contrib.auth.models import User

    from surveys.models import Survey

    batch, items = draft("vtt", name=VTT, assignments_per_hit=2, lifetime=timedelta(days=300))
    Survey.objects.filter(pk=batch.survey_id).update(is_shared=False)
    batch.survey.team.set(User.objects.filter(username__in=["marie", "niels"]))
    publish(batch)
    marie = Researcher("marie")
    people = f"/batches/{batch.pk}/people/"
    typed = "Ann, ann@example.org\nBéla; bela@example.org\nChris\nDora, dora@example.org"
    form = {"people": typed.replace(";", ","), "expires_at": "2099-12-31", "as": "csv"}
    invited = list(csv.DictReader(marie.send(f"{people}invite", **form).content.decode().splitlines()))
    marie.send(f"{people}{batch.invitations.get(name='Dora').pk}/revoke")
    panel = {"completion_code": "C1A2B3", "assignments_per_worker": "1", "provider": "prolific"}
    names = {
        "worker_parameter": "PROLIFIC_PID",
        "study_parameter": "STUDY_ID",
        "session_parameter": "SESSION_ID",
    }
    marie.send(f"{people}panel", **panel, **names)

    world = world_of(batch, crowd, items=items)
    ann = visit_by_link(batch, "Ann", crowd, world)
    for n in range(5):
        ann = hand_in(ann, skips=n == 2)
    change(ann)
    bela = visit_by_link(batch, "Béla", crowd, world, kind="careless")
    for _ in range(3):
        bela = hand_in(bela)
    bela.think()
    come_from_panel(batch, crowd, world)
    CLOCK.let_pass(minutes=5)
    from surveys import tasks

    tasks.sync_batch(batch.pk)
    tasks.sweep()
    batch.refresh_from_db()
    assert batch.status == "open", batch.status
    return batch, keys_of(batch, invited, bela)


def keys_of(batch: Any, invited: list[dict[str, str]], visit: Any) -> dict[str, Any]:
    """Return what the pages have given to people who come by link; `visit` is a page that is open."""
    from surveys.models import Appeal

    item, form = visit.page.items[0], visit.page.form
    name = item.groups[0].name if item.groups else item.outputs[0].groups[0].name
    body = {"token": form.hidden["token"], "position": item.position, "version": 9, "seconds": 1}
    return {
        "links": {row["name"]: urlsplit(row["address"]).path for row in invited},
        "codes": {row["name"]: row["access_code"] for row in invited},
        "sign_in": f"/links/sign-in/{batch.pk}/",
        "panel": f"/panel/{batch.panel.code}/?PROLIFIC_PID=5f2a77&STUDY_ID=s1&SESSION_ID=t1",
        "open_page": {
            "path": urlsplit(urljoin(visit.url, visit.page.draft_url)).path,
            "body": {**body, "answers": {name.removeprefix(item.prefix): "3"}},
        },
        "appeals": list(Appeal.objects.order_by("pk").values_list("code", flat=True)),
    }


def visit_by_link(batch: Any, name: str, crowd: Crowd, world: Any, *, kind: str = "diligent") -> Any:
    from surveys.inviting import address

    return visitor_at(address(batch.invitations.get(name=name)), name, crowd, world, kind=kind).start()


def visitor_at(address: str, name: str, crowd: Crowd, world: Any, *, kind: str = "diligent") -> Any:
    from surveys.rehearsal.browser import Browser
    from surveys.rehearsal.link_visits import LinkVisitor
    from surveys.rehearsal.people import Kind, Person

    return LinkVisitor(Person(name, "", Kind(kind), 0.9, 1.0), Browser(crowd.pool), world, address)


def hand_in(visit: Any, *, skips: bool = False) -> Any:
    """Answer an annotation, or skip it; return the next one."""
    CLOCK.let_pass(minutes=3)
    visit.think()
    if not skips:
        return visit.submit()
    item = visit.page.items[0]
    fields = {**visit.page.form.hidden, "skip": "1", f"{item.prefix}skip": "image_unrelated"}
    return visit.visitor.opened(visit.post(fields.items()))


def change(visit: Any) -> None:
    """Answer the annotation that was handed in first differently."""
    from surveys.rehearsal.hit_page import read_hit_page
    from surveys.rehearsal.link_visits import LinkVisit

    CLOCK.let_pass(minutes=1)
    own = visit.url.rsplit("/", 2)[0]
    number = min(work.annotation_slot.number for work in saved_of(visit))
    url = f"{own}/{number}/"
    again = LinkVisit(visitor=visit.visitor, url=url, page=read_hit_page(visit.visitor.browser.get(url).root))
    changed = again.post([*again.page.form.hidden.items(), *again.first_options()])
    assert changed.status == 200, changed.body[:2000]


def saved_of(visit: Any) -> Any:
    from annotators.models import Assignment

    of_person = Assignment.objects.filter(worker__invitations__name=visit.person.worker_id)
    return of_person.filter(saved_at__isnull=False, annotation_slot__isnull=False)


def come_from_panel(batch: Any, crowd: Crowd, world: Any) -> None:
    from surveys.inviting import panel_address

    address = panel_address(batch.panel).partition("?")[0]
    query = "PROLIFIC_PID=5f2a77&STUDY_ID=s1&SESSION_ID=t1"
    visitor = visitor_at(address, "Panelist", crowd, world)
    page = visitor.browser.get(f"{address}?{query}")
    assert page.status == 200, page.body[:2000]
    visitor.address = page.url
    hand_in(visitor.start() if page.root.find("form", id="hit") is None else visitor.opened(page))


def use_marketplace(crowd: Crowd) -> dict[str, Any]:
    """Another requester's own HITs: a qualification, an HTMLQuestion, a block, a message, a bonus, notifications."""
    import boto3

    from marketplace import keys, ledger
    from marketplace.models import Requester

    requester = Requester.objects.create(name="Sound Lab")
    ledger.deposit(requester, cents=2_500, now=CLOCK.now())
    key, secret = keys.create_key(requester)
    client = boto3.client(
        "mturk", region_name="us-east-1", endpoint_url=crowd.url,
        aws_access_key_id=key.key_id, aws_secret_access_key=secret,
    )  # fmt: skip
    kind = client.create_qualification_type(
        Name="Has good headphones", Description="By their word.", QualificationTypeStatus="Active"
    )
    type_id = kind["QualificationType"]["QualificationTypeId"]
    ids = [account[0] for account in crowd.accounts]
    client.associate_qualification_with_worker(
        QualificationTypeId=type_id, WorkerId=ids[0], IntegerValue=7, SendNotification=True
    )
    question = (
        '<HTMLQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2011-11-11/HTMLQuestion.xsd">'
        "<HTMLContent><![CDATA[<!DOCTYPE html><form><input name='heard'></form>]]></HTMLContent>"
        "<FrameHeight>400</FrameHeight></HTMLQuestion>"
    )
    hit = client.create_hit(
        Title="What do you hear?", Description="One sound.", Keywords="sound", Reward="0.10", MaxAssignments=3,
        LifetimeInSeconds=86_400, AssignmentDurationInSeconds=600, AutoApprovalDelayInSeconds=259_200,
        Question=question, UniqueRequestToken="sound-1",
    )["HIT"]  # fmt: skip
    steps = [
        {"worker": ids[0], "hit": hit["HITId"], "do": "submit", "answers": {"heard": "a bell"}},
        {"worker": ids[1], "hit": hit["HITId"], "do": "submit", "answers": {"heard": "é <nothing> & more"}},
        {"worker": ids[3], "hit": hit["HITId"], "do": "return"},
        {"worker": ids[5], "hit": hit["HITId"], "do": "accept"},
    ]
    done = crowd.control._call("POST", "bots", {"requester": requester.name, "steps": steps})
    assert not [step for step in done if "refused" in step], done
    client.approve_assignment(AssignmentId=done[0]["assignment"], RequesterFeedback="Well heard.")
    client.reject_assignment(AssignmentId=done[1]["assignment"], RequesterFeedback="There was something.")
    client.send_bonus(
        WorkerId=ids[0],
        AssignmentId=done[0]["assignment"],
        BonusAmount="0.25",
        Reason="Quick.",
        UniqueRequestToken="bonus-1",
    )
    client.create_worker_block(WorkerId=ids[1], Reason="Hears nothing.")
    client.create_hit_type(
        Title="Hear and tell", Description="For good headphones.", Reward="0.20", AssignmentDurationInSeconds=600,
        QualificationRequirements=[{"QualificationTypeId": type_id, "Comparator": "Exists"}],
    )  # fmt: skip
    client.notify_workers(
        Subject="More sounds", MessageText="There will be more next week.", WorkerIds=[ids[0]]
    )
    return {"workers": dict(crowd.accounts[:2]), "requester": {"key_id": key.key_id, "secret": secret}}


def use_requester_site() -> dict[str, Any]:
    """A template batch of two rows, an invitation nobody took, and a clock that was moved."""
    from marketplace import clock, invitations
    from marketplace.batches import drafts, publishing
    from marketplace.models import Requester, TemplateBatch

    draft = TemplateBatch(
        requester=Requester.objects.get(name="Sound Lab"), title="Say what it is", description="One word.",
        template="<p>${thing}</p><input name='word'>", columns=["thing"], reward_cents=5, duration_seconds=300,
        auto_approval_seconds=86_400, lifetime_seconds=86_400, max_assignments=2,
    )  # fmt: skip
    drafts.save(draft, rows=[["a bell"], ["a dröne & <more>"]], now=CLOCK.now())
    publishing.publish(draft, now=CLOCK.now())
    (token,) = invitations.create(number=1, most_uses=5, days=36_500, note="For the lab", now=CLOCK.now())
    clock.advance(seconds=90)
    return {"invitation": f"/invitations/{token}"}


def score() -> None:
    """Automatic metrics of all outputs."""
    from surveys import tasks

    tasks.score_surveys()


# -- What is kept --------------------------------------------------------------------------------------------------


def write_expected(folder: Path, *, batches: list[Any]) -> None:
    """Write what this code says of the data: every file of every batch, and the facts."""
    from django.core.management import call_command

    from surveys.exports import layouts_for

    sys.path.insert(0, str(HERE.parents[1]))
    from facts import facts

    with redirect_stdout(StringIO()):
        for batch in batches:  # those with ids first, as the audit trail tells of them
            place = folder / batch.survey.slug
            raw = [name for name, layout in layouts_for(batch).items() if layout.is_raw]
            why = {"worker_ids": True, "reason": "Bonuses paid outside."}
            call_command("export_batch", batch.name, out=place / "with-ids", layout=raw, **why)
            call_command("export_batch", batch.name, out=place)
    (folder / "facts.json").write_text(in_lines(facts()), encoding="utf-8")


def in_lines(told: dict[str, Any]) -> str:
    """Return JSON with a line for each row, to be compared by eye."""
    blocks = (f"{json.dumps(what)}: {_in_lines(rows)}" for what, rows in told.items())
    return "{" + ",\n".join(blocks) + "}\n"


def _in_lines(rows: Any) -> str:
    plain = {"ensure_ascii": False, "sort_keys": True}
    if isinstance(rows, dict):
        return json.dumps(rows, **plain)
    return "[\n" + ",\n".join(json.dumps(row, **plain) for row in rows) + "\n]"


def write_databases(live: Path, out: Path) -> None:
    """Write the archive, and the SQLite file with its media folder, as two ZIP files."""
    from django.conf import settings

    from surveys.backups import backup

    backup(out / "backup.zip")
    with closing(sqlite3.connect(live / "db.sqlite3")) as database:
        database.execute("VACUUM INTO ?", [str(out / "db.sqlite3")])
    media = Path(settings.MEDIA_ROOT)
    with zipfile.ZipFile(out / "site.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in [out / "db.sqlite3", *sorted(media.rglob("*"))]:
            if path.is_file():
                base = out if path.suffix == ".sqlite3" else media.parent
                info = zipfile.ZipInfo(path.relative_to(base).as_posix())
                archive.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)
    (out / "db.sqlite3").unlink()


def write_doors(keys: dict[str, Any], out: Path) -> None:
    """Write what people hold, and what the pages answer to each; that changes rows, so it comes last."""
    from doors import doors

    written = {"keys.json": keys, "expected/doors.json": doors(keys)}
    for name, told in written.items():
        (out / name).write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
