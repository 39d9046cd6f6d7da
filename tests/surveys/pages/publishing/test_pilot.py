"""What the page of a pilot tells of the whole."""

import pytest

from surveys.pages.publishing.pilot import _planned
from surveys.results.files.report import make_report
from surveys.results.frames.database import read_batch
from tests.surveys.results.rated import Rated, rated_batch

pytestmark = pytest.mark.django_db


def test_of_one_mind_a_whole_of_the_same_size_is_as_wide_as_results_say() -> None:
    said = {"clarity": "4", "trust": "4"}
    report = make_report(
        read_batch(rated_batch([Rated(f"s{n}", "a", w, said) for n in range(4) for w in "xyz"]))
    )
    (clarity, _) = _planned(report, growth=1)
    interval = report.summary.kept.systems[0].criteria[0].interval
    assert interval is not None
    assert clarity.width.whole == pytest.approx(4 - interval.low)
    assert 4 - interval.low > interval.high - 4
