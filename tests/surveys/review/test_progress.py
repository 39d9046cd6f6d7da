"""What counts as undecided: one answer for the gauges, the alarms, the lists and the pages."""

from datetime import timedelta

import pytest
from django.utils import timezone

from annotators.models import Assignment
from surveys.models import Batch, Decision, PanelVisit
from surveys.publishing.stopping import in_flight
from surveys.review.progress import undecided, urgent, with_counts, with_work
from tests.factories import make_assignment, make_published
from tests.link_people import answered, make_panel, make_person, take
from tests.link_people import make_batch as make_link_batch

pytestmark = pytest.mark.django_db
SOON = timedelta(minutes=10)


@pytest.fixture
def batch() -> Batch:
    """A batch with one submitted assignment of each verdict and one without any, all about to be approved."""
    questionnaire = make_published()
    for verdict in ("", *Decision.Verdict.values):
        deadline = timezone.now() + SOON
        made = make_assignment(questionnaire.hit, status="Submitted", auto_approval_at=deadline)
        if verdict:
            Decision.objects.create(assignment=made, verdict=verdict, reason="So.", decided_at=timezone.now())
    make_assignment(questionnaire.hit, status="Approved", auto_approval_at=timezone.now() + SOON)
    return questionnaire.batch


def verdicts(found) -> list[str]:
    return sorted(getattr(getattr(one, "decision", None), "verdict", "") for one in found)


def test_undecided_is_what_gets_approved_unless_the_marketplace_hears_from_us(batch):
    assert verdicts(undecided()) == ["", "flag", "propose", "reject"]


def test_approved_work_that_is_not_told_yet_is_not_urgent(batch):
    assert verdicts(urgent(batch)) == ["", "flag", "propose", "reject"]
    Assignment.objects.update(auto_approval_at=timezone.now() + timedelta(days=2))
    assert verdicts(urgent(batch)) == []


def test_lists_of_batches_count_the_same(batch):
    assert with_counts(Batch.objects.all()).get().n_undecided == 4
    assert in_flight(batch).n_undecided == 4


def test_what_is_kept_was_handed_in_and_is_not_rejected(batch):
    hit = Assignment.objects.first().hit
    make_assignment(hit, status="Rejected")
    make_assignment(hit, status="Open")
    found = with_counts(Batch.objects.all()).get()
    assert (found.n_kept, found.n_rejected) == (len(Decision.Verdict.values) + 2, 1)


def test_of_a_batch_that_nobody_has_opened_nothing_is_counted():
    batch = with_counts(Batch.objects.filter(pk=make_published().batch_id)).get()
    counts = (batch.n_kept, batch.n_undecided, batch.n_held, batch.n_rejected)
    assert (counts, batch.n_hits, batch.n_published) == ((0, 0, 0, 0), 1, 1)


def test_people_have_done_and_begun_what_is_of_this_batch():
    here, elsewhere = make_link_batch(n_items=3), make_link_batch(n_items=2)
    ann = make_person("prolific:5f2a", "panel")
    for found, n_done in ((here, 2), (elsewhere, 1)):
        make_panel(found, assignments_per_worker=3).visits.create(worker=ann)
        for _ in range(n_done):
            answered(take(found, ann, channel="panel"))
    take(elsewhere, ann, channel="panel")
    counts = {
        batch.pk: with_work(PanelVisit.objects.filter(panel__batch=batch), batch=batch).get()
        for batch in (here, elsewhere)
    }
    assert (counts[here.pk].n_done, counts[here.pk].n_open) == (2, 0)
    assert (counts[elsewhere.pk].n_done, counts[elsewhere.pk].n_open) == (1, 1)
