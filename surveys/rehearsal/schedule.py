"""Who does which HIT next: drawn from the seed, so that the same study takes the same course."""

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from surveys.rehearsal.people import Person


@dataclass(frozen=True, slots=True)
class Turn:
    """One worker's go at the HITs of one questionnaire."""

    position: int
    person: Person


def turns(
    wanted: Mapping[int, int],
    *,
    people: Sequence[Person],
    done: Mapping[int, Collection[str]],
    seed: int,
    round_number: int,
) -> tuple[list[Turn], int]:
    """Return the turns of one round, and how many more workers it would take to fill every place.

    `wanted`: {questionnaire position: places to fill}. `done`: {position: ids of workers who had their go at it}. The
    active get more of the work; nobody gets the same questionnaire twice.
    """
    planned: list[Turn] = []
    missing = 0
    for position in sorted(wanted):
        free = [person for person in people if person.worker_id not in done.get(position, ())]
        draw = random.Random(f"{seed}:round:{round_number}:{position}")  # noqa: S311 (a simulation, not a secret)
        chosen = _weighted(free, n=wanted[position], draw=draw)
        planned.extend(Turn(position, person) for person in chosen)
        missing = max(missing, wanted[position] - len(chosen))
    return planned, missing


def _weighted(people: Sequence[Person], *, n: int, draw: random.Random) -> list[Person]:
    """Draw without replacement, by weight: the n smallest of exponential times with those rates.

    Source: Efraimidis and Spirakis, "Weighted random sampling with a reservoir", 2006.
    """
    times = {person.worker_id: draw.expovariate(person.activity) for person in people}
    return sorted(people, key=lambda person: times[person.worker_id])[:n]
