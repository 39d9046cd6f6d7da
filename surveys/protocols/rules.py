"""What a policy looks at, what a rule notices, and what comes out of both."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import floor, sqrt
from statistics import StatisticsError, correlation
from typing import ClassVar

Say = Callable[[str], str]  # puts an English text into somebody's language
gettext_noop: Say = str  # marks a text that is put into somebody's language later

PRIOR = 1.0  # answers' worth of the batch's overall share: nobody is certain to be right, or wrong
JEFFREYS = 0.5


@dataclass(frozen=True, slots=True)
class GradedAnswer:
    """One of the worker's answers that could be graded, and how many of the other workers had that item right."""

    is_correct: bool
    n_others_right: int
    n_others: int


@dataclass(frozen=True, slots=True)
class RatedAlike:
    """One score the worker gave an output, and the mean of those that other workers gave it."""

    score: float
    mean_of_others: float


@dataclass(frozen=True)
class Record:
    """A worker in one batch: graded `answers` to items that others answered too, `ratings` on the headline criterion
    of outputs that others rated too, and `checks`, True for each planted check that was passed.

    `n_others_graded` and `n_others_right` count the graded answers of all other workers, on whatever items.
    """

    answers: tuple[GradedAnswer, ...] = ()
    n_others_graded: int = 0
    n_others_right: int = 0
    ratings: tuple[RatedAlike, ...] = ()
    checks: tuple[bool, ...] = ()

    @cached_property
    def expected(self) -> tuple[float, ...]:
        """How likely anybody is to have each of the items right, by the answers of the other workers."""
        overall = (self.n_others_right + JEFFREYS) / (self.n_others_graded + 2 * JEFFREYS)
        return tuple((a.n_others_right + PRIOR * overall) / (a.n_others + PRIOR) for a in self.answers)

    @cached_property
    def n_right(self) -> int:
        return sum(answer.is_correct for answer in self.answers)

    @cached_property
    def z(self) -> float | None:
        """By how many standard deviations the right answers differ from the expected ones; None without answers."""
        if not self.answers:
            return None
        return (self.n_right - sum(self.expected)) / sqrt(sum(p * (1 - p) for p in self.expected))

    @cached_property
    def correlation(self) -> float | None:
        """Pearson's r of own scores and others' means; None where one of them does not vary."""
        try:
            return correlation([r.score for r in self.ratings], [r.mean_of_others for r in self.ratings])
        except StatisticsError:
            return None


APPROVE, REJECT, PROPOSE, FLAG = "approve", "reject", "propose", "flag"


class PolicyError(ValueError):
    """The policy's data contradict themselves; the message names the rule and says how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What is known about a submitted assignment. Rules read it; they never ask a database.

    `is_saved` is False where its complete answers never reached us. `is_correct` has one entry per item, None where
    there is no gold answer and where none was given; `n_gone` items were not judged as a file was missing, `n_unseen`
    because their worker says that a file was not shown. `seconds` is the active time, None where nothing measured it;
    `n_words`, `n_pictures` and `n_inputs` are what it showed and asked; `scores` are its ratings on scales. `worker` is
    what its worker did in the batch, this assignment included, and `n_before` counts what they handed in before it;
    `is_named`: they came by a personal link. About the batch: `median_seconds` and `n_wanted` assignments.
    """

    is_saved: bool = True
    is_correct: tuple[bool | None, ...] = ()
    n_gone: int = 0
    n_unseen: int = 0
    seconds: float | None = None
    n_words: int = 0
    n_pictures: int = 0
    n_inputs: int = 0
    scores: tuple[float, ...] = ()
    worker: Record = field(default_factory=Record)
    is_named: bool = False
    n_before: int = 0
    n_wanted: int = 0
    median_seconds: float | None = None

    @property
    def n_graded(self) -> int:
        return sum(correct is not None for correct in self.is_correct)

    @property
    def n_correct(self) -> int:
        return sum(correct is True for correct in self.is_correct)


