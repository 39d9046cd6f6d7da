"""What a study depends on fails beneath it: broker, database, network, clock, and Celery's promise of one delivery."""

import itertools
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from urllib.request import urlopen

import pytest
from celery import Celery
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader

from annotators.models import Call
from surveys.operations.processes.stack import beat
from tests.faults import courses
from tests.faults.invariants import invariants
from tests.faults.points import Point, slow
from tests.faults.report import Line
from tests.faults.stack import Stack, database
from tests.faults.studies import Lab, Study, make_study

pytestmark = pytest.mark.processes

Operation = Call.Operation
MOST_TRIES = 4  # of one call, by boto3
TWO_HOURS = 7200
CLOCK = str(Path(__file__).parent / "clock")


@pytest.fixture
def study(lab: Lab) -> Study:
    return make_study(lab)


def survives(study: Study, line: Line, *, fault: str, who: str, seconds: float, fired: int = 1) -> None:
    """Fill in the report's line and ask whether all holds."""
    line.fault, line.process, line.course = fault, who, "marketplace"
    line.fired, line.seconds = fired, seconds
    line.invariants = invariants(study)
    assert line.broken == {}


def play(study: Study, *, meanwhile: Callable[[], None] = lambda: None) -> float:
    """Take the study to its end with something happening after every step; return how many seconds that took."""
    started = time.monotonic()
    for step in (study.publish, lambda: study.wait_until(study.is_open), lambda: study.work(wrong=[0])):
        step()
        meanwhile()
    study.finish()
    return time.monotonic() - started


# -- A whole service dies, not only one of its processes --------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "victims"),
    [
        pytest.param("outbox.claimed.CreateHITWithHITType", ["worker"], marks=slow),
        pytest.param("outbox.answered.RejectAssignment", ["worker"], marks=slow),
        pytest.param("replace.planned", ["worker"], marks=slow),
        pytest.param("submit.writing", ["web"], marks=slow),
        pytest.param("sync.decided", ["postgres"], marks=slow),
        pytest.param("sync.recovered", ["redis"], marks=slow),
        ("outbox.answered.CreateAdditionalAssignmentsForHIT", ["postgres"]),
        ("outbox.answered.ApproveAssignment", ["web", "worker", "beat", "redis", "postgres"]),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, list) else value,
)
def test_a_service_dies_while_a_process_stands_at(
    study: Study, line: Line, name: str, victims: list[str]
) -> None:
    stack, point, struck_at = study.lab.stack, Point(study.lab.stack, name), list[float]()

    def strike() -> None:
        point.wait()
        with stack.striking:
            for victim in victims:
                stack.kill(victim, by=signal.SIGQUIT if victim == "postgres" else signal.SIGKILL)
        struck_at.append(time.monotonic())
        point.release()

    point.arm(hold=True)
    striker = threading.Thread(target=strike)
    striker.start()
    try:
        play(study)
    finally:
        point.disarm()
        striker.join()
    who = "machine" if len(victims) > 1 else victims[0]
    survives(study, line, fault=f"{who} down at {name}", who=who, seconds=time.monotonic() - struck_at[0])


# -- A process stands still for so long that others take its work over, and then goes on -------------------------


@pytest.mark.parametrize(
    "name",
    [
        "outbox.claimed.CreateAdditionalAssignmentsForHIT",
        pytest.param("outbox.claimed.CreateHITWithHITType", marks=slow),
        pytest.param("outbox.claimed.ApproveAssignment", marks=slow),
        pytest.param("outbox.claimed.RejectAssignment", marks=slow),
        pytest.param("outbox.answered.CreateHITWithHITType", marks=slow),
        pytest.param("outbox.answered.RejectAssignment", marks=slow),
        pytest.param("replace.planned", marks=slow),
        pytest.param("sync.listed", marks=slow),
    ],
)
def test_a_process_wakes_up_when_others_have_done_its_work(study: Study, line: Line, name: str) -> None:
    point = Point(study.lab.stack, name)
    point.arm(hold=True)
    try:
        seconds = play(study)
        assert point.has_fired
        point.release()
        time.sleep(1)  # it goes on now, and whatever it does must change nothing
        study.wait_until(lambda: not study.open_calls().exists())
    finally:
        point.disarm()
    survives(study, line, fault=f"sleeper at {name}", who="worker", seconds=seconds)


# -- The network -----------------------------------------------------------------------------------------------


@contextmanager
def faults(study: Study, line: Line, *, operation: str, kind: str, times: int) -> Iterator[None]:
    """Let calls go wrong meanwhile, and count how many did."""
    crowd = study.lab.crowd
    crowd.plan_faults(operation=operation, kind=kind, times=times)
    try:
        yield
    finally:
        line.fired = times - crowd.clear_faults()


