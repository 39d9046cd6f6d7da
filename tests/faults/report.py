"""The crash tests' own report: a line for each fault, and what held."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

PROPERTY = "fault"


@dataclass
class Line:
    """One fault: `seconds` from it to the end of the study, `invariants` by name with what broke them."""

    fault: str
    process: str
    course: str
    fired: int = 0
    seconds: float = 0.0
    invariants: dict[str, list[str]] = field(default_factory=dict)

    @property
    def n_held(self) -> int:
        return sum(not broken for broken in self.invariants.values())

    @property
    def broken(self) -> dict[str, list[str]]:
        return {name: broken for name, broken in self.invariants.items() if broken}

    def as_property(self) -> tuple[str, Any]:
        return PROPERTY, asdict(self)


def lines_of(reports: Iterable[Any]) -> list[Line]:
    """Return the lines that the tests of these reports wrote, in the order of process and name."""
    ended = [report for report in reports if getattr(report, "when", "") == "teardown"]
    found = [value for report in ended for name, value in report.user_properties if name == PROPERTY]
    return sorted(
        (Line(**value) for value in found), key=lambda line: (line.course, line.process, line.fault)
    )


def text(lines: list[Line], *, n_failed: int) -> str:
    width = max(len(line.fault) for line in lines)
    head = f"{'fault':<{width}}  {'who':<8}  {'study':<12}  fired  seconds  invariants held"
    rows = [
        f"{line.fault:<{width}}  {line.process:<8}  {line.course:<12}  {line.fired:>5}  {line.seconds:>7.1f}  "
        f"{line.n_held} of {len(line.invariants)}"
        for line in lines
    ]
    broken = [
        f"BROKEN by {line.fault}: {name}: {' '.join(why)}"
        for line in lines
        for name, why in line.broken.items()
    ]
    return "\n".join([head, *rows, *broken, "", total(lines, n_failed=n_failed)])


def total(lines: list[Line], *, n_failed: int) -> str:
    never = sum(not line.fired for line in lines)
    checked = sum(len(line.invariants) for line in lines)
    held = sum(line.n_held for line in lines)
    slowest = max(line.seconds for line in lines)
    return (
        f"{len(lines)} faults, {sum(line.fired for line in lines)} fired, {never} never; "
        f"{held} of {checked} invariants held; {n_failed} tests failed; slowest end {slowest:.1f} s."
    )
