"""Drawing the items of a study from a model's predictions, with as much of earlier samples as there can be.

**Which items.** Eligible are the rows of the system whose answer is the gold one and that have an explanation. Of each
data set n are taken: first those that are in most of the earlier samples, among equals those with the smallest hash of
(seed, data set, item). For this sample S, and every earlier sample E:

* the sum over all E of |S & E| is the maximum over all samples of n eligible items;
* |S & U|, U the union of all E, is min(n, |eligible & U|), the most there can be; with one E, U = E.

Proof. The sum over E of |S & E| is the sum over the items i of S of w(i), the number of earlier samples that hold i.
A sum of n weights of eligible items is at most that of the n largest, and these are what S takes. Items of U weigh 1
or more, others 0: S holds an item outside U only where it holds all eligible ones of U. No sample exceeds n items, nor
holds others than eligible ones, so that min(n, |eligible & U|) can't be exceeded.

A hash depends on no other row: a larger sample contains the smaller one, and two models sampled with one seed
overlap anyway.

**Memory.** One pass; kept are n rows a data set, of its distinct answers the `MOST_ANSWERS` with the smallest hashes (a
uniform sample of them), and the items of earlier samples: nothing grows with the number of rows.
"""

import csv
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from heapq import heappush, heappushpop
from typing import IO

from surveys.studies.predictions import Earlier, Prediction, SamplingError

MOST_ANSWERS = 10_000
N_DISTRACTORS = 2
SAFE_NAME = re.compile(r"[A-Za-z0-9][-A-Za-z0-9_.]{0,63}")


@dataclass(slots=True)
class Sample:
    """What was taken of one data set, in an order by chance, and why the rest was not.

    `overlap`: with the union of the earlier samples; `possible`: the most that any sample of this size can have.
    """

    dataset: str
    rows: list[Prediction] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)
    n_eligible: int = 0
    overlap: int = 0
    possible: int = 0

    @property
    def n_rows(self) -> int:
        return self.n_eligible + sum(self.reasons.values())


@dataclass(slots=True)
class _Drawing:
    """The best n rows of a data set so far, the worst of them on top: (earlier samples, -hash, item, row)."""

    sample: Sample
    best: list[tuple[int, int, str, Prediction]] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    answers: list[tuple[int, str]] = field(default_factory=list)
    known: set[str] = field(default_factory=set)
    n_known_before: int = 0

    def add(self, row: Prediction, *, weight: int, n: int, seed: str) -> None:
        """Count a row, and keep it if it is one of the best. SamplingError if its item is among them already."""
        self._add_answer(row.gold, seed=seed)
        if why_not := row.why_not:
            self.sample.reasons[why_not] += 1
            return
        if row.item in self.taken:
            raise SamplingError(f'row {row.row}, column item: "{row.item}" stands in an earlier row already.')
        self.sample.n_eligible += 1
        self.n_known_before += weight > 0
        entry = (weight, -_hash(seed, row.dataset, row.item), row.item, row)
        self.taken.add(row.item)
        if len(self.best) < n:
            heappush(self.best, entry)
        else:
            self.taken.discard(heappushpop(self.best, entry)[2])

    def _add_answer(self, answer: str, *, seed: str) -> None:
        if answer in self.known:
            return
        entry = (-_hash(seed, "answers", answer), answer)
        self.known.add(answer)
        if len(self.answers) < MOST_ANSWERS:
            heappush(self.answers, entry)
        else:
            self.known.discard(heappushpop(self.answers, entry)[1])

    def finished(self, *, n: int) -> Sample:
        """Return the sample, in the order of its hashes, which say nothing of who is in earlier ones."""
        ordered = sorted(self.best, key=lambda entry: -entry[1])
        self.sample.rows = [row for *_, row in ordered]
        self.sample.answers = sorted(self.known)
        self.sample.overlap = sum(weight > 0 for weight, *_ in self.best)
        self.sample.possible = min(n, self.n_known_before)
        return self.sample


def _hash(*parts: str) -> int:
    return int.from_bytes(blake2b("\0".join(parts).encode(), digest_size=8).digest(), "big")


