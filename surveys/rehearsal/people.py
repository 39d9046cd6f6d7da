"""Who takes part: kinds of workers in a seeded mix, each with a competence and a share of the work."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """How a simulated worker goes about a HIT."""

    DILIGENT = "diligent"
    DOUBLE_SUBMITTER = "double submitter"
    CARELESS = "careless"
    RANDOM = "random"
    STRAIGHT_LINER = "straight-liner"
    ABANDONER = "abandoner"


# Beside one of each kind. Bad work comes to about a fifth of the assignments, the share that rejection rules were
# compared at.
MIX = {
    Kind.DILIGENT: 11,
    Kind.DOUBLE_SUBMITTER: 2,
    Kind.CARELESS: 4,
    Kind.RANDOM: 1,
    Kind.STRAIGHT_LINER: 1,
    Kind.ABANDONER: 1,
}
# The chance to choose the right answer where it is known to the worker at all.
COMPETENCE = {
    Kind.DILIGENT: (0.88, 0.98),
    Kind.DOUBLE_SUBMITTER: (0.85, 0.95),
    Kind.CARELESS: (0.55, 0.75),
}


@dataclass(frozen=True, slots=True)
class Person:
    """A simulated worker. `competence` is the chance of a right answer, `activity` a weight: some do far more."""

    worker_id: str
    access_code: str
    kind: Kind
    competence: float
    activity: float


def cast(worker_ids: Sequence[tuple[str, str]], *, seed: int) -> list[Person]:
    """Give each (worker id, access code) a character. The first n are the same however many follow."""
    return [
        _person(worker_id, code, kind=_kind(number, seed=seed), seed=seed)
        for number, (worker_id, code) in enumerate(worker_ids)
    ]


def stand_in(worker_id: str, access_code: str, *, seed: int) -> Person:
    """Return a worker called in late, when nobody else is left for a HIT: they do what is to be done."""
    return _person(worker_id, access_code, kind=Kind.DILIGENT, seed=seed)


def _kind(number: int, *, seed: int) -> Kind:
    kinds = list(Kind)
    if number < len(kinds):
        return kinds[number]
    draw = random.Random(f"{seed}:kind:{number}")  # noqa: S311 (a simulation, not a secret)
    return draw.choices(list(MIX), weights=list(MIX.values()))[0]


def _person(worker_id: str, access_code: str, *, kind: Kind, seed: int) -> Person:
    draw = random.Random(f"{seed}:person:{worker_id}")  # noqa: S311
    low, high = COMPETENCE.get(kind, (0.0, 0.0))
    return Person(worker_id, access_code, kind, draw.uniform(low, high), draw.paretovariate(1.5))
