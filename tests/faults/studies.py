"""A small study on the running site: published by a researcher, worked on by people, settled by the worker."""

import itertools
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.db import InterfaceError, OperationalError, connection
from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone

from annotators.crowds.mturk.leases import LEASE
from annotators.models import HIT, Call
from marketplace.models import LoggedCall
from surveys.models import AnnotationSlot, ApiRequest, Batch, Survey
from surveys.rehearsal import study
from surveys.rehearsal.visits import HitVisit, Visit
from surveys.simulating.people import Answers
from tests import factories
from tests.faults.people import Crowd, Researcher
from tests.faults.stack import Stack, wait_until
from tests.policy_data import at_least

N_ITEMS = 2
POLICY = at_least(N_ITEMS, N_ITEMS)
OPEN = (Call.State.SENT, Call.State.UNKNOWN)
SKIP_SECONDS = 0.3  # between two looks for times to move, which write to six tables
AFTER, LONG = timedelta(seconds=1), timedelta(hours=1)
_numbers = itertools.count(1)


@dataclass
class Lab:
    """Everybody a study needs."""

    stack: Stack
    crowd: Crowd
    researcher: Researcher

    def url(self, batch: Batch, page: str = "") -> str:
        return f"{self.stack.app_url}/batches/{batch.pk}/{page}"


def open_lab(stack: Stack) -> Lab:
    crowd = Crowd(stack)
    User.objects.create_superuser("researcher", password="not-a-secret")
    return Lab(stack, crowd, Researcher(stack, crowd, name="researcher", password="not-a-secret"))


@dataclass(frozen=True)
class Submission:
    """What one worker has submitted to one HIT, as they remember it."""

    worker_id: str
    hit_id: str
    answers: dict[int, Answers]


@dataclass
class Study:
    """One batch, and what its people remember to have submitted."""

    lab: Lab
    batch: Batch
    charged_before: Decimal
    first_call: int
    submitted: list[Submission] = field(default_factory=list)
    n_wrong: int = 0

    @staticmethod
    def make_survey(*, n_hits: int) -> Survey:
        return factories.make_survey(n_items=n_hits * N_ITEMS, slug=f"faults-{next(_numbers)}")

    def publish(self) -> None:
        self.lab.researcher.submit(self.lab.url(self.batch, "publish"))

    def is_open(self) -> bool:
        self.batch.refresh_from_db()
        return self.batch.status == Batch.Status.OPEN

    def is_complete(self) -> bool:
        self.batch.refresh_from_db()
        return self.batch.status == Batch.Status.COMPLETE

    def work(self, *, wrong: Iterable[int] = ()) -> None:
        """Fill every place there is; the n-th submissions in `wrong` are such that the rule rejects them."""
        for hit in self.hits:
            n_filled = sum(done.hit_id == hit.hit_id for done in self.submitted)
            for _ in range(hit.max_assignments - n_filled):
                self.submit(hit, is_right=len(self.submitted) not in wrong)

    def submit(self, hit: HIT, *, is_right: bool = True) -> None:
        visit = self.accept(hit, number=len(self.submitted), is_right=is_right)
        visit.submit()
        self.n_wrong += not is_right
        self.remember(visit.person.worker_id, hit.hit_id, visit)

    def accept(self, hit: HIT, *, number: int, is_right: bool = True) -> HitVisit:
        """Have worker `number` accept the HIT, open its page and fill it in."""
        worker = self.lab.crowd.worker(number, is_right=is_right)
        visit = worker.accept(hit_type_id=hit.hit_type.hit_type_id, hit_id=hit.hit_id)
        visit.think()
        return visit

    def remember(self, worker_id: str, hit_id: str, visit: Visit) -> None:
        self.submitted.append(Submission(worker_id, hit_id, visit.answers))

    @property
    def hits(self) -> QuerySet[HIT]:
        return HIT.objects.filter(questionnaire__batch=self.batch).select_related("hit_type").order_by("pk")

    def finish(self) -> None:
        """Fill what is opened for replacements until nothing is wanted any more."""

        def is_over() -> bool:
            self.work()
            return self.is_complete() and not self.open_calls().exists()

        self.wait_until(is_over)

    def wait_until(self, is_so: Callable[[], bool], *, skips: bool = True) -> None:
        """Wait while whatever has died is started again, and nobody waits in vain for those who do not come back."""
        last_skipped = -math.inf

        def looked() -> bool:
            nonlocal last_skipped
            self.lab.stack.revive()
            try:
                if skips and time.monotonic() - last_skipped >= SKIP_SECONDS:
                    skip_waits()
                    last_skipped = time.monotonic()
                return is_so()
            except (OperationalError, InterfaceError):  # the database died, too
                connection.close()
                return False

        wait_until(looked, what=self.story)

    def open_calls(self) -> QuerySet[Call]:
        """Return the study's calls whose outcome is not known."""
        tokens = [f"create:{pk}" for pk in self.batch.questionnaires.values_list("pk", flat=True)]
        is_ours = Q(token__in=tokens) | Q(hit__questionnaire__batch=self.batch)
        return Call.objects.filter(is_ours).exclude(state__in=[Call.State.DONE, Call.State.REFUSED])

    def story(self) -> str:
        calls = self.open_calls()
        unsettled = [f"{call} tried {call.attempts} times: {call.error}" for call in calls]
        leased = HIT.objects.filter(leased_until__isnull=False).count()
        told = f"{study.waiting(self.batch)} {leased} HITs leased. {' '.join(unsettled)}"
        return f"{told}\n{self.lab.stack.story()}"


def skip_waits() -> None:
    """Let the minutes pass that are waited for whoever began a call or leased a HIT and did not come back.

    The stored times are moved, so the site finds them as old as they would be then.
    """
    then = timezone.now() - AFTER
    begun = Call.objects.filter(state__in=OPEN, sent_at__lt=then, sent_at__gt=then - LONG)
    begun.update(sent_at=F("sent_at") - LONG)
    left = Call.objects.filter(state=Call.State.PLANNED, created_at__lt=then, created_at__gt=then - LONG)
    left.update(created_at=F("created_at") - LONG)
    HIT.objects.filter(leased_until__lt=then + LEASE).update(leased_until=then)
    unanswered = AnnotationSlot.objects.filter(assignment__status="Accepted", leased_until__gt=then)
    unanswered.update(leased_until=then)
    begun_keys = ApiRequest.objects.filter(status=None, begun_at__lt=then, begun_at__gt=then - LONG)
    begun_keys.update(begun_at=F("begun_at") - LONG)


def make_study(
    lab: Lab, *, n_hits: int = 1, assignments: int = 2, kind: type[Study] = Study, **values: Any
) -> Study:
    """A draft of `n_hits` HITs, with nobody's answers yet."""
    survey = kind.make_survey(n_hits=n_hits)
    batch = factories.make_draft(
        survey,
        **{
            "items_per_hit": N_ITEMS,
            "assignments_per_hit": assignments,
            "review_policy": POLICY,
            **values,
        },
    )
    last_call = LoggedCall.objects.aggregate(pk=Max("pk"))["pk"] or 0
    return kind(lab, batch, charged_before=lab.crowd.control.charged(), first_call=last_call)
