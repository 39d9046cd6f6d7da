"""Which items a HIT shows, and which HIT is published when: drawn from a seed, balanced by construction.

Terms: a *kind* is what items have in common that must not go with people or time (the systems they show; planted
checks are a kind of their own); a *block* is the items of one HIT, in publishing order.

What holds of every design:

* **Kinds**: every block, and the first h blocks for every h, hold of each kind its exact share, rounded down or up.
  Kinds of one size therefore differ by at most one within a HIT and up to any moment, and by at most two over any run
  of consecutive HITs; of HITs that a person picks here and there nothing is promised. Such a rounding exists as the
  blocks and the beginnings of one kind are laminar, and so are the totals of the blocks (Budish, Che, Kojima & Milgrom
  2013, doi:10.1257/aer.103.2.585, theorem 1); it is found by PD2 (Anderson & Srinivasan 2004,
  doi:10.1016/j.jcss.2003.08.002), whose windows are these bounds.
* **Pairs of kinds**: where kinds of one size don't all fit a block, which ones meet is spread over all pairs. Of an
  even or a prime number of kinds, where two are shown every cycle of blocks shows each pair once, and where all but two
  are it leaves each pair out once: a balanced incomplete block design.
* **Subjects**: the kinds of a subject follow a row of a Williams square (Williams 1949, doi:10.1071/CH9490149), so
  that each comes first, and directly after each other one, equally often; they lie a whole round of all subjects
  apart. Planted checks stand between the items and take no row. Two items of one subject meet in a block only where no
  exchange of two items of a kind would part them.
* **Repeats**: where r items of a HIT are asked twice, each person's page asks the first r of its items that are no
  planted checks again at its end, in the same order. Both times lie as many places apart as the HIT has items, less
  the planted checks before the first time at most. Without checks each item is repeated by r of as many people in
  succession as the HIT has items, as each stands once at each place of their pages.
* **Strata** (classes of items): subjects come in an order whose every beginning has of each stratum its exact share,
  rounded down or up.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from surveys.publishing.drawing import drawing_in_words

T = TypeVar("T")
MOST_EXCHANGES = 1_000_000  # tried at most (two seconds): where few subjects fill all HITs nothing parts them
MOST_DRAWS = 20  # of up to SMALL units, until subjects are apart
SMALL = 1000


@dataclass(frozen=True, slots=True)
class Unit:
    """One item as a design sees it. `key` is the caller's own."""

    key: int
    subject: str
    kind: str
    stratum: str = ""


def draw_blocks(units: Sequence[Unit], *, size: int, seed: str, checks: str = "") -> list[list[Unit]]:
    """Return blocks of `size` units, the last one with what is left; the same for the same units and seed.

    `checks` is the kind of the planted checks. Of a small study the first of some draws in which no two items of a
    subject meet, else the one with fewest.
    """
    chance = random.Random(seed)  # noqa: S311 (a design, not a secret)
    n_draws = MOST_DRAWS if len(units) <= SMALL else 1
    best = _drawn(units, size=size, chance=chance, checks=checks)
    for _ in range(n_draws - 1):
        if n_meetings(best) <= _least_meetings(units, len(best)):
            break
        best = min(best, _drawn(units, size=size, chance=chance, checks=checks), key=n_meetings)
    return best


def in_chance_order(blocks: Sequence[T], *, seed: str) -> list[T]:
    """Return blocks that somebody else composed in an order drawn from the seed."""
    return _shuffled(blocks, random.Random(seed))  # noqa: S311 (a design, not a secret)


