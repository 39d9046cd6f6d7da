"""The numbers of a study as plain dataclasses: what `summarise` returns, and pages, files and tests read."""

from dataclasses import dataclass

from surveys.results.statistics.inference import Interval

BLANK = "blank"


@dataclass(frozen=True, slots=True)
class Share:
    """`count` of `total`. `interval` is that of the share, where one was asked for and items and workers allow it."""

    key: str
    label: str
    count: int
    total: int
    interval: Interval | None = None

    @property
    def share(self) -> float | None:
        return self.count / self.total if self.total else None


@dataclass(frozen=True, slots=True)
class Score:
    """A criterion's mean on its scale: per rating (as published), and per item first, then over items.

    `sd` is the standard deviation of the ratings, n - 1 in the denominator; None below two ratings.
    """

    rating_mean: float | None
    item_mean: float | None
    sd: float | None
    ratings: int
    items: int
    blanks: int


@dataclass(frozen=True, slots=True)
class CriterionSummary:
    """What was said on one criterion. `score` is None for a checklist, a text and choices without scores.

    `interval` is that of the rating mean; `good` is the share of ratings at the definition's `good_from` or above, of
    all ratings given. `scale` are the scores of the choices, in their order; a number has none. There is no number over
    several criteria.
    """

    key: str
    label: str
    score: Score | None
    shares: tuple[Share, ...]
    interval: Interval | None = None
    good: Share | None = None
    scale: tuple[float, ...] = ()
    is_checklist: bool = False


@dataclass(frozen=True, slots=True)
class TaskScores:
    """e-ViL's scores of a model (Kayser et al., ICCV 2021).

    `task`: the share of rated items that the model answered rightly; None where its answers are unknown.
    `explanation` (S_E): the mean rating of its explanations on those items. `overall`: their product. `whole` is the
    share of right answers on the whole test set, where somebody entered it; S_T and S_O are then of that.
    """

    task: float | None
    items_right: int
    items: int
    explanation: float | None
    whole: float | None = None

    @property
    def is_by_construction(self) -> bool:
        """Is every rated item one the model answered rightly? Then `task` says how items were picked, no more."""
        return self.items > 0 and self.items_right == self.items

    @property
    def overall(self) -> float | None:
        return None if self.task is None or self.explanation is None else self.task * self.explanation

    @property
    def s_t(self) -> float | None:
        """The task score to print; None where nobody entered one and the rated items can't tell it."""
        return self.whole if self.whole is not None or self.is_by_construction else self.task

    @property
    def s_o(self) -> float | None:
        return None if self.s_t is None or self.explanation is None else self.s_t * self.explanation


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """A model's headline score less the reference's, by the same worker on the same item: the mean over `pairs`.

    As published; what may be chance of it says `comparison`, on item means.
    """

    mean: float | None
    pairs: int


@dataclass(frozen=True, slots=True)
class SystemSummary:
    """What was said of one system. `interval` is that of the headline's rating mean.

    `responses` were not skipped; `skipped` is how many were, and `reasons` why. `difference` is None for the
    reference, and where the protocol has none.
    """

    system: str
    role: str
    responses: int
    skipped: int
    criteria: tuple[CriterionSummary, ...]
    evil: TaskScores | None
    interval: Interval | None
    difference: PairedDifference | None
    reasons: tuple[Share, ...] = ()

    def criterion(self, key: str) -> CriterionSummary:
        return next(criterion for criterion in self.criteria if criterion.key == key)

    def mean_of(self, key: str) -> float | None:
        """Return the mean of all ratings on a criterion; None of what has none, as a preference."""
        found = next((criterion.score for criterion in self.criteria if criterion.key == key), None)
        return found.rating_mean if found else None


@dataclass(frozen=True, slots=True)
class Selection:
    """One choice of rows: `all` submitted, `kept` (not rejected), `filtered` (kept and answered rightly).

    Or a stratum of the kept rows: each system's outputs where what it decided was right (`true`), wrong (`false`),
    or `unknown`.

    `criteria` are those about the item as a whole; those about outputs stand under their system.
    """

    name: str
    responses: int
    correct: Share | None
    criteria: tuple[CriterionSummary, ...]
    systems: tuple[SystemSummary, ...]
    preference: tuple[Share, ...]

    def system(self, name: str) -> SystemSummary:
        return next(system for system in self.systems if system.system == name)


@dataclass(frozen=True, slots=True)
class Counts:
    assignments: int
    kept: int
    rejected: int
    hits: int
    items: int
    workers: int
    responses: int
    skipped: int
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Minutes:
    """Accept to submit, kept assignments, in minutes. It overstates effort: HITs wait in queues."""

    mean: float | None
    median: float | None
    assignments: int


@dataclass(frozen=True, slots=True)
class Summary:
    """`is_graded`: answers can be right or wrong; where not, `filtered` is `kept`. `strata` are of the kept rows,
    empty where nobody knows of any model whether it was right.
    """

    headline: str
    counts: Counts
    minutes: Minutes
    all: Selection
    kept: Selection
    filtered: Selection
    strata: tuple[Selection, ...]
    is_graded: bool

    @property
    def selections(self) -> tuple[Selection, ...]:
        return (self.all, self.kept, self.filtered)

    @property
    def shown(self) -> tuple[Selection, ...]:
        """Those worth showing beside each other: without `filtered` where nothing is graded."""
        return self.selections if self.is_graded else (self.all, self.kept)
