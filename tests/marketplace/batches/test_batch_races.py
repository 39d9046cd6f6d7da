"""Several at once on batches and invitations: each thing happens once."""

import pytest
from django.utils import timezone

from marketplace import clock
from marketplace.accounts import invitations, keys
from marketplace.batches import decisions, publishing
from marketplace.batches.tables import BadTable
from marketplace.models import HIT, Assignment, Invitation, TemplateBatch, Worker
from marketplace.money import audit
from marketplace.refusals import WorkerRefusal
from tests.marketplace.batches.batches_made import draft, hits, published, work
from tests.marketplace.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_draft_is_published_by_one_of_four(requester):
    batch, now = draft(requester), timezone.now()

    def publish():
        try:
            publishing.publish(TemplateBatch.objects.get(pk=batch.pk), now=now)
        except publishing.AlreadyPublished:
            return "too late"
        return "published"

    assert sorted(at_once([publish] * 4)) == ["published", "too late", "too late", "too late"]
    assert HIT.objects.count() == 2
    assert audit.report()["is_sound"] is True


def test_a_link_for_three_lets_in_three_of_eight(db):
    (token,) = invitations.create(number=1, most_uses=3, days=1, note="", now=clock.now())
    results = at_once([lambda: invitations.take(token, now=clock.now()) for _ in range(8)])
    assert sum(isinstance(result, WorkerRefusal) for result in results) == 5
    assert (Worker.objects.count(), Invitation.objects.get().used) == (3, 3)


def test_two_uploads_that_disagree_do_not_mix(requester):
    batch = published(requester)
    rows = [work(hit, worker=keys.create_worker()[0], answer="-") for hit in hits(batch)]

    def upload(is_approval, order):
        wanted = [
            decisions.Decision(number, row.assignment_id, is_approval, "No.")
            for number, row in enumerate(order, start=1)
        ]
        try:
            return decisions.carry_out(batch, decisions=wanted, now=timezone.now())
        except BadTable:
            return None

    at_once([lambda: upload(False, rows), lambda: upload(True, rows[::-1])] * 2)
    assert set(Assignment.objects.values_list("status", flat=True)) == {"Approved"}
    assert audit.report()["is_sound"] is True
