"""Work that the marketplace approves by itself, although the rule would have rejected it."""

from collections.abc import Iterator
from decimal import Decimal

from django.utils import timezone

from annotators.crowds.mturk.fees import price
from annotators.models import Assignment
from marketplace import models as marketplace
from surveys.models import AuditEntry, Decision, Inclusion, Replacement
from tests.faults import invariants as shared
from tests.faults.studies import Study

REWARD, PLACES = Decimal("0.38"), 2
PRICE = price(REWARD, max_assignments=PLACES)


class LateStudy(Study):
    """The first of two assignments is wrong, and is approved by time; it is left out and collected once more."""


def work(study: Study) -> None:
    """Fill both places, the first with wrong answers."""
    hit = study.hits.get()
    study.submit(hit, is_right=False)
    study.submit(hit)


def let_time_pass(study: Study) -> None:
    """Have the marketplace find that the AutoApprovalTime of all that is undecided there has come."""
    undecided = marketplace.Assignment.objects.filter(hit__hit_id=study.hits.get().hit_id, status="Submitted")
    assert undecided.update(auto_approval_at=timezone.now()) > 0


def work_and_let_time_pass(study: Study) -> None:
    work(study)
    let_time_pass(study)


def late_invariants(study: Study) -> dict[str, list[str]]:
    """Return {invariant: what breaks it}."""
    outside = shared.Marketplace(study)
    hits, assignments = outside.hits(), outside.assignments()
    return {
        "every slot filled exactly": list(_misfilled(study)),
        "no HIT twice": list(shared._doubled_hits(study, hits)),
        "no assignment decided twice": list(shared._decided_twice(study, assignments)),
        "no submitted answer missing": list(shared._missing_answers(study, assignments)),
        "left out and replaced once": list(_replaced_once(study)),
        "paid once, within the budget": list(_overpaid(study)),
        "no call left open": list(shared._open_calls(study)),
    }


def _late(study: Study) -> Iterator[Assignment]:
    found = Assignment.objects.filter(hit__in=study.hits, decision__is_auto_approved=True)
    yield from found.filter(worker__worker_id=study.submitted[0].worker_id)


def _misfilled(study: Study) -> Iterator[str]:
    approved = Assignment.objects.filter(hit__in=study.hits, status=Assignment.Status.APPROVED)
    n_used = approved.exclude(inclusion__is_included=False).count()
    if (n_used, approved.count()) != (PLACES, PLACES + 1):
        yield f"{n_used} of {approved.count()} approved assignments are used."


def _replaced_once(study: Study) -> Iterator[str]:
    late = list(_late(study))
    found = {
        "approved late": len(late),
        "decisions": Decision.objects.filter(assignment__in=late, verdict="approve").count(),
        "left out": Inclusion.objects.filter(
            assignment__in=late, is_included=False, is_replaced=True
        ).count(),
        "replaced": Replacement.objects.filter(replaces__in=late, opened_at__isnull=False).count(),
        "planned": Replacement.objects.filter(replaces__hit__in=study.hits).count(),
        "audited as left out": AuditEntry.objects.filter(assignment__in=late, outcome="exclude").count(),
        "audited as approved": AuditEntry.objects.filter(assignment__in=late, outcome="approve").count(),
    }
    if set(found.values()) != {1}:
        yield f"{found}"


def _overpaid(study: Study) -> Iterator[str]:
    charged = study.lab.crowd.control.charged() - study.charged_before
    if charged != (PLACES + 1) * PRICE:
        yield f"${charged} was charged for {PLACES + 1} assignments of ${PRICE}."