@dataclass(frozen=True, slots=True)
class Flag:
    """Something a rule noticed, said to the worker. Without `is_hit` it only asks for a person.

    `sentence` is what the record says, in English; `text` with its `values` is what a worker reads of it in their
    language, where that may be a rejection.
    """

    kind: str
    sentence: str
    is_hit: bool = True
    text: str = field(default="", compare=False)
    values: Mapping[str, str | int] = field(default_factory=dict, compare=False)

    @classmethod
    def told(cls, kind: str, text: str, *, is_hit: bool = True, **values: str | int) -> "Flag":
        """Return a flag that says `text`, marked by `gettext_noop`, with its values."""
        return cls(kind, text % values, is_hit, text, values)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do with one assignment, and the sentence the worker reads if it is a rejection."""

    verdict: str
    reason: str = ""
    n_correct: int | None = None
    n_graded: int | None = None
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of a policy. With `rejects_alone` its hit is enough to propose a rejection.

    `kind` names it in the data, `label` on pages. Without `counts` its hit asks for a person, but is no part of what
    proposes a rejection. Without `is_for_named` it holds for nobody who came by a personal link. Its fields are its
    parameters; they raise PolicyError if they can't hold.
    """

    kind: ClassVar[str]
    label: ClassVar[str]
    needs_gold: ClassVar[bool] = False
    counts: ClassVar[bool] = True
    is_for_named: ClassVar[bool] = True

    rejects_alone: bool = False

    def check(self, *, items_per_hit: int) -> None:
        """Raise PolicyError if the rule can't judge HITs of so many items."""

    def notice(self, evidence: Evidence) -> Flag | None:
        """Return what speaks against the assignment, None if nothing does or it can't be judged."""
        raise NotImplementedError

    def in_words(self) -> str:
        """Return the rule as a researcher reads it: the end of "Flagged: ..."; a sentence where it is not counted."""
        raise NotImplementedError

    def told(self, say: Say) -> str:
        """Return the rule as a worker reads it before the work: what follows "An assignment ...", or a sentence.

        `say` puts an English text into the worker's language.
        """
        raise NotImplementedError


