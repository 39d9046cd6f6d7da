"""What a batch of drawn outputs will tell before it is published: how often two systems meet, and whether all can be
compared."""

from collections import defaultdict
from dataclasses import dataclass
from math import comb

from surveys.models import Batch, Output
from surveys.publishing.drawing import pairs_of, parts
from surveys.studies.planted_checks import COLUMN


@dataclass(frozen=True, slots=True)
class Comparisons:
    """`shown` of `n_systems` at once; `per_pair` is how often two systems are judged together, on average over all
    `n_pairs`. `groups` are those that can be compared within themselves alone; one if all can.
    """

    shown: int
    n_systems: int
    n_pairs: int
    n_judged: int
    per_pair: float
    groups: tuple[tuple[str, ...], ...]

    @property
    def warning(self) -> str:
        """Say that not all systems can be compared; "" if they can."""
        if len(self.groups) < 2:
            return ""
        named = "; ".join(", ".join(group) for group in self.groups[:3])
        more = f" and {len(self.groups) - 3} more groups" if len(self.groups) > 3 else ""
        return (
            f"Not all systems can be compared: nothing connects {named}{more}. It takes items on which systems of both "
            "have outputs, and at least as many showings as systems, less one."
        )


def comparisons(batch: Batch) -> Comparisons | None:
    """Return what the draft's showings amount to; None where its survey type draws nothing."""
    if not batch.definition.is_drawn:
        return None
    systems_of = _systems_of(batch)
    systems = {system for shown_by in systems_of for system in shown_by}
    shown = batch.definition.outputs_per_item
    sizes = [min(shown, len(shown_by)) for shown_by in systems_of]
    n_pairs = comb(len(systems), 2)
    n_judged = sum(comb(size, 2) for size in sizes) * batch.draws_per_item * batch.assignments_per_hit
    return Comparisons(
        shown=shown,
        n_systems=len(systems),
        n_pairs=n_pairs,
        n_judged=n_judged,
        per_pair=n_judged / n_pairs if n_pairs else 0.0,
        groups=_groups(systems_of, systems, n_showings=len(systems_of) * batch.draws_per_item * (shown - 1)),
    )


def _systems_of(batch: Batch) -> list[tuple[str, ...]]:
    """Return the systems of each item that is no planted check."""
    systems_by_item: dict[int, list[str]] = defaultdict(list)
    outputs = Output.objects.filter(item__survey=batch.survey).exclude(item__payload__has_key=COLUMN)
    for item, system in outputs.order_by().values_list("item", "system"):
        systems_by_item[item].append(system)
    return [tuple(sorted(systems)) for systems in systems_by_item.values()]


def _groups(
    systems_of: list[tuple[str, ...]], systems: set[str], *, n_showings: int
) -> tuple[tuple[str, ...], ...]:
    """Return the groups that a draw connects: `drawing` joins parts before anything else, one in each showing."""
    possible = dict.fromkeys(pair for own in set(systems_of) for pair in pairs_of(own))
    used = list(possible) if n_showings >= len(systems) - 1 else []
    return tuple(map(tuple, parts(systems, pairs=used)))
