"""Every failpoint, who dies there in the course of which study; arming them, and proof that they fired."""

import re
from typing import Any

import pytest
from django.conf import settings

from annotators.failpoints import HOLD
from annotators.models import Call
from tests.faults.stack import Stack, wait_until

STEPS = ("outbox.planned", "outbox.claimed", "outbox.answered", "outbox.finished")
Operation = Call.Operation
ON_MARKET = (Operation.CREATE_HIT, Operation.APPROVE, Operation.REJECT, Operation.EXTEND)


def of_outbox(*operations: Operation) -> tuple[str, ...]:
    return tuple(f"{step}.{operation.value}" for operation in operations for step in STEPS)


# {course of a study: {process: the points where it dies}}
COURSES: dict[str, dict[str, tuple[str, ...]]] = {
    "marketplace": {
        "web": (
            "publish.started",
            "publish.requested",
            "open.drawing",
            "draft.received",
            "draft.saved",
            "submit.received",
            "submit.writing",
            "submit.saved",
        ),
        "worker": (
            *of_outbox(*ON_MARKET),
            "outbox.hit_made",
            "publish.begun",
            "publish.writing",
            "publish.written",
            "publish.typed",
            "publish.enqueued",
            "publish.linked",
            "publish.opened",
            "sweep.half",
            "report.begun",
            "report.made",
            "sync.leased",
            "sync.hit_mirrored",
            "sync.listed",
            "sync.mirroring",
            "sync.recovered",
            "sync.decided",
            "sync.carried_out",
            "sync.settled",
            "replace.planning",
            "replace.planned",
            "replace.extended",
            "replace.mirrored",
            "replace.opened",
        ),
        "beat": ("beat.due", "beat.sent"),
    },
    "sibling HIT": {"worker": ("replace.sibling_planned", "replace.sibling_enqueued")},
    "by link": {
        "web": ("link.taking", "submit.writing", "link.saved", "link.settling", "link.settled"),
        "worker": ("publish.hit_written",),
    },
    "approved by time": {
        "web": ("budget.raised",),
        "worker": ("late.deciding", "replace.held_back"),
    },
    "approved while it waited": {"worker": ("late.accepting",)},
    "rejected by link": {"worker": ("link.rejecting", "link.reopening")},
    "stopped": {
        "web": ("stop.stopped", "stop.requested"),
        "worker": (*of_outbox(Operation.EXPIRE), "expire.moved"),
    },
    "under a key": {"web": ("key.begun", "key.keeping", "key.kept")},
    "decided": {
        "web": ("decide.recorded", "decide.requested", f"outbox.planned.{Operation.BONUS.value}"),
        "worker": (*of_outbox(Operation.OVERTURN), *of_outbox(Operation.BONUS)[1:]),
    },
}


# What `make test` kills; `make test-faults` kills at all of them.
CORE = {
    "outbox.claimed.CreateHITWithHITType",
    "outbox.answered.RejectAssignment",
    "outbox.answered.CreateAdditionalAssignmentsForHIT",
    "outbox.answered.SendBonus",
    "sync.decided",
    "replace.planning",
    "replace.sibling_planned",
    "submit.saved",
    "link.saved",
    "stop.stopped",
    "late.deciding",
    "replace.held_back",
    "link.rejecting",
    "beat.sent",
    "key.keeping",
}
slow = pytest.mark.slow_faults


def points(course: str) -> list[tuple[str, str]]:
    """Return (process, point) for every point of a course."""
    return [(process, name) for process, names in COURSES[course].items() for name in names]


def cases(*courses: str) -> list[Any]:
    """Return (course, process, point) for tests, those that only `make test-faults` runs marked."""
    return [
        pytest.param(course, process, name, marks=[] if name in CORE else [slow])
        for course in courses
        for process, name in points(course)
    ]


def placed() -> set[str]:
    """Return every point that is in the code."""
    found = set()
    for app in ("annotators", "surveys", "config"):
        for path in (settings.BASE_DIR / app).rglob("*.py"):
            for name, has_variants in re.findall(r'\breach\("([^"]+)"(, of=)?', path.read_text()):
                found |= {f"{name}.{one}" for one in Operation.values} if has_variants else {name}
    return found


class Point:
    """One named place; armed, it kills the first process that gets there, or holds it."""

    def __init__(self, stack: Stack, name: str) -> None:
        self.stack = stack
        self.name = name
        self.armed, self.fired = (stack.points / f"{name}.{state}" for state in ("armed", "fired"))

    def arm(self, *, hold: bool = False) -> None:
        part = self.armed.with_suffix(".part")
        part.write_text(HOLD if hold else "")
        part.rename(self.armed)

    @property
    def has_fired(self) -> bool:
        return self.fired.exists()

    @property
    def fired_at(self) -> float:
        """When it fired, in seconds since the epoch."""
        return self.fired.stat().st_ctime

    def wait(self) -> None:
        """Return when it has fired; AssertionError if nobody gets there."""
        wait_until(lambda: self.has_fired, what=lambda: f"Nobody got to {self.name}.")

    def release(self) -> None:
        self.fired.unlink()

    def disarm(self) -> None:
        for path in (self.armed, self.fired):
            path.unlink(missing_ok=True)
