"""Several batches in one report: what one batch of all their answers would say."""

import pytest
from django.db.models import CharField, F, Value
from django.db.models.functions import Cast, Concat

from surveys.models import Batch, Item
from surveys.results.chosen import Chosen, of_frame, responses
from surveys.results.files.report import Report, make_report
from surveys.results.frames.together import read_batches, together
from surveys.results.kept import across_version, report_key, report_version
from tests.surveys.results.rated import Rated, rated_batch

pytestmark = pytest.mark.django_db
FIRST = [
    *(Rated(f"s{n}", "a", who, {"clarity": str(1 + n), "trust": "5"}) for n in range(4) for who in "xy"),
    Rated("s0", "b", "x", {"clarity": "2", "trust": "1"}),
    Rated("s1", "b", "z", skip_reason="too_dark"),
]
SECOND = [
    *(Rated(f"t{n}", "b", who, {"clarity": str(5 - n), "trust": "3"}) for n in range(4) for who in "xz"),
    Rated("t1", "c", "y", {"clarity": "4", "trust": "4"}, status="Rejected"),
]


def beside(batch: Batch, other: Batch) -> list[Batch]:
    """Put a batch and its items into the study of another."""
    names = Concat(Value("item-"), Cast("pk", CharField()))
    moved = Item.objects.filter(survey=other.survey)
    moved.update(
        survey=batch.survey,
        position=F("position") + 100 * (1 + batch.survey.items.count()),
        external_id=names,
    )
    other.survey = batch.survey
    other.save()
    return [batch, other]


def report(batches: list[Batch], chosen: Chosen = Chosen()) -> Report:  # noqa: B008 (frozen)
    return make_report(of_frame(together(read_batches(batches)), chosen, batches=batches))


@pytest.mark.parametrize("chosen", [Chosen(), Chosen(rows="all"), Chosen(systems=("b",)), Chosen(most=40)])
def test_two_batches_say_what_one_with_all_their_answers_says(chosen: Chosen) -> None:
    whole = [rated_batch([*FIRST, *SECOND])]
    parts = beside(rated_batch(FIRST), rated_batch(SECOND))
    one, both = report(whole, chosen), report(parts, chosen)
    assert (both.summary, both.comparison, both.agreement) == (one.summary, one.comparison, one.agreement)
    assert responses(parts, chosen).count() == responses(whole, chosen).count()


def test_one_frame_stays_as_it_is() -> None:
    frames = read_batches([rated_batch(FIRST)])
    assert together(frames) is frames[0]


def test_their_report_is_kept_under_one_name_in_whatever_order_they_are_asked_for() -> None:
    first, second = beside(rated_batch(FIRST), rated_batch(SECOND))
    key = f"report:{first.pk},{second.pk}"
    assert [report_key([second, first]), report_key([first, second])] == [key, key]
    assert report_key([first]) == report_key(first) == f"report:{first.pk}"
    assert report_version([second, first]) == across_version([first, second])
