"""A process is killed at every boundary between database, broker and network; nothing is lost or done twice."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.faults import courses
from tests.faults.invariants import invariants
from tests.faults.keys import make_script
from tests.faults.late import LateStudy, late_invariants
from tests.faults.links import LinkStudy, RejectingStudy, link_invariants, rejecting_invariants
from tests.faults.points import Point, cases
from tests.faults.report import Line
from tests.faults.studies import Lab, Study

pytestmark = pytest.mark.processes


@contextmanager
def killed(name: str, *, lab: Lab, line: Line) -> Iterator[None]:
    """Let a process die at the point meanwhile, and fail if none got there."""
    point = Point(lab.stack, name)
    point.arm()
    try:
        yield
        point.wait()
        line.fired, line.seconds = 1, time.time() - point.fired_at
    finally:
        point.disarm()


def of_kind(study: Study) -> dict[str, list[str]]:
    """Ask of a study what its kind promises."""
    if isinstance(study, LateStudy):
        return late_invariants(study)
    if isinstance(study, RejectingStudy):
        return link_invariants(study) | rejecting_invariants(study)
    return link_invariants(study) if isinstance(study, LinkStudy) else invariants(study)


def check(study: Study, line: Line) -> None:
    line.invariants = of_kind(study)
    assert line.broken == {}


@pytest.mark.parametrize(("course", "process", "name"), cases(*courses.COURSES))
def test_a_study_survives(lab: Lab, line: Line, course: str, process: str, name: str) -> None:
    line.fault, line.process, line.course = name, process, course
    study = courses.draft(lab, course=course)
    with killed(name, lab=lab, line=line):
        courses.COURSES[course](study)
    check(study, line)


@pytest.fixture(scope="module")
def decided(lab: Lab) -> Study:
    """A complete study with six rejections, each of which was bought once more."""
    study = courses.make_study(lab, n_hits=2, assignments=3)
    study.publish()
    study.wait_until(study.is_open)
    study.work(wrong=range(6))
    study.finish()
    return study


@pytest.mark.parametrize(("course", "process", "name"), cases("decided"))
def test_a_later_decision_survives(decided: Study, line: Line, course: str, process: str, name: str) -> None:
    line.fault, line.process, line.course = name, process, course
    act = courses.pay_bonus if "Bonus" in name else courses.overturn
    with killed(name, lab=decided.lab, line=line):
        act(decided)
    check(decided, line)


@pytest.mark.parametrize("what", ["draft", "invitations", "items"])
@pytest.mark.parametrize(("course", "process", "name"), cases("under a key"))
def test_what_is_asked_under_a_key_survives(
    lab: Lab, line: Line, course: str, process: str, name: str, what: str
) -> None:
    line.fault, line.process, line.course = name, process, f"{course}: {what}"
    script = make_script(lab)
    with killed(name, lab=lab, line=line):
        first = script.ask(what)
    again = script.ask(what)
    line.invariants = {
        "made once": list(script.wrong(what)),
        "answered alike": [] if first == again else [f"{first}, then {again}"],
    }
    assert line.broken == {}
