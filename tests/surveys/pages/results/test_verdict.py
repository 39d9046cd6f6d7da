"""The sentence a results page begins with never says more than the table's own test."""

import pytest

from surveys.pages.results.verdict import preferred, verdict
from surveys.protocols.registry import get_definition
from surveys.results.files.report import make_report
from surveys.results.frames.database import read_batch
from surveys.results.statistics.choices import Choices, Preferred
from surveys.results.statistics.inference import Interval, Support
from tests.surveys.results.rated import Rated, rated_batch

pytestmark = pytest.mark.django_db
CHOSEN = (
    " was chosen after looking, as the best: no planned comparison, and p values lean towards daggers. "
    "Name the system to compare with beforehand."
)
WORKERS = [f"w{n}" for n in range(12)]


def sentences(rows: list[Rated], key: str = "vtt") -> tuple[str, ...]:
    report = make_report(read_batch(rated_batch(rows, definition=get_definition(key))))
    return verdict(report.summary, report.comparison)


def rows(key: str, score: dict[str, object]) -> list[Rated]:
    """Twelve workers on six items; `score` tells a system's rating by (item, worker)."""
    keys = [criterion.key for criterion in get_definition(key).criteria]
    return [
        Rated(f"s{item}", system, worker, dict.fromkeys(keys, str(given(item, place))))
        for item in range(6)
        for place, worker in enumerate(WORKERS)
        for system, given in score.items()
    ]


def test_a_difference_is_told_with_its_interval_and_the_better_way_round() -> None:
    low = {
        "a": lambda item, place: 4 + (item * place) % 3 % 2,
        "b": lambda item, place: 1 + (item * place) % 5 % 2,
    }
    first, *rest = sentences(rows("vtt", low))
    headline = get_definition("vtt").criterion(get_definition("vtt").headline).label
    assert first.startswith(f"{headline}: b is rated 3")
    assert "lower than a (difference −3" in first
    assert "p < 0.001" in first
    assert rest == ["Of all 3 tests of this table, 3 show a difference.", f"a{CHOSEN}"]


def test_what_was_not_shown_is_never_called_none() -> None:
    same = {"a": lambda item, place: 1 + (item * place) % 5, "b": lambda item, place: 1 + (item + place) % 5}
    first, *rest = sentences(rows("vtt", same))
    assert "is rated higher can't be told (difference" in first
    assert rest == ["Of all 3 tests of this table, 0 show a difference.", f"b{CHOSEN}"]


def test_what_can_t_be_tested_is_told_with_its_size_and_why() -> None:
    first, *rest = sentences(rows("vtt", {"a": lambda item, place: 5, "b": lambda item, place: 1}))
    assert first.endswith(
        "b beside a (difference −4.0000) can't be tested on 6 shared items: all items say the same."
    )
    assert rest == [f"a{CHOSEN}"]


def test_one_system_has_its_mean() -> None:
    (only,) = sentences(rows("vtt", {"a": lambda item, place: 2 + (item * place) % 5 % 3}))
    assert "ratings of a have a mean of 2." in only
    assert "(95 %: 2" in only


def test_few_workers_are_named_beside_the_dagger() -> None:
    few = [Rated(f"s{n}", s, w, {"fluency": v, "relevance": v, "logical_consistency": v})
           for n in range(8) for s, v in (("a", "5"), ("b", str(1 + n % 2))) for w in ("ann", "bob")]  # fmt: skip
    assert "few workers: 2" in sentences(few)[0]


def test_nobody_rated_leaves_nothing_to_say() -> None:
    reason = get_definition("vtt").skip_reasons[0].value
    assert sentences([Rated("s1", "a", "ann", skip_reason=reason)]) == ()


def test_a_criterion_that_is_a_question_stands_in_quotes() -> None:
    said = [Rated(f"s{n}", "a", worker, {"clarity": "4", "trust": "4"}) for n in range(3) for worker in "xy"]
    report = make_report(read_batch(rated_batch(said)))
    assert verdict(report.summary, report.comparison)[0].startswith("“Clear?”: ratings of a have a mean of 4")


@pytest.mark.parametrize(
    ("net", "ends", "p", "said"),
    [
        (0.5, (0.2, 0.7), 0.01, "a is preferred to b (a won 6, tied 2, lost 1; won less lost 0.5, 0.2 to 0.7, p"),
        (-0.5, (-0.7, -0.2), 0.01, "b is preferred to a (a won 6, tied 2, lost 1; won less lost −0.5, −0.7 to −0.2,"),
        (0.5, (-0.2, 0.7), 0.2, "whether a or b is preferred can't be told (a won 6, tied 2, lost 1; won less"),
        (1.0, None, None, "a and b are not tested: all items say the same (a won 6, tied 2, lost 1)."),
    ],
)  # fmt: skip
def test_what_was_preferred_is_told_with_its_test(
    net: float, ends: tuple[float, float] | None, p: float | None, said: str
) -> None:
    interval = Interval(*ends, Support(items=9, workers=12)) if ends else None
    why_not = "" if ends else "all items say the same"
    found = Preferred("a", "better", "b", 6, 2, 1, net, p, p, interval, None, None, why_not)
    (sentence,) = preferred(Choices(preferred=(found,)))
    assert sentence.startswith(f"Beside each other: {said}")


def test_of_many_pairs_what_was_shown_is_told_first() -> None:
    interval = Interval(0.1, 0.3, Support(items=9, workers=12))
    pairs = [
        Preferred(name, "better", "z", 6, 2, 1, 0.2, p, p, interval, None, None)
        for name, p in (("a", 0.5), ("b", 0.5), ("c", 0.5), ("d", 0.01))
    ]
    said = list(preferred(Choices(preferred=tuple(pairs))))
    assert [sentence.split(" (")[0] for sentence in said] == [
        "Beside each other: d is preferred to z",
        "Beside each other: whether a or z is preferred can't be told",
        "Beside each other: whether b or z is preferred can't be told",
        "Of all 4 pairs that are tested, 1 show a difference.",
    ]


def test_pairs_that_are_not_tested_keep_none_back_that_is() -> None:
    interval = Interval(0.1, 0.3, Support(items=9, workers=12))
    alike = [Preferred(name, "better", "z", 6, 0, 0, 1.0, None, None, None, None, None) for name in "abc"]
    never = Preferred("d", "better", "z", 0, 0, 0, None, None, None, None, None, None)
    tested = Preferred("e", "better", "z", 6, 2, 1, 0.2, 0.5, 0.5, interval, None, None)
    said = list(preferred(Choices(preferred=(never, *alike, tested))))
    assert [sentence.split(" (")[0] for sentence in said] == [
        "Beside each other: whether e or z is preferred can't be told",
        "Beside each other: a and z are not tested",
        "Beside each other: b and z are not tested",
    ]