@pytest.mark.parametrize(
    "operation",
    [
        "CreateHITType",
        "CreateHITWithHITType",
        "ApproveAssignment",
        "RejectAssignment",
        "CreateAdditionalAssignmentsForHIT",
    ],
)
@pytest.mark.parametrize("kind", ["timeout", pytest.param("service-fault", marks=slow)])
def test_calls_go_unanswered(study: Study, line: Line, operation: str, kind: str) -> None:
    with faults(study, line, operation=operation, kind=kind, times=MOST_TRIES):
        seconds = play(study)
    assert line.fired >= 1  # what has a token is refused, not left unanswered, from the second try on
    fault = "time-out after commit" if kind == "timeout" else "service fault"
    survives(study, line, fault=f"{fault}: {operation}", who="network", seconds=seconds, fired=line.fired)


@slow
@pytest.mark.parametrize(
    ("operation", "course"), [("SendBonus", courses.pay_bonus), ("UpdateExpirationForHIT", courses.stopped)]
)
def test_a_later_call_goes_unanswered(
    study: Study, line: Line, operation: str, course: Callable[[Study], None]
) -> None:
    if operation == "SendBonus":
        play(study)
    else:
        study = courses.draft(study.lab, course="stopped")
    started = time.monotonic()
    with faults(study, line, operation=operation, kind="timeout", times=MOST_TRIES):
        course(study)
    assert line.fired >= 1  # what has a token is refused, not left unanswered, from the second try on
    seconds = time.monotonic() - started
    survives(
        study,
        line,
        fault=f"time-out after commit: {operation}",
        who="network",
        seconds=seconds,
        fired=line.fired,
    )


@slow
def test_a_storm_of_throttling(study: Study, line: Line) -> None:
    n_calls = 30
    with faults(study, line, operation="", kind="throttle", times=n_calls):
        seconds = play(study)
    assert line.fired == n_calls
    survives(study, line, fault="throttling storm", who="network", seconds=seconds, fired=n_calls)
    study.lab.stack.replace(study.lab.stack.worker())  # boto3 remembers for long to call slowly


# -- The broker, and what Celery promises ------------------------------------------------------------------------


def test_the_broker_forgets_everything(study: Study, line: Line) -> None:
    broker, n_forgotten = study.lab.stack.broker(), list[int]()

    def forget() -> None:
        broker.flushall()
        n_forgotten.append(1)

    seconds = play(study, meanwhile=forget)
    survives(study, line, fault="broker flushed", who="redis", seconds=seconds, fired=len(n_forgotten))


def messages(study: Study) -> list[tuple[str, list[object]]]:
    """Return every task about this study that anybody could send now."""
    hits = study.hits.values_list("pk", flat=True)
    questionnaires = study.batch.questionnaires.values_list("pk", flat=True)
    calls = Call.objects.filter(hit__in=study.hits).values_list("pk", flat=True)
    return [
        ("sweep", []),
        ("publish_batch", [study.batch.pk]),
        ("expire_batch", [study.batch.pk]),
        *(("publish_questionnaire", [str(pk)]) for pk in questionnaires),
        *(("sync_hit", [pk]) for pk in hits),
        *(("settle_call", [pk]) for pk in calls),
    ]


def sender(study: Study) -> Celery:
    return Celery(broker=study.lab.stack.redis.url, set_as_current=False)


def test_every_task_is_delivered_three_times(study: Study, line: Line) -> None:
    app, n_sent = sender(study), list[int]()

    def send() -> None:
        for name, arguments in messages(study):
            for _ in range(3):
                app.send_task(f"surveys.sync.{name}", args=arguments)
                n_sent.append(1)

    seconds = play(study, meanwhile=send)
    send()
    study.wait_until(lambda: study.lab.stack.broker().llen("celery") == 0)
    survives(study, line, fault="tasks delivered thrice", who="redis", seconds=seconds, fired=len(n_sent))


@slow
def test_tasks_arrive_in_reverse_order(study: Study, line: Line) -> None:
    """The worker is stopped while tasks pile up; then the queue is turned round."""
    app, stack, n_turned = sender(study), study.lab.stack, list[int]()

    def turn() -> None:
        with stack.suspended("worker"):
            for name, arguments in messages(study):
                app.send_task(f"surveys.sync.{name}", args=arguments)
            waiting = stack.broker().lrange("celery", 0, -1)
            stack.broker().delete("celery")
            stack.broker().rpush("celery", *reversed(waiting))
            n_turned.append(len(waiting))

    seconds = play(study, meanwhile=turn)
    survives(study, line, fault="tasks in reverse order", who="redis", seconds=seconds, fired=sum(n_turned))


