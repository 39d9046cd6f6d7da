"""A study of people who come by personal links: shown item by item, and decided here, without a marketplace."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import urllib3

from annotators.models import HIT, Assignment, Endpoint, Worker
from surveys.answering.answer_copy import ItemAnswer
from surveys.answering.collection import given_answers
from surveys.models import AnnotationSlot, AuditEntry, Decision, Survey
from surveys.protocols.registry import get_definition
from surveys.protocols.rules import FLAG, REJECT
from surveys.rehearsal import study as rehearsal
from surveys.rehearsal.visits import LinkVisitor
from tests import factories
from tests.faults.studies import Study, Submission
from tests.link_study import make_states
from tests.policy_data import NEVER

VTT = get_definition("vtt")
TERMS: dict[str, Any] = {
    "endpoint": Endpoint.LINK,
    "takes_links": True,
    "reward": Decimal(0),
    "items_per_hit": 1,
    "review_policy": NEVER,
}
NAMES = ["Hasty", "Patient", "Diligent"]


@dataclass
class LinkStudy(Study):
    """The first person does not come back when the server dies under them; the others try again."""

    people: list[LinkVisitor] = field(default_factory=list)

    @staticmethod
    def make_survey(*, n_hits: int) -> Survey:
        survey = factories.make_survey(definition_key=VTT.key)
        for position in range(1, n_hits + 1):
            make_states(survey, position=position, definition=VTT)
        return survey

    def work(self, *, wrong: Any = ()) -> None:
        """Let each person do all there is for them."""
        if not self.people:
            self.invite()
        for visitor in list(self.people):
            try:
                self._annotate(visitor)
            except urllib3.exceptions.HTTPError:
                self.people.remove(visitor)

    def invite(self) -> None:
        addresses = rehearsal.invite(self.batch, names=NAMES)
        crowd = self.lab.crowd
        self.people = [
            crowd.invited(name, address=addresses[name], is_patient=name != "Hasty") for name in NAMES
        ]

    def _annotate(self, visitor: LinkVisitor) -> None:
        visit = visitor.start()
        while visit:
            visit.think()
            following = visit.submit()
            slot = AnnotationSlot.objects.get(
                batch=self.batch, number=int(visit.url.split("?")[0].split("/")[-2])
            )
            self.remember(self._worker_id(visitor), slot.questionnaire.hit.hit_id, visit)
            visit = following

    def _worker_id(self, visitor: LinkVisitor) -> str:
        return self.batch.invitations.get(name=visitor.person.worker_id).worker.worker_id


REASON = "Every answer is the first one there is."


class RejectingStudy(LinkStudy):
    """A person looks at all work: the first annotation is rejected, the others are approved."""

    def invite(self) -> None:
        super().invite()
        mine = Worker.objects.filter(invitations__batch=self.batch)
        mine.update(standing=Worker.Standing.WATCH)

    def work(self, *, wrong: Any = ()) -> None:
        super().work()
        waiting = Decision.objects.filter(assignment__hit__in=self.hits, verdict=FLAG)
        for decision in waiting.filter(assignment__status="Submitted").order_by("assignment"):
            self._decide(decision.assignment)

    def _decide(self, assignment: Assignment) -> None:
        rejected = Decision.objects.filter(assignment__hit__in=self.hits, verdict=REJECT)
        action = "approve" if rejected.exists() else "reject"
        page = self.lab.url(self.batch, f"assignments/{assignment.pk}/decide")
        self.lab.researcher.submit(page, action=action, reason=REASON)


def rejecting_invariants(study: RejectingStudy) -> dict[str, list[str]]:
    """Return {invariant: what breaks it} of the one rejection."""
    rejected = Assignment.objects.filter(hit__in=study.hits, status=Assignment.Status.REJECTED)
    again = AnnotationSlot.objects.filter(batch=study.batch, reopens__assignment__in=rejected)
    told = AuditEntry.objects.filter(assignment__in=rejected, outcome=REJECT)
    counts = {"rejected": rejected.count(), "wanted again": again.count(), "written down": told.count()}
    return {"one rejection, replaced once": [f"{counts}"] if set(counts.values()) != {1} else []}


def link_invariants(study: LinkStudy) -> dict[str, list[str]]:
    """Return {invariant: what breaks it} of a study that no marketplace knows of."""
    return {
        "every slot filled exactly": list(_misfilled(study)),
        "no HIT twice": list(_doubled_hits(study)),
        "no submitted answer missing": list(_missing_answers(study)),
    }


def _misfilled(study: LinkStudy) -> Iterator[str]:
    """Of a slot that was given to somebody else, the last of its chain is the one that is wanted."""
    wanted = AnnotationSlot.objects.filter(batch=study.batch, reopened_as=None).select_related("assignment")
    for slot in wanted:
        status = slot.assignment.status if slot.assignment else "free"
        if status != Assignment.Status.APPROVED:
            yield f"Slot {slot.number} is {status}."
    approved = Assignment.objects.filter(hit__in=study.hits, status=Assignment.Status.APPROVED)
    targets = sum(study.batch.questionnaires.values_list("target_assignments", flat=True))
    if not approved.count() == len(wanted) == targets:
        yield f"{approved.count()} assignments are approved in {len(wanted)} slots; {targets} were wanted."


def _doubled_hits(study: LinkStudy) -> Iterator[str]:
    n_hits = HIT.objects.filter(hit_type=study.batch.hit_type).count()
    if n_hits != (n_wanted := study.batch.questionnaires.count()):
        yield f"{n_hits} HITs for {n_wanted} questionnaires."


def _missing_answers(study: LinkStudy) -> Iterator[str]:
    for done in study.submitted:
        ours = Assignment.objects.filter(worker__worker_id=done.worker_id, hit__hit_id=done.hit_id).first()
        if ours is None or ours.saved_at is None:
            yield f"The submission of {done.worker_id} to {done.hit_id} is missing."
        elif (found := scores(given_answers(ours))) != remembered(done):
            yield f"{done.worker_id} gave {remembered(done)} to {done.hit_id}, not {found}."


def scores(answers: list[ItemAnswer]) -> dict[str, Any]:
    """Return {field name: value} of everything that was scored."""
    return {
        f"i{answer.position}-{code}-{key}": value
        for answer in answers
        for code, values in answer.ratings.items()
        for key, value in values.items()
    }


def remembered(done: Submission) -> dict[str, Any]:
    return {name: value for given in done.answers.values() for name, value in given.items()}
