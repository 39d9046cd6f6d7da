"""Text metrics over chunks of pairs, on as many processors as there are."""

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain, islice
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from metrics.catalogue import METRICS
from metrics.thesaurus import Thesaurus, open_thesaurus

CHUNK: Final = 2_000
"""So many pairs are scored at a time."""
PAYS_FROM: Final = 10
"""With so many chunks other processes, each a second to start, are worth it (benchmarks/text_metrics.py)."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A text and the accepted ones, for the metrics named."""

    task: str
    text: str
    references: Sequence[str]
    metrics: tuple[str, ...]


Sums = Mapping[tuple[str, str], tuple[int, float]]
"""(sub-task, metric) -> number of pairs, sum of their scores."""

_opened: dict[Path | None, Thesaurus | None] = {None: None}


def scored(pairs: Iterable[Pair], *, profile: str, thesaurus: Path | None, jobs: int) -> Iterator[Sums]:
    """Yield the sums of chunks of pairs, in order, with a bounded number of chunks in memory."""
    chunks = _chunks(pairs)
    first = list(islice(chunks, PAYS_FROM))
    if jobs == 1 or len(first) < PAYS_FROM:
        return (_score(chunk, profile, thesaurus) for chunk in chain(first, chunks))
    return _in_processes(chain(first, chunks), profile=profile, thesaurus=thesaurus, jobs=jobs)


def _chunks(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    rest = iter(pairs)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk


def _in_processes(
    chunks: Iterator[list[Pair]], *, profile: str, thesaurus: Path | None, jobs: int
) -> Iterator[Sums]:
    waiting: deque[Future[Sums]] = deque()
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for chunk in chunks:
            waiting.append(pool.submit(_score, chunk, profile, thesaurus))
            if len(waiting) > 2 * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _score(chunk: list[Pair], profile: str, thesaurus: Path | None) -> Sums:
    if thesaurus not in _opened and thesaurus is not None:
        _opened[thesaurus] = open_thesaurus(thesaurus)
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for pair in chunk:
        for name in pair.metrics:
            value = METRICS[name].score(
                pair.text, pair.references, profile=profile, thesaurus=_opened[thesaurus]
            )
            found[pair.task, name].append(value)
    return {key: (len(values), math.fsum(values)) for key, values in found.items()}
