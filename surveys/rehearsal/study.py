"""The researcher's side of a rehearsal: import, publish, wait, count, export."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from io import StringIO
from pathlib import Path

from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotators.models import HIT, Assignment, Endpoint
from surveys import sync
from surveys.answering import invitations
from surveys.models import Batch, Survey, does_not_count, is_skipped
from surveys.protocols.definition import Definition
from surveys.protocols.rules import FLAG
from surveys.publishing import pricing, questionnaires
from surveys.results.files.layouts import batch_writers, layouts_for
from surveys.results.files.writing import write_files
from surveys.review import decisions
from surveys.studies import consent, protocols
from surveys.studies.packages import Package

REWARD = Decimal("0.38")  # OFA-X's VQA-X batch
DURATION = timedelta(hours=1)
IN = (Assignment.Status.SUBMITTED, Assignment.Status.APPROVED, Assignment.Status.REJECTED)
SKIPPED = is_skipped()
DECIDED = (Assignment.Status.APPROVED, Assignment.Status.REJECTED)


@dataclass(frozen=True, slots=True)
class Material:
    """What is studied: a survey type, its item file, its pictures, and what people are asked to agree to.

    `package` is the type where it is not built in.
    """

    definition: Definition
    items: Path
    images: str = ""
    allow_missing_images: bool = False
    package: Package | None = None
    consent: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A HIT that still wants `n` assignments, of the questionnaire at `position` (the original's, for a sibling)."""

    position: int
    hit_type_id: str
    hit_id: str
    n: int


def import_material(material: Material) -> Survey:
    """Import the items by the command people use. Raises CommandError with what it wrote."""
    said = StringIO()
    key = material.definition.key
    if material.package:
        protocols.keep(material.package, by=researcher())
    try:
        call_command(
            "import_items",
            str(material.items),
            survey=key,
            definition=key,
            images=material.images,
            accept_warnings=True,
            allow_missing_images=material.allow_missing_images,
            stdout=said,
            stderr=said,
        )
    except CommandError as error:
        raise CommandError(f"{said.getvalue()}{error}") from error
    survey = Survey.objects.get(slug=key)
    consent.write(survey, material.consent, by=researcher())
    return survey


def researcher() -> User:
    """Return whoever keeps the survey type and decides here."""
    return User.objects.get_or_create(username="rehearsal", is_staff=True)[0]


def draft_batch(survey: Survey, *, seed: int, by_link: bool = False) -> Batch:
    """Write the batch with the terms of OFA-X's study; by link nobody is paid here."""
    definition = survey.definition
    return Batch.objects.create(
        endpoint=Endpoint.LINK if by_link else Endpoint.EMBEDDED,
        survey=survey,
        name=f"Rehearsal {seed} of {definition.name}",
        title=definition.title,
        description=definition.instructions.summary,
        items_per_hit=definition.items_per_hit,
        reward=Decimal(0) if by_link else REWARD,
        assignment_duration=DURATION,
        auto_approval_delay=timedelta(days=3),
        review_policy=definition.review_policy,
        rejects_automatically=True,
        uses_quiz=bool(definition.quiz),
        seed=seed,
    )


def publish(batch: Batch) -> None:
    """Freeze the batch and hand it to Celery."""
    questionnaires.start_publishing(batch)
    sync.publish_batch.delay(batch.pk)


def invite(batch: Batch, *, names: list[str]) -> dict[str, str]:
    """Invite people by personal link. Returns {name: address}."""
    people = [invitations.Person(name) for name in names]
    expires_at = timezone.now() + timedelta(days=1)
    invited = invitations.invite(batch, people=people, expires_at=expires_at, by=None)
    return {one.invitation.name: one.address for one in invited}


def hit_ids(batch: Batch) -> list[str]:
    return list(HIT.objects.filter(questionnaire__batch=batch).values_list("hit_id", flat=True))


def ask_for_sync(hit_ids: Iterable[str]) -> None:
    """Ask for the sync of these HITs that beat would bring later."""
    for pk in HIT.objects.filter(hit_id__in=hit_ids).order_by("pk").values_list("pk", flat=True):
        sync.sync_hit.delay(pk)


def approve_flagged(batch: Batch) -> None:
    """Do what a researcher does with work the rule leaves to a person: pay for it.

    The rule can't judge the last HIT where the items don't fill it.
    """
    flagged = assignments(batch).filter(status=Assignment.Status.SUBMITTED, decision__verdict=FLAG)
    for assignment in flagged:
        decisions.approve(assignment, by=researcher())
        sync.sync_hit.delay(assignment.hit_id)


def n_published(batch: Batch) -> int:
    return batch.questionnaires.filter(hit__isnull=False).count()


def n_settled(batch: Batch) -> int:
    """Count the assignments that are decided on both sides and, if they don't count, wanted again."""
    is_replaced = Q(replacement__opened_at__isnull=False) | Q(annotation_slot__reopened_as__isnull=False)
    counts = Q(status=Assignment.Status.APPROVED) & ~does_not_count()
    return assignments(batch).filter(counts | is_replaced, status__in=DECIDED).count()


def assignments(batch: Batch) -> QuerySet[Assignment]:
    return Assignment.objects.filter(hit__questionnaire__batch=batch)


def places(batch: Batch) -> list[Place]:
    """Return the HITs that still want assignments, in the order of the questionnaires."""
    of_batch = HIT.objects.filter(questionnaire__batch=batch).annotate(
        n_in=Count("assignments", filter=Q(assignments__status__in=IN)),
        position=Coalesce("questionnaire__sibling_of__position", "questionnaire__position"),
    )
    wanting = of_batch.filter(n_in__lt=F("max_assignments")).select_related("hit_type")
    return [
        Place(hit.position, hit.hit_type.hit_type_id, hit.hit_id, hit.max_assignments - hit.n_in)
        for hit in wanting.order_by("position", "questionnaire__position")
    ]


def waiting(batch: Batch) -> str:
    """Say in one line what a batch is waiting for."""
    batch.refresh_from_db()
    state = pricing.progress(batch)
    return (
        f"batch {state.status}; HITs published {state.n_published} of {state.n_questionnaires}; "
        f"assignments open {state.n_open}, submitted {state.n_submitted}, approved {state.n_approved} of "
        f"{state.n_wanted}, rejected {state.n_rejected}, replaced {state.n_replaced}, "
        f"left to a person {state.n_flagged}{'; ' + state.error if state.error else ''}."
    )


def write_results(batch: Batch, *, folder: Path) -> list[Path]:
    """Write every layout the survey type has."""
    return write_files(folder, writers=batch_writers(batch, names=list(layouts_for(batch))))
