"""The courses a study can take, from its draft to its end."""

import uuid
from collections.abc import Callable
from typing import Any

from django.utils import timezone

from annotators.models import Assignment, Call
from surveys.models import Decision, Inclusion, Replacement
from tests.faults import late
from tests.faults.late import LateStudy
from tests.faults.links import TERMS, LinkStudy, RejectingStudy
from tests.faults.studies import Lab, Study, make_study

LARGEST = 9  # a HIT that can't grow


def on_marketplace(study: Study) -> None:
    """Take the batch through; the first assignment is rejected and bought once more."""
    study.publish()
    study.wait_until(study.is_open)
    study.work(wrong=[0])
    study.finish()


def by_link(study: Study) -> None:
    study.publish()
    study.wait_until(study.is_open)
    study.finish()


def stopped(study: Study) -> None:
    """Stop while one assignment is in, one is being worked on, and nobody has the third."""
    study.publish()
    study.wait_until(study.is_open)
    hit = study.hits.get()
    study.submit(hit)
    late = study.accept(hit, number=1)
    study.lab.researcher.submit(study.lab.url(study.batch, "stop"))
    study.wait_until(lambda: not study.hits.filter(expires_at__gt=timezone.now()).exists())
    late.submit()
    study.remember(late.person.worker_id, hit.hit_id, late)
    approved = Assignment.objects.filter(hit=hit, status=Assignment.Status.APPROVED)
    study.wait_until(lambda: approved.count() == len(study.submitted) and not study.open_calls().exists())
    study.batch.refresh_from_db()


def overturn(study: Study) -> None:
    """Take one rejection back."""
    found = Assignment.objects.filter(hit__in=study.hits, status=Assignment.Status.REJECTED).earliest("pk")
    page = study.lab.url(study.batch, f"assignments/{found.pk}/")
    answer = study.lab.researcher.submit(
        f"{page}decide", action="overturn", reason="We looked again: it is fine."
    )
    assert answer.status == 200
    approved = Assignment.objects.filter(pk=found.pk, status=Assignment.Status.APPROVED)
    study.wait_until(lambda: approved.exists() and not study.open_calls().exists())


def pay_bonus(study: Study) -> None:
    """Pay one worker on top."""
    paid = Call.objects.filter(operation=Call.Operation.BONUS).values("assignment")
    found = Assignment.objects.filter(hit__in=study.hits).exclude(pk__in=paid).latest("pk")
    page = study.lab.url(study.batch, f"assignments/{found.pk}/")
    fields = {
        "nonce": str(uuid.uuid4()),
        "amount": "0.50",
        "reason": "For the long remark.",
        "confirmed": "1",
    }
    assert study.lab.researcher.submit(f"{page}bonus", **fields).status == 200
    done = Call.objects.filter(operation=Call.Operation.BONUS, assignment=found, state=Call.State.DONE)
    study.wait_until(done.exists)


def approved_by_time(study: Study) -> None:
    """The marketplace approves what the rule would reject before it is decided, and the budget holds its place back."""
    study.publish()
    study.wait_until(study.is_open)
    with study.lab.stack.suspended("worker"):
        late.work_and_let_time_pass(study)
    inclusions = Inclusion.objects.filter(assignment__hit__in=study.hits, is_replaced=True)
    study.wait_until(inclusions.exists)
    left_out_at = inclusions.get().decided_at
    study.wait_until(lambda: study.hits.get().synced_at > left_out_at)
    assert not Replacement.objects.filter(replaces__hit__in=study.hits).exists()
    study.lab.researcher.submit(study.lab.url(study.batch, "budget"), budget="100.00")
    study.finish()


def approved_while_it_waited(study: Study) -> None:
    """A rejection is proposed to a person, and the marketplace approves before they look."""
    study.publish()
    study.wait_until(study.is_open)
    late.work(study)
    proposed = Decision.objects.filter(assignment__hit__in=study.hits, verdict="propose")
    study.wait_until(proposed.exists)
    late.let_time_pass(study)
    noticed = Inclusion.objects.filter(assignment__hit__in=study.hits, is_replaced=True)
    study.wait_until(noticed.exists)
    study.finish()


COURSES: dict[str, Callable[[Study], None]] = {
    "marketplace": on_marketplace,
    "sibling HIT": on_marketplace,
    "by link": by_link,
    "approved by time": approved_by_time,
    "approved while it waited": approved_while_it_waited,
    "rejected by link": by_link,
    "stopped": stopped,
}
KINDS: dict[str, dict[str, Any]] = {
    "marketplace": {},
    "sibling HIT": {"assignments": LARGEST},
    "by link": {"n_hits": 2, "kind": LinkStudy, **TERMS},
    "approved by time": {"kind": LateStudy, "budget": 2 * late.PRICE},
    "approved while it waited": {"kind": LateStudy, "rejects_automatically": False},
    "rejected by link": {"n_hits": 2, "kind": RejectingStudy, **TERMS},
    "stopped": {"assignments": 3},
}


def draft(lab: Lab, *, course: str) -> Study:
    """Return a study that is to take this course."""
    return make_study(lab, **KINDS[course])
