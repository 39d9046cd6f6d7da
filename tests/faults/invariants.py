"""What must hold once a study is over, asked of our tables, of the marketplace by boto3, and of the people."""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import boto3
from django.conf import settings
from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotators.models import Assignment, Call
from surveys.answering.answer_copy import content, copied_answers
from surveys.answering.collection import given_answers
from surveys.models import Batch, Replacement
from tests.faults.studies import Study

PAYING = (Call.Operation.APPROVE, Call.Operation.OVERTURN, Call.Operation.BONUS)
Status = Assignment.Status
OVERTURNED = Q(decision__overturned_at__isnull=False)


class Marketplace:
    """The marketplace as an outsider reads it: with boto3 as its requester, and by its own books."""

    def __init__(self, study: Study) -> None:
        self.study = study
        known = settings.MTURK_ENDPOINTS["embedded"]
        self.client: Any = boto3.client(
            "mturk",
            region_name="us-east-1",
            endpoint_url=study.lab.stack.marketplace_url,
            aws_access_key_id=known["aws_access_key_id"],
            aws_secret_access_key=known["aws_secret_access_key"],
        )

    def hits(self) -> list[dict[str, Any]]:
        """Return the HITs whose annotation names one of the study's questionnaires."""
        tokens = {f"create:{pk}" for pk in self.study.batch.questionnaires.values_list("pk", flat=True)}
        pages = self.client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 100})
        return [hit for page in pages for hit in page["HITs"] if hit.get("RequesterAnnotation") in tokens]

    def assignments(self) -> list[dict[str, Any]]:
        pages = self.client.get_paginator("list_assignments_for_hit")
        return [
            assignment
            for hit in self.hits()
            for page in pages.paginate(HITId=hit["HITId"])
            for assignment in page["Assignments"]
        ]

    def bonuses(self, assignment_id: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.client.list_bonus_payments(AssignmentId=assignment_id)[
            "BonusPayments"
        ]
        return found


def invariants(study: Study) -> dict[str, list[str]]:
    """Return {invariant: what breaks it}, nothing where it holds."""
    marketplace = Marketplace(study)
    hits, assignments = marketplace.hits(), marketplace.assignments()
    is_stopped = study.batch.status == Batch.Status.STOPPED
    end = "no HIT takes workers" if is_stopped else "every slot filled exactly"
    return {
        end: list(_takes_workers(hits) if is_stopped else _misfilled(study)),
        "no HIT twice": list(_doubled_hits(study, hits)),
        "no assignment decided twice": list(_decided_twice(study, assignments)),
        "replacements = rejections": list(_unreplaced(study)),
        "no submitted answer missing": list(_missing_answers(study, assignments)),
        "no bonus twice": list(_bonuses(study, marketplace)),
        "both ledgers agree": list(_money(study)),
        "no call left open": list(_open_calls(study)),
    }


def of(study: Study) -> QuerySet[Assignment]:
    return Assignment.objects.filter(hit__questionnaire__batch=study.batch)


def _takes_workers(hits: list[dict[str, Any]]) -> Iterator[str]:
    for hit in hits:
        if hit["Expiration"] > timezone.now():
            yield f"{hit['HITId']} can be accepted until {hit['Expiration']}."


def _misfilled(study: Study) -> Iterator[str]:
    root = Coalesce("hit__questionnaire__sibling_of", "hit__questionnaire")
    approved = of(study).filter(status=Status.APPROVED).exclude(OVERTURNED)
    kept = dict(approved.annotate(root=root).values_list("root").annotate(n=Count("pk")).order_by())
    for questionnaire in study.batch.questionnaires.filter(sibling_of=None):
        if (n := kept.get(questionnaire.pk, 0)) != questionnaire.target_assignments:
            yield f"{questionnaire} has {n} kept assignments, not {questionnaire.target_assignments}."


def _doubled_hits(study: Study, hits: list[dict[str, Any]]) -> Iterator[str]:
    found = Counter(hit["RequesterAnnotation"] for hit in hits)
    for pk, hit_id in study.batch.questionnaires.values_list("pk", "hit__hit_id"):
        if found[f"create:{pk}"] != 1:
            yield f"Questionnaire {pk} has {found[f'create:{pk}']} HITs on the marketplace."
        if hit_id not in {hit["HITId"] for hit in hits}:
            yield f"The marketplace does not know {hit_id} as one of the batch's HITs."


def _decided_twice(study: Study, assignments: list[dict[str, Any]]) -> Iterator[str]:
    made = Counter(
        call["request"]["AssignmentId"]
        for operation in ("ApproveAssignment", "RejectAssignment")
        for call in study.lab.crowd.calls(operation, after=study.first_call)
        if call["status"] in {0, 200} and not call["request"].get("OverrideRejection")
    )
    statuses = dict(
        Assignment.objects.filter(hit__questionnaire__batch=study.batch).values_list(
            "assignment_id", "status"
        )
    )
    for assignment in assignments:
        name, status = assignment["AssignmentId"], assignment["AssignmentStatus"]
        if made[name] > 1:
            yield f"{name} was decided {made[name]} times."
        if statuses.get(name) != status:
            yield f"{name} is {status} on the marketplace, {statuses.get(name)} here."


def _unreplaced(study: Study) -> Iterator[str]:
    rejected = of(study).filter(Q(status=Status.REJECTED) | OVERTURNED)
    opened = Replacement.objects.filter(replaces__in=rejected, opened_at__isnull=False)
    planned = Replacement.objects.filter(replaces__hit__questionnaire__batch=study.batch)
    wanted = sum(
        study.batch.questionnaires.filter(sibling_of=None).values_list("target_assignments", flat=True)
    )
    on_market = study.batch.questionnaires.aggregate(n=Sum("hit__max_assignments"))["n"]
    if not rejected.count() == study.n_wrong == opened.count() == planned.count() == on_market - wanted:
        yield (
            f"{study.n_wrong} had to be rejected, {rejected.count()} were; {planned.count()} replacements were "
            f"planned, {opened.count()} opened; the HITs have {on_market} places for {wanted} wanted ones."
        )


def _missing_answers(study: Study, assignments: list[dict[str, Any]]) -> Iterator[str]:
    """Compare three copies: what the people remember, what we have, what the marketplace has."""
    there = {(a["WorkerId"], a["HITId"]): a for a in assignments}
    if len(there) != len(study.submitted) or len(assignments) != len(there):
        yield f"{len(study.submitted)} were submitted; the marketplace lists {len(assignments)}."
    for done in study.submitted:
        ours = Assignment.objects.filter(worker__worker_id=done.worker_id, hit__hit_id=done.hit_id).first()
        copy = there.get((done.worker_id, done.hit_id))
        if ours is None or ours.saved_at is None or copy is None:
            yield f"The submission of {done.worker_id} to {done.hit_id} is missing."
            continue
        if content(given_answers(ours)) != content(copied_answers(copy["Answer"])):
            yield f"Our answers of {done.worker_id} to {done.hit_id} are not the marketplace's."
        remembered = {n: given[f"i{n}-answer"] for n, given in done.answers.items()}
        if {answer.position: answer.answer for answer in given_answers(ours)} != remembered:
            yield f"Our answers of {done.worker_id} to {done.hit_id} are not what they submitted."


def _bonuses(study: Study, marketplace: Marketplace) -> Iterator[str]:
    given = Call.objects.filter(operation=Call.Operation.BONUS, assignment__in=of(study))
    for name, amount in given.values_list("assignment__assignment_id", "arguments__amount"):
        paid = [Decimal(bonus["BonusAmount"]) for bonus in marketplace.bonuses(name)]
        if paid != [Decimal(amount)]:
            yield f"{name} was to get one bonus of ${amount}, and was paid {paid}."


def _money(study: Study) -> Iterator[str]:
    paid = Call.objects.filter(
        operation__in=PAYING, state=Call.State.DONE, assignment__hit__questionnaire__batch=study.batch
    )
    ours = sum(paid.values_list("amount", flat=True), Decimal("0.00"))
    if (theirs := study.lab.crowd.control.charged() - study.charged_before) != ours:
        yield f"Our ledger says that ${ours} was charged, the marketplace's ${theirs}."


def _open_calls(study: Study) -> Iterator[str]:
    for call in study.open_calls():
        yield f"{call} {call.error}".strip()