def refuse(kind: str, sentence: str) -> PolicyError:
    """Return the error of a rule whose parameters can't hold."""
    return PolicyError(f"The rule {kind!r}: {sentence}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimumCorrect(Rule):
    """OFA-X's rule: fewer than `minimum` of `out_of` answers right.

    It judges only assignments whose every item has a gold answer; others wait for a person. An item that could not be
    judged, as a file was missing, is neither right nor wrong: of the others the same share is asked for, rounded down,
    but of several at least one.
    Source: the published results of OFA-X (arXiv 2212.04231), where 22 assignments below 3 of 5 were rejected. An
    honest worker who has 74 % right fails 11 % of such HITs (binomial), so by itself it is hard on difficult items.
    """

    kind: ClassVar[str] = "minimum_correct"
    label: ClassVar[str] = "Too few right answers"
    needs_gold: ClassVar[bool] = True

    minimum: int
    out_of: int

    def __post_init__(self) -> None:
        if not 1 <= self.minimum <= self.out_of:
            raise refuse(self.kind, f"at least {self.minimum} of {self.out_of} right can't be asked for.")

    def check(self, *, items_per_hit: int) -> None:
        if self.out_of != items_per_hit:
            raise refuse(self.kind, f"it counts {self.out_of} answers, but a HIT has {items_per_hit}.")

    def notice(self, evidence: Evidence) -> Flag | None:
        n_correct, n_graded = evidence.n_correct, evidence.n_graded
        if not n_graded or n_graded + evidence.n_gone != self.out_of:
            n_items = len(evidence.is_correct)
            sentence = f"{n_graded} of {n_items} answers could be graded; the rule needs {self.out_of}."
            return Flag(self.kind, sentence, is_hit=False)
        minimum = max(self.minimum * n_graded // self.out_of, min(n_graded - 1, 1))
        if n_correct >= minimum:
            return None
        words = gettext_noop(
            "You answered %(n_correct)s of %(n_graded)s questions correctly; at least %(minimum)s are needed."
        )
        return Flag.told(self.kind, words, n_correct=n_correct, n_graded=n_graded, minimum=minimum)

    def in_words(self) -> str:
        return f"fewer than {self.minimum} of {self.out_of} answers right"

    def told(self, say: Say) -> str:
        words = say("with fewer than %(minimum)d of %(out_of)d right answers")
        return words % {"minimum": self.minimum, "out_of": self.out_of}


@dataclass(frozen=True, slots=True, kw_only=True)
class DifficultyAdjusted(Rule):
    """Far fewer right answers than others have on the same items: z = (right - sum p) / sqrt(sum p (1 - p)).

    p is the share of the other workers' answers to an item that are right, with one answer's worth of the share over
    all items added. Pooled over what the worker did in the batch; fewer than `at_least` graded answers say nothing.
    Unlike a fixed minimum it does not punish for hard or mislabelled items: on simulated crowds with 20 % ambiguous
    gold it hit .2 % of honest assignments where fewer than 3 of 5 hit 11.4 %; the default -2.5 is from there. z grows
    with the number of answers, so the share right must be `margin` below the expected one too: in VQA-X somebody with
    94 % of 265 answers right has z = -5.
    """

    kind: ClassVar[str] = "difficulty_adjusted"
    label: ClassVar[str] = "Fewer right answers than others on the same items"
    needs_gold: ClassVar[bool] = True

    below: float = -2.5
    at_least: int = 10
    margin: float = 0.1

    def __post_init__(self) -> None:
        if not self.below < 0:
            raise refuse(self.kind, "'below' must be less than 0, else half of all people are below it.")
        if self.at_least < 1:
            raise refuse(self.kind, "'at_least' must be 1 or more.")
        if not 0 <= self.margin < 1:
            raise refuse(self.kind, "'margin' is a share, from 0 to less than 1.")

    def notice(self, evidence: Evidence) -> Flag | None:
        worker = evidence.worker
        n = len(worker.answers)
        if n < self.at_least or worker.z is None or worker.z >= self.below:
            return None
        if sum(worker.expected) - worker.n_right < self.margin * n:
            return None
        words = gettext_noop(
            "You answered %(n_right)s of %(n)s questions correctly in these HITs; "
            "other people have about %(expected)s of the same questions right."
        )
        return Flag.told(self.kind, words, n_right=worker.n_right, n=n, expected=round(sum(worker.expected)))

    def in_words(self) -> str:
        return f"right answers more than {-self.below:g} deviations below what others reach on the same items"

    def told(self, say: Say) -> str:
        return say("by somebody with far fewer right answers than other people have on the same questions")


@dataclass(frozen=True, slots=True, kw_only=True)
class TooFast(Rule):
    """Active time below what reading takes, or below a `divisor`-th of the batch's median.

    Active is what the page measured while it was visible and in focus; MTurk's clock runs from accepting, queueing
    included, and can't tell. Reading: words at 450 a minute, nearly twice the 238 of silent reading (Brysbaert 2019,
    doi 10.1016/j.jml.2019.104047), 2 s a picture, 1 s an input. Slow is never a fault. In OFA-X's data assignments
    below a third of the median were no less accurate, so time alone says little.
    """

    kind: ClassVar[str] = "too_fast"
    label: ClassVar[str] = "Faster than anyone can read"

    words_per_minute: float = 450.0
    seconds_per_picture: float = 2.0
    seconds_per_input: float = 1.0
    divisor: float = 3.0

    def __post_init__(self) -> None:
        if self.words_per_minute <= 0 or self.seconds_per_picture < 0 or self.seconds_per_input < 0:
            raise refuse(self.kind, "nobody reads in less than no time.")
        if self.divisor <= 1:
            raise refuse(self.kind, "'divisor' must be more than 1: half of all people are below the median.")

    def notice(self, evidence: Evidence) -> Flag | None:
        if evidence.seconds is None:
            return None
        floor = self.floor(evidence)
        if evidence.seconds >= floor:
            return None
        words = gettext_noop(
            "Your answers took %(seconds)s seconds; reading and answering this takes at least %(floor)s."
        )
        return Flag.told(self.kind, words, seconds=round(evidence.seconds), floor=round(floor))

    def floor(self, evidence: Evidence) -> float:
        """Return the seconds below which an assignment is too fast."""
        reading = 60 * evidence.n_words / self.words_per_minute
        reading += self.seconds_per_picture * evidence.n_pictures
        reading += self.seconds_per_input * evidence.n_inputs
        return max(reading, (evidence.median_seconds or 0) / self.divisor)

    def in_words(self) -> str:
        return f"less active time than reading takes, or less than the median divided by {self.divisor:g}"

    def told(self, say: Say) -> str:
        return say("finished faster than it can be read")


@dataclass(frozen=True, slots=True, kw_only=True)
class StraightLining(Rule):
    """All ratings on scales of an assignment, `at_least` so many, are the same.

    It never rejects alone: 30 % of the assignments OFA-X paid for VQA-X look like that, mostly because good
    explanations are all rated "yes", and long strings find careless answers no better than chance (Goldammer et al.
    2024, doi 10.3758/s13428-024-02484-3).
    """

    kind: ClassVar[str] = "straight_lining"
    label: ClassVar[str] = "The same rating everywhere"

    at_least: int = 8

    def __post_init__(self) -> None:
        if self.rejects_alone:
            raise refuse(self.kind, "it can't reject alone; good outputs deserve the same rating.")
        if self.at_least < 2:
            raise refuse(self.kind, "'at_least' must be 2 or more ratings.")

    def notice(self, evidence: Evidence) -> Flag | None:
        n = len(evidence.scores)
        if n < self.at_least or len(set(evidence.scores)) > 1:
            return None
        return Flag.told(self.kind, gettext_noop("You gave the same rating %(n)s times out of %(n)s."), n=n)

    def in_words(self) -> str:
        return f"the same rating everywhere, with {self.at_least} ratings or more"

    def told(self, say: Say) -> str:
        return say("with the same rating everywhere")


LEAST = 10  # below that a correlation of .1 is noise


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement(Rule):
    """The worker's scores hardly correlate with the means of everybody else's for the same outputs (leave one out).

    Pooled over what the worker did in the batch, on the headline criterion; fewer than `at_least` outputs that others
    rated too say nothing, nor do scores that are all the same. It finds who answers right but rates at random, which
    gold can't see: on simulated crowds .78 to .82 of bad assignments at a precision of .95 to .97 for r < .1.
    Filtering by agreement alone is too conservative (Mathur et al. 2018, U18-1010): a minority opinion is no fault.
    """

    kind: ClassVar[str] = "agreement"
    label: ClassVar[str] = "Ratings unlike everybody else’s"

    below: float = 0.1
    at_least: int = LEAST

    def __post_init__(self) -> None:
        if not -1 <= self.below < 1:
            raise refuse(self.kind, "'below' is a correlation, from -1 to less than 1.")
        if self.at_least < LEAST:
            raise refuse(self.kind, f"'at_least' must be {LEAST} outputs or more.")

    def notice(self, evidence: Evidence) -> Flag | None:
        n, r = len(evidence.worker.ratings), evidence.worker.correlation
        if n < self.at_least or r is None or r >= self.below:
            return None
        words = gettext_noop(
            "Your %(n)s ratings have hardly anything in common with those that other people gave "
            "(correlation %(correlation)s)."
        )
        return Flag.told(self.kind, words, n=n, correlation=f"{r:.2f}".replace("-", "−"))

    def in_words(self) -> str:
        return f"ratings that correlate less than {self.below:g} with everybody else’s"

    def told(self, say: Say) -> str:
        return say("by somebody whose ratings have nothing in common with everybody else’s")


LEAST_FAILED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedChecks(Rule):
    """The worker failed `failed` or more of the planted checks shown in this batch.

    One failed check proposes no rejection: Prolific asks for at least two in studies of five minutes or more
    (researcher help, "Attention and comprehension checks"), and single checks measure badly (Berinsky et al. 2014,
    doi 10.1111/ajps.12081). With `failed` 1 a first failure is flagged for a person and counts for nothing more.
    """

    kind: ClassVar[str] = "planted_checks"
    label: ClassVar[str] = "Failed planted checks"

    failed: int = LEAST_FAILED

    def __post_init__(self) -> None:
        if self.failed < 1:
            raise refuse(self.kind, "'failed' must be 1 or more.")

    def notice(self, evidence: Evidence) -> Flag | None:
        n_failed = sum(not is_passed for is_passed in evidence.worker.checks)
        if n_failed < self.failed:
            return None
        n_checks, is_hit = len(evidence.worker.checks), n_failed >= LEAST_FAILED
        words = gettext_noop(
            "%(n_failed)s of %(n_checks)s questions that check attention were answered wrongly."
        )
        return Flag.told(self.kind, words, is_hit=is_hit, n_failed=n_failed, n_checks=n_checks)

    def in_words(self) -> str:
        return f"{self.failed} or more planted checks failed"

    def told(self, say: Say) -> str:
        return say("by somebody who failed the attention checks among the questions")


SHARE = 0.1
ROUNDING = 1e-9  # 0.1 * 30 is a little less, or more, than 3


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerCap(Rule):
    """More than a share of the batch's wanted assignments by one worker, in the order they were handed in.

    Three workers gave about half of each OFA-X batch, so half of its numbers is their taste. Toloka guards against
    robots by the same 10 %. It says nothing about the work: it flags, and is no part of what proposes a rejection. It
    is kept at the door too, so what it flags came in by two doors at once, or before the rule. People invited by a
    personal link are named, and it is not for them.
    """

    kind: ClassVar[str] = "worker_cap"
    label: ClassVar[str] = "More than one person’s share"
    counts: ClassVar[bool] = False
    is_for_named: ClassVar[bool] = False

    share: float = SHARE

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise refuse(self.kind, "'share' is more than 0 and at most 1.")
        if self.rejects_alone:
            raise refuse(self.kind, "it can't reject alone; it says nothing about the work.")

    def notice(self, evidence: Evidence) -> Flag | None:
        if evidence.is_named or evidence.n_before < most_assignments(self.share, n_wanted=evidence.n_wanted):
            return None
        n = evidence.n_before + 1
        return Flag(
            self.kind, f"This is your assignment number {n} here; one person may do {self.share:.0%} of them."
        )

    def in_words(self) -> str:
        return f"One worker may do at most {self.share:.0%} of the batch."

    def told(self, say: Say) -> str:
        words = say("One person may do at most %(percent)s of these HITs.")
        return words % {"percent": f"{self.share:.0%}"}


def most_assignments(share: float, *, n_wanted: int) -> int:
    """Return how many assignments one worker may have of so many: at least one."""
    return max(1, floor(share * n_wanted + ROUNDING))