def repeated(page: Sequence[T], *, wanted: int, checks: Collection[T] = ()) -> list[T]:
    """Return what a page asks again at its end: the first `wanted` that are no checks, at most half of those."""
    real = [one for one in page if one not in checks]
    return real[: min(wanted, len(real) // 2)]


def n_meetings(blocks: Sequence[Sequence[Unit]]) -> int:
    """Return how many units share their block with an earlier one of their subject."""
    return sum(len(block) - len({unit.subject for unit in block}) for block in blocks)


def design_facts(
    blocks: Sequence[Sequence[Unit]], *, checks: str, systems: Mapping[str, Collection[str]]
) -> dict[str, object]:
    """Return what a reader has to know of a design, as data; units of kind `checks` belong to no system.

    `systems`: what each kind shows. Kinds are combinations where one of them shows several.
    """
    kinds = Counter(unit.kind for block in blocks for unit in block)
    n_checks = kinds.pop(checks, 0)
    return {
        "hits": len(blocks),
        "kinds": len(kinds),
        "systems": len({system for kind in kinds for system in systems[kind]}),
        "is_combined": any(len(systems[kind]) > 1 for kind in kinds),
        "is_even": len(set(kinds.values())) <= 1,
        "meetings": n_meetings(blocks),
        "checks": n_checks,
        "strata": len({unit.stratum for block in blocks for unit in block if unit.kind != checks}),
    }


OWN_ORDER = (
    "Each person sees the items of a HIT in an order of their own, balanced over the people who do it."
)


def methods_in_words(design: Mapping[str, Any] | None, *, changes: Sequence[str]) -> str:
    """Return the sentences for a paper's methods about a published batch: its design, and what its survey type does
    otherwise than the publication it is from.
    """
    return " ".join([design_in_words(design), *changes])


SIMULATED = "The answers are simulated: no person gave them, and they are no result."


def design_in_words(design: Mapping[str, Any] | None) -> str:
    """Return the sentences about a published batch's design."""
    if design is None:
        return "HITs and items in the order of the file."
    if design.get("is_simulated"):
        return f"{SIMULATED} {design_in_words({**design, 'is_simulated': False})}"
    if not design["drawn"]:
        order = " in an order drawn at random" if design.get("is_shuffled") else ""
        start = f"HITs as the file has them{order}: all items show the same systems."
        start = f"{start} Seed {design['seed']}."
        return " ".join(filter(None, [start, drawing_in_words(design), OWN_ORDER, _of_repeats(design)]))
    parts = [_of_kinds(design), _of_strata(design), _of_subjects(design), _of_checks(design)]
    return " ".join(filter(None, [*parts, drawing_in_words(design), OWN_ORDER, _of_repeats(design)]))


def _of_kinds(design: Mapping[str, Any]) -> str:
    hits = "one HIT" if design["hits"] == 1 else f"{design['hits']} HITs"
    start = f"Items were assigned to {hits} at random (seed {design['seed']})"
    if design["kinds"] < 2:
        return f"{start}."
    much = "equally often, give or take one," if design["is_even"] else "in proportion to its items"
    each = f"each of {design['kinds']} "
    each += f"combinations of {design['systems']} systems" if design.get("is_combined") else "systems"
    return f"{start}: {each} {much} within a HIT and over the order of publishing."


def _of_strata(design: Mapping[str, Any]) -> str:
    return (
        "Subjects came in an order with the answers in proportion at any time."
        if design.get("strata", 0) > 1
        else ""
    )


def _of_subjects(design: Mapping[str, Any]) -> str:
    if design["meetings"] == 0:
        return "No HIT shows a subject twice."
    n = design["meetings"]
    return f"{n} {'item shares' if n == 1 else 'items share'} a HIT with another item of their subject."


def _of_checks(design: Mapping[str, Any]) -> str:
    return f"{design['checks']} planted checks were spread evenly over the HITs." if design["checks"] else ""


def _of_repeats(design: Mapping[str, Any]) -> str:
    """Return what there is to say of repeats, also before they are drawn."""
    n = design.get("repeats", 0)
    if not n:
        return ""
    least = design.get("least_repeats", n)
    is_one = least == n == 1
    number = f"{least} to {n} items" if least < n else "item" if is_one else f"{n} items"
    real = ", planted checks aside," if design.get("checks") else ""
    asked = f"{number} of each page{real} {'was' if is_one else 'were'}"
    return (
        f"The first {asked} asked again at its end, as far apart as a page allows, for agreement within raters; the "
        "first answer counts, the second in that alone."
    )


def _least_meetings(units: Sequence[Unit], n_blocks: int) -> int:
    of_subject = Counter(unit.subject for unit in units)
    return sum(max(0, n - n_blocks) for n in of_subject.values())


def _drawn(units: Sequence[Unit], *, size: int, chance: random.Random, checks: str) -> list[list[Unit]]:
    kinds = _shuffled(sorted({unit.kind for unit in units}), chance)
    real = [unit for unit in units if unit.kind != checks]
    planted = [unit for unit in units if unit.kind == checks]
    queues = _queues(real, [kind for kind in kinds if kind != checks], chance)
    queues[checks] = _shuffled(planted, chance)
    rows = shares([len(queues[kind]) for kind in kinds], size=size, chance=chance)
    blocks: list[list[Unit]] = []
    taken = dict.fromkeys(kinds, 0)
    for row in rows:
        block: list[Unit] = []
        for kind, n in zip(kinds, row, strict=True):
            block += queues[kind][taken[kind] : taken[kind] + n]
            taken[kind] += n
        blocks.append(block)
    _part_subjects(blocks)
    return blocks


def shares(counts: Sequence[int], *, size: int, chance: random.Random) -> list[list[int]]:
    """Return how many of each kind every block holds: [block][kind], columns summing to `counts`.

    Each entry, and each sum of a column from the first block on, is counts * size / sum(counts) per block, rounded down
    or up; ties go to the pair of kinds that has met least often, then by chance.
    """
    total = sum(counts)
    if total == 0:
        return []
    parts = [size * count % total for count in counts]
    spare = size - sum(size * count // total for count in counts)
    rows, left, met = list[list[int]](), list(counts), Counter[tuple[int, int]]()
    extra = [0] * len(counts)
    cycle = _pair_cycle(counts, spare, chance)
    for block in range(total // size):
        chosen = cycle[block % len(cycle)] if cycle else _most_urgent(block, parts, extra, spare, met, chance)
        met.update((a, b) for a in chosen for b in chosen)
        for kind in chosen:
            extra[kind] += 1
        rows.append([size * count // total + (kind in chosen) for kind, count in enumerate(counts)])
        left = [before - now for before, now in zip(left, rows[-1], strict=True)]
    return [*rows, left] if any(left) else rows


def _most_urgent(
    block: int,
    parts: Sequence[int],
    extra: Sequence[int],
    n: int,
    met: Counter[tuple[int, int]],
    chance: random.Random,
) -> list[int]:
    """Return the kinds that get one more in this block: PD2's choice among those whose window has opened."""
    total = _whole(parts, n)
    ranked = [
        (_urgency(extra[kind] + 1, part, total), kind)
        for kind, part in enumerate(parts)
        if part and extra[kind] * total // part <= block
    ]
    chosen: list[int] = []
    open_ones = {kind: (urgency, chance.random()) for urgency, kind in ranked}
    while len(chosen) < n:
        first = min(
            open_ones,
            key=lambda kind: (
                open_ones[kind][0],
                sum(met[kind, other] for other in chosen),
                open_ones[kind][1],
            ),
        )
        chosen.append(first)
        del open_ones[first]
    return chosen


def _whole(parts: Sequence[int], n: int) -> int:
    """Return the common denominator of the parts, which sum to `n` wholes."""
    return sum(parts) // n if n else 1


def _urgency(number: int, part: int, total: int) -> tuple[int, int, int]:
    """Return PD2's priority of the `number`th one of a kind with weight part / total: the smaller, the sooner.

    The end of its window; windows that overlap the next one first; among heavy ones the later group deadline first.
    """
    end = _ceil(number * total, part)
    is_overlapping = number * total % part != 0
    if 2 * part < total:
        return end, -is_overlapping, 0
    rest = total - part
    group = _ceil(_ceil(end * rest, total) * total, rest)
    return end, -is_overlapping, -group


def _ceil(number: int, divisor: int) -> int:
    return -(-number // divisor)


def _pair_cycle(counts: Sequence[int], spare: int, chance: random.Random) -> list[list[int]]:
    """Return a balanced incomplete block design of the kinds, or nothing where the pairs are left to `shares`."""
    n = len(counts)
    if len(set(counts)) != 1 or n < 4 or spare not in {2, n - 2}:
        return []
    names = _shuffled(range(n), chance)
    pairs = [[names[a], names[b]] for a, b in round_of_pairs(n)]
    return pairs if spare == 2 else [[k for k in names if k not in pair] for pair in pairs]


def round_of_pairs(n: int) -> list[tuple[int, int]]:
    """Return all pairs of n things, each once, so that at any moment no thing is two ahead of another.

    For even n the rounds of a tournament (circle method); for prime n the multiples of each difference, taken in
    twos, which go twice round all n. Nothing for other n.
    """
    if n % 2 == 0:
        circle = n - 1
        return [
            pair
            for turn in range(circle)
            for pair in [(turn, n - 1)]
            + [((turn + k) % circle, (turn - k) % circle) for k in range(1, n // 2)]
        ]
    if any(n % divisor == 0 for divisor in range(3, n, 2)):
        return []
    return [(2 * k * step % n, (2 * k + 1) * step % n) for step in range(1, (n + 1) // 2) for k in range(n)]


def williams(n: int) -> list[list[list[int]]]:
    """Return the square of n rows (even n), or the two (odd n), in which each pair of neighbours is equally often."""
    first = [k // 2 + 1 if k % 2 else -(k // 2) for k in range(n)]
    square = [[(row + step) % n for step in first] for row in range(n)]
    return [square] if n % 2 == 0 else [square, [row[::-1] for row in square]]


def _queues(units: Sequence[Unit], kinds: Sequence[str], chance: random.Random) -> dict[str, list[Unit]]:
    """Return the units of each kind in the order in which they are to be shown."""
    by_subject: dict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        by_subject[unit.subject].append(unit)
    phases = _phases(len(kinds), len(by_subject))
    queues: dict[str, list[tuple[float, Unit]]] = {kind: [] for kind in kinds}
    for subject, row in zip(_subject_order(by_subject, chance), phases, strict=False):
        again: Counter[str] = Counter()
        alike = Counter(unit.kind for unit in by_subject[subject])
        for unit in by_subject[subject]:
            phase = row[kinds.index(unit.kind)] + again[unit.kind] / alike[unit.kind]
            queues[unit.kind].append((phase % 1, unit))
            again[unit.kind] += 1
    return {kind: [unit for _, unit in sorted(queue, key=_phase_of)] for kind, queue in queues.items()}


def _phase_of(entry: tuple[float, Unit]) -> float:
    return entry[0]


def _phases(n_kinds: int, n_subjects: int) -> Iterator[list[float]]:
    """Yield for each subject when in the study each kind of it is shown, from 0 to 1: a row of a Williams square.

    The subjects of one square come at the same time with all kinds, each with another one.
    """
    squares = williams(n_kinds)
    n_groups = _ceil(n_subjects, n_kinds)
    for number in range(n_subjects):
        group, row = divmod(number, n_kinds)
        order = squares[group % len(squares)][row]
        yield [(order.index(kind) + (group + 0.5) / n_groups) / n_kinds for kind in range(n_kinds)]


def _subject_order(by_subject: dict[str, list[Unit]], chance: random.Random) -> list[str]:
    """Return the subjects in an order by chance, in which strata alternate in proportion."""
    strata: dict[str, list[str]] = defaultdict(list)
    for subject in sorted(by_subject):
        strata[by_subject[subject][0].stratum].append(subject)
    waiting = [iter(_shuffled(strata[name], chance)) for name in sorted(strata)]
    turns = shares([len(strata[name]) for name in sorted(strata)], size=1, chance=chance)
    return [next(waiting[turn.index(1)]) for turn in turns]


def _part_subjects(blocks: list[list[Unit]]) -> None:
    """Exchange units of one kind between blocks until no exchange parts two of one subject."""
    subjects = [Counter(unit.subject for unit in block) for block in blocks]
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for b, block in enumerate(blocks):
        for p, unit in enumerate(block):
            places[unit.kind].append((b, p))
    tries, is_changed = MOST_EXCHANGES, True
    while is_changed and tries > 0:
        is_changed = False
        for b, p in _meeting(blocks, subjects):
            n_tried, other = _partner(blocks, subjects, places[blocks[b][p].kind], (b, p))
            tries -= n_tried
            if other:
                _exchange(blocks, subjects, (b, p), other)
                is_changed = True
            if tries <= 0:
                return


def _meeting(blocks: list[list[Unit]], subjects: list[Counter[str]]) -> Iterator[tuple[int, int]]:
    """Yield the places, block and number within it, where a unit shares its block with one of its subject."""
    for b, block in enumerate(blocks):
        for p in range(len(block)):
            if subjects[b][block[p].subject] > 1:
                yield b, p


def _partner(
    blocks: list[list[Unit]],
    subjects: list[Counter[str]],
    places: list[tuple[int, int]],
    at: tuple[int, int],
) -> tuple[int, tuple[int, int] | None]:
    """Return how many places were looked at, and one of them with which the unit at `at` can be exchanged."""
    b, subject = at[0], blocks[at[0]][at[1]].subject
    for n_tried, (c, q) in enumerate(places, 1):
        if c == b or (other := blocks[c][q].subject) == subject:
            continue
        gain = (subjects[b][subject] - 1) + (subjects[c][other] - 1)
        if subjects[c][subject] + subjects[b][other] < gain:
            return n_tried, (c, q)
    return len(places), None


def _exchange(
    blocks: list[list[Unit]], subjects: list[Counter[str]], one: tuple[int, int], other: tuple[int, int]
) -> None:
    (b, p), (c, q) = one, other
    mine, theirs = blocks[b][p], blocks[c][q]
    blocks[b][p], blocks[c][q] = theirs, mine
    subjects[b].update({theirs.subject: 1, mine.subject: -1})
    subjects[c].update({mine.subject: 1, theirs.subject: -1})


def _shuffled(values: Sequence[T], chance: random.Random) -> list[T]:
    mixed = list(values)
    chance.shuffle(mixed)
    return mixed
