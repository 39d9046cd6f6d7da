"""A batch becomes questionnaires, with its definition frozen."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.utils import timezone

from annotators.failpoints import reach
from surveys import audit
from surveys.models import Batch, Item, Questionnaire, QuestionnaireItem
from surveys.publishing import budget, quota
from surveys.publishing.preconditions import problems
from surveys.publishing.pricing import quote


class CannotPublish(Exception):
    """The batch can't be published; the message says why."""


def start_publishing(batch: Batch, *, by: AbstractBaseUser | AnonymousUser | None = None) -> bool:
    """Freeze the definition and write the questionnaires. False if that happened before.

    Raises CannotPublish with all problems. Nothing is sent to the marketplace yet.
    """
    if batch.status != Batch.Status.DRAFT:
        return False
    if found := problems(batch):
        raise CannotPublish(" ".join(found))
    try:
        with budget.spending(batch):
            is_first = _write(batch, by=by)
    except budget.OverBudget as error:
        raise CannotPublish(str(error)) from error
    batch.refresh_from_db()
    return is_first


def _write(batch: Batch, *, by: AbstractBaseUser | AnonymousUser | None) -> bool:
    draft = Batch.objects.filter(pk=batch.pk, status=Batch.Status.DRAFT)
    snapshot = batch.survey.definition.to_snapshot()
    if not draft.update(status=Batch.Status.PUBLISHING, snapshot=snapshot, published_at=timezone.now()):
        return False
    _write_questionnaires(batch)
    if quota.has_slots(batch):
        quota.write_slots(batch)
    audit.record(audit.Kind.PUBLISHING, "publish", batch=batch, by=by, details=_terms(batch))
    reach("publish.writing")
    return True


def _terms(batch: Batch) -> dict[str, str | None]:
    """What the audit trail keeps of the money, in dollars."""
    limit = None if batch.budget is None else f"{batch.budget:.2f}"
    return {"total": f"{quote(batch).total:.2f}", "budget": limit}


def _groups(batch: Batch) -> Iterator[Sequence[Item]]:
    """Yield the items of each HIT.

    They keep the order of import, so that the rows of a batch CSV stay together; but what different systems said
    about one subject is spread out: everybody's first item of a subject comes before anybody's second.
    """
    items = _spread(batch.survey.items.order_by("position"))
    for start in range(0, len(items), batch.items_per_hit):
        yield items[start : start + batch.items_per_hit]


def _spread(items: Iterable[Item]) -> list[Item]:
    seen: Counter[str] = Counter()
    rounds = []
    for item in items:
        rounds.append((seen[item.subject], item))
        seen[item.subject] += 1
    return [item for _, item in sorted(rounds, key=lambda pair: pair[0])]


def _write_questionnaires(batch: Batch) -> None:
    groups = list(_groups(batch))
    questionnaires = Questionnaire.objects.bulk_create(
        Questionnaire(batch=batch, position=position, target_assignments=batch.assignments_per_hit)
        for position, _ in enumerate(groups, 1)
    )
    QuestionnaireItem.objects.bulk_create(
        QuestionnaireItem(questionnaire=questionnaire, item=item, position=position)
        for questionnaire, group in zip(questionnaires, groups, strict=True)
        for position, item in enumerate(group, 1)
    )
