"""A bonus to a purged worker: the marketplace still knows whose work it was, and we ask it."""

from decimal import Decimal

import pytest
from django.utils import timezone

from annotators.models import Assignment, Worker
from annotators.people.names import purged_name
from tests.annotators.crowds.offers import pay
from tests.market_site import Site, site, wire
from tests.market_study import open_study, work
from tests.surveys.operations.purge_study import cells_with

__all__ = ["site", "wire"]
pytestmark = pytest.mark.django_db(transaction=True)


def test_it_is_paid_and_the_id_is_not_kept(site: Site) -> None:
    assignment = work(site, open_study(site))
    worker_id = assignment.worker.worker_id
    Worker.objects.update(worker_id=purged_name(worker_id), purged_at=timezone.now())
    found = Assignment.objects.select_related("worker", "hit__hit_type").get()
    call = pay(site, found, amount=Decimal("0.50"), reason="Thank you.", token="bonus:1")
    assert (call.state, call.error) == ("done", "")
    paid = site.gateway.list_bonuses(found.assignment_id)
    assert [bonus.amount for bonus in paid] == [Decimal("0.50")]
    assert [name for name in cells_with(worker_id) if name != "Worker.worker_id"] == []
    assert Worker.objects.get().worker_id == purged_name(worker_id)