def draw(
    rows: Iterable[Prediction], *, n: int, seed: str, earlier: Sequence[Earlier] = (), system: str = ""
) -> list[Sample]:
    """Return a sample of each data set, of n items or all that are eligible, by name of the data set.

    `system` "": the rows' only one. Raises SamplingError for rows of several, for an item of the sample twice, and
    where an earlier sample doesn't say of which of several data sets it is.
    """
    drawings: dict[str, _Drawing] = {}
    only = system
    for row in rows:
        if system and row.system != system:
            continue
        only = only or row.system
        if row.system != only:
            raise SamplingError(
                f'row {row.row}, column system: there is "{only}" and "{row.system}"; choose one.'
            )
        drawing = drawings.setdefault(row.dataset, _Drawing(Sample(row.dataset)))
        drawing.add(row, weight=sum(_has(sample, row) for sample in earlier), n=n, seed=seed)
    if len(drawings) > 1 and not all(isinstance(sample, Mapping) for sample in earlier):
        raise SamplingError(
            f"An earlier sample does not say of which data set it is: {', '.join(sorted(drawings))}. Two may use the "
            "same ids; name it, as NAME=FILE."
        )
    return [drawing.finished(n=n) for _, drawing in sorted(drawings.items())]


def _has(sample: Earlier, row: Prediction) -> bool:
    return row.item in (sample.get(row.dataset, ()) if isinstance(sample, Mapping) else sample)


def check(samples: Sequence[Sample], *, n: int, size: int) -> None:
    """Raise SamplingError unless each data set gives n items that fill HITs of `size`, and distractors."""
    if n % size:
        raise SamplingError(f"{n} items don't fill HITs of {size}.")
    if not samples:
        raise SamplingError("There are no rows of this system.")
    for sample in samples:
        name = sample.dataset or "the file"
        if sample.dataset and not SAFE_NAME.fullmatch(sample.dataset):
            raise SamplingError(f"column dataset: {sample.dataset[:80]!r} can't be a file's name.")
        if len(sample.rows) < n:
            raise SamplingError(
                f"{name}: {n} items are wanted, {sample.n_eligible} of {sample.n_rows} are eligible."
            )
        if any(not row.choices for row in sample.rows) and len(sample.answers) <= N_DISTRACTORS:
            raise SamplingError(f"{name}: there are {len(sample.answers)} answers, too few for distractors.")
        widths = {len(row.choices) for row in sample.rows}
        if len(widths) > 1:
            raise SamplingError(
                f"{name}, column choices: some rows have {min(widths)}, others {max(widths)}."
            )


def distractors(row: Prediction, answers: Sequence[str], *, seed: str) -> list[str]:
    """Return other answers of the data set, by the seed and the item alone."""
    chance = random.Random(f"{seed}:distractors:{row.dataset}:{row.item}")  # noqa: S311 (no secret)
    drawn = chance.sample(answers, min(N_DISTRACTORS + 1, len(answers)))
    return [answer for answer in drawn if answer != row.gold][:N_DISTRACTORS]


def write_batch(sample: Sample, stream: IO[str], *, size: int, seed: str) -> None:
    """Write the study's batch CSV: a row is a HIT of `size` questions, in columns `<name>_0` ..; no blank ones."""
    cells = [_cells(row, sample.answers, seed=seed) for row in sample.rows]
    names = [name for name in (cells[0] if cells else ()) if any(question[name] != "" for question in cells)]
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["index", *(f"{name}_{slot}" for name in names for slot in range(size))])
    for number, start in enumerate(range(0, len(cells), size)):
        block = cells[start : start + size]
        writer.writerow([number, *(question[name] for name in names for question in block)])


def _cells(row: Prediction, answers: Sequence[str], *, seed: str) -> dict[str, str | int]:
    shown: dict[str, str | int] = {
        "index": row.row,
        "id": row.item,
        "question": row.question,
        "answer": row.gold,
        "output_answer": row.predicted,
        "output_explanation": row.output,
        "explanation": row.reference,
        "img_name": row.image,
    }
    if row.choices:
        return shown | {f"answer{n}": choice for n, choice in enumerate(row.choices)}
    others = distractors(row, answers, seed=seed)
    return shown | {f"other_answer{n}": other for n, other in enumerate(others, 1)}


def write_log(samples: Sequence[Sample], stream: IO[str]) -> None:
    """Write the eligibility log: of each data set how many rows, eligible ones, why not, and the overlap."""
    total: defaultdict[str, int] = defaultdict(int)
    for sample in samples:
        for reason in sample.reasons:
            total[reason] += 1
    reasons = sorted(total)
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(
        ["dataset", "rows", "eligible", *reasons, "sampled", "in earlier samples", "most possible"]
    )
    for s in samples:
        why_not = [s.reasons[reason] for reason in reasons]
        writer.writerow([s.dataset, s.n_rows, s.n_eligible, *why_not, len(s.rows), s.overlap, s.possible])