def test_two_beats_at_once(study: Study, line: Line) -> None:
    stack = study.lab.stack
    second = beat(environment=stack.environment(ASSENT_DATA_DIR=str(stack.folder / "second")))
    stack.add(second, name="second beat")
    try:
        seconds = play(study)
    finally:
        stack.remove("second beat")
    survives(study, line, fault="two beats", who="beat", seconds=seconds)


# -- A new version is put in the place of the old one -----------------------------------------------------------


@contextmanager
def asking(addresses: list[str]) -> Iterator[list[int]]:
    """Ask for these pages meanwhile, each on a new connection; give the statuses of the answers, 0 where none came."""
    answers, is_over = list[int](), threading.Event()

    def ask() -> None:
        for address in itertools.cycle(addresses):
            if is_over.is_set():
                return
            try:
                with urlopen(address, timeout=20) as page:
                    answers.append(page.status)
            except OSError as error:
                answers.append(getattr(error, "code", 0))
            time.sleep(0.02)

    asker = threading.Thread(target=ask)
    asker.start()
    try:
        yield answers
    finally:
        is_over.set()
        asker.join()


EXPANSION = [
    migrations.AddField("assignment", "next_note", models.TextField(null=True)),
    migrations.AddField("assignment", "next_count", models.IntegerField(db_default=0)),
    migrations.CreateModel("NextThing", [("id", models.BigAutoField(primary_key=True))]),
    migrations.AddIndex("assignment", models.Index(fields=["next_note"], name="next_note")),
]


def expand() -> None:
    """Migrate as a next version may while this one runs: what old code does not name is empty or has a default."""
    state = MigrationLoader(connection).project_state()
    for operation in EXPANSION:
        before, state = state, state.clone()
        operation.state_forwards("annotators", state)
        with connection.schema_editor() as editor:
            operation.database_forwards("annotators", editor, before, state)


def contract() -> None:
    """Leave the tables as they were for the other tests."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE annotators_assignment DROP COLUMN next_note, DROP COLUMN next_count")
        cursor.execute("DROP TABLE annotators_nextthing")


def deploy(stack: Stack) -> None:
    """Migrate, then have web, worker and beat go on as new processes, each when it has done what it had begun."""
    with database(stack.database_url):
        expand()
    stack.supervisors["web"].children["web"].send_signal(signal.SIGHUP)  # docs.gunicorn.org: graceful reload
    for name in ("worker", "beat"):
        stack.supervisors[name].children[name].send_signal(signal.SIGTERM)


@slow
def test_a_version_is_deployed_while_people_work(lab: Lab, line: Line) -> None:
    study, stack = make_study(lab, assignments=3), lab.stack
    pages = [f"{stack.app_url}/healthz", f"{stack.marketplace_url}/", f"{stack.app_url}/admin/login/"]
    deploying = threading.Thread(target=deploy, args=[stack])
    started = time.monotonic()
    study.publish()
    study.wait_until(study.is_open)
    with asking(pages) as answers:
        deploying.start()
        try:
            study.work(wrong=[0])
            study.finish()
        finally:
            deploying.join()
        seconds = time.monotonic() - started
        survives(study, line, fault="deployed, migrated", who="all", seconds=seconds)
        after = make_study(lab)
        play(after)
    contract()
    assert (set(answers), len(answers) > len(pages)) == ({200}, True)
    assert {name: why for name, why in invariants(after).items() if why} == {}
    line.fired = len(answers)


# -- The clock ---------------------------------------------------------------------------------------------------


@slow
@pytest.mark.parametrize(("first", "then"), [(TWO_HOURS, 0), (-TWO_HOURS, TWO_HOURS)], ids=["back", "ahead"])
def test_the_workers_clock_jumps(lab: Lab, line: Line, first: int, then: int) -> None:
    """The worker that publishes and looks at the HITs first has another time than the one that ends the study.

    Its time is also that of the marketplace's own tasks, so nothing may run out there within those hours.
    """
    study, stack = make_study(lab, assignment_duration=timedelta(hours=12)), lab.stack

    def jump(seconds: int) -> None:
        stack.replace(stack.worker(PYTHONPATH=CLOCK, CRASH_TEST_CLOCK=str(seconds)))

    jump(first)
    try:
        started = time.monotonic()
        study.publish()
        study.wait_until(study.is_open, skips=False)
        study.submit(study.hits.get(), is_right=False)
        study.wait_until(lambda: study.hits.get().synced_at is not None, skips=False)
        jump(then)
        study.finish()
        seconds = time.monotonic() - started
    finally:
        stack.replace(stack.worker())
    hours = f"{first // 3600:+d} h, then {then // 3600:+d} h"
    survives(study, line, fault=f"clock {hours}", who="worker", seconds=seconds)
