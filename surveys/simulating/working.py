"""Simulated people fill a batch that is marked as theirs, by the same steps as people who come by link, without pages.

A place is taken, the orders are drawn, answers are checked, written once and handed in by the functions that the pages
call; what is said then follows from the batch's seed.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotators.models import Assignment, Channel, Worker
from surveys.answering import quizzes
from surveys.answering.allocation import NothingLeft, settle, take
from surveys.answering.answer_copy import ItemAnswer, check
from surveys.answering.collection import save_answers, save_draft
from surveys.answering.invitations import Person as Invited
from surveys.answering.invitations import invite
from surveys.answering.presentation import opened_responses, shown_item
from surveys.models import Appeal, Batch, Invitation, Response, Simulation
from surveys.protocols.definition import QuizQuestion
from surveys.review import appeal_codes
from surveys.simulating import people
from surveys.simulating.people import Kind, Person
from surveys.simulating.seeing import answer_of, view_of
from surveys.simulating.views import ItemView

NAME = "Simulated person {n}"
LINK_DAYS = 3650
REST = 0.15  # the share of its time in which somebody does something else
# What outputs are mostly worth, from 0 to 1: somewhere in this range those of a system, those of the reference more.
MERITS, REFERENCE_MERIT = (0.1, 0.8), 0.95
REFERENCE = "ground_truth"  # what e-ViL's three types compare with
APPEAL = (
    "I looked at every picture twice and answered what I saw. Please look at my answers again. "
    "(Written by a simulated person.)"
)
COMMENT = f"{people.COMMENT} (Written by a simulated person.)"


class Standing(Enum):
    """How a simulation stands when its turn is over."""

    GOES_ON = "goes on"
    WAITS = "waits"  # for what was handed in to be decided
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Known:
    """The right answer of one item, and what the item is called."""

    gold: str
    key: str

    def right_answer(self, item: ItemView) -> str:
        return self.gold

    def whole_key(self, item: ItemView) -> str:
        return self.key


def go_on(simulation: Simulation, *, seconds: float, handed_in: Callable[[int], None]) -> Standing:
    """Let people work for about so long; `handed_in` is called with each HIT that somebody has handed in.

    Ended is written down once there is nothing for anybody.
    """
    began = time.monotonic()
    for hit_pk in _work(simulation):
        handed_in(hit_pk)
        if time.monotonic() - began > seconds:
            return Standing.GOES_ON
    if _undecided(simulation.batch).exists():
        Simulation.objects.filter(pk=simulation.pk).update(leased_until=None)
        return Standing.WAITS
    as_asked = Simulation.objects.filter(pk=simulation.pk, n_people=simulation.n_people)
    as_asked.update(ended_at=timezone.now(), leased_until=None)
    return Standing.ENDED


def _work(simulation: Simulation) -> Iterator[int]:
    """Yield the HIT of each assignment that is handed in, in rounds, until a round gives nothing to anybody."""
    batch, workers = simulation.batch, _workers(simulation)
    is_any = True
    while is_any:
        is_any = False
        for person in _least_busy_first(batch, workers):
            if assignment := _taken(batch, worker=workers[person.worker_id]):
                is_any = True
                if _do(assignment, person=person, batch=batch):
                    yield assignment.hit_id


def _workers(simulation: Simulation) -> dict[str, Worker]:
    """Return {name: worker} of the people of a simulation, invited where they are not yet."""
    batch, names = simulation.batch, [NAME.format(n=n) for n in range(1, simulation.n_people + 1)]
    there = set(batch.invitations.values_list("name", flat=True))
    new = [Invited(name) for name in names if name not in there]
    until = timezone.now() + timedelta(days=LINK_DAYS)
    invite(batch, people=new, expires_at=until, by=simulation.asked_by)
    rows = Invitation.objects.filter(batch=batch, name__in=names).select_related("worker")
    found = {row.name: row.worker for row in rows}
    return {name: found[name] for name in names}


def _least_busy_first(batch: Batch, workers: dict[str, Worker]) -> list[Person]:
    of_batch = Assignment.objects.filter(annotation_slot__batch=batch)
    n_given: Counter[object] = Counter(of_batch.values_list("worker", flat=True))
    cast = people.cast([(name, "") for name in workers], seed=batch.seed)
    return sorted(cast, key=lambda person: n_given[workers[person.worker_id].pk])


def _taken(batch: Batch, *, worker: Worker) -> Assignment | None:
    try:
        return take(batch, worker=worker, channel=Channel.LINK)
    except NothingLeft:
        return None


def _do(assignment: Assignment, *, person: Person, batch: Batch) -> bool:
    """Answer an assignment and hand it in. False if the person leaves for now; they come back to what they began."""
    _take_quiz(assignment, person=person, batch=batch)
    responses = opened_responses(assignment, batch=batch)
    if person.kind == Kind.ABANDONER and not any(response.draft_version for response in responses):
        return not save_draft(assignment, position=1, data={}, version=1, active_seconds=1.0)
    answers = [_answer(response, person=person, batch=batch) for response in responses]
    comment = COMMENT if person.kind == Kind.CARELESS else ""
    with transaction.atomic():
        save_answers(assignment, answers=answers, comment=comment)
        _begin_earlier(assignment, seconds=sum(answer.active_seconds for answer in answers))
        settle(assignment)
    return True


def _begin_earlier(assignment: Assignment, *, seconds: float) -> None:
    """Nobody waits for simulated people: they have begun as long ago as they say that they took."""
    began = timezone.now() - timedelta(seconds=seconds * (1 + REST))
    Assignment.objects.filter(pk=assignment.pk).update(accepted_at=began)


def _answer(response: Response, *, person: Person, batch: Batch) -> ItemAnswer:
    """Return a complete answer, or the reason why the item is skipped. Raises IncompleteAnswers if it is neither."""
    definition, seed = batch.definition, batch.seed
    shown = shown_item(response)
    view = view_of(shown, definition)
    seconds = people.seconds_for(view, person=person, seed=seed)
    if reason := people.skips(view, person=person, seed=seed):
        return ItemAnswer(response.position, skip_reason=reason, active_seconds=seconds)
    given = people.answers_for(
        view,
        person=person,
        knowledge=Known(response.item.gold, response.item.external_id),
        seed=seed,
        merits=_merits(response, seed=seed),
    )
    answer = answer_of(shown, given, definition=definition, seconds=seconds)
    check(answer, response.item, definition, codes=[output.code for output in shown.outputs])
    return answer


def _merits(response: Response, *, seed: int) -> Mapping[str, float]:
    """Return what the outputs of an item are mostly worth: the reference much, each system as the seed draws it."""
    return {output.text: _merit(output.system, seed=seed) for output in response.item.outputs.all()}


def _merit(system: str, *, seed: int) -> float:
    if system == REFERENCE:
        return REFERENCE_MERIT
    return random.Random(f"{seed}:system:{system}").uniform(*MERITS)  # noqa: S311 (a simulation, not a secret)


def _take_quiz(assignment: Assignment, *, person: Person, batch: Batch) -> None:
    """Answer the quiz as well as one knows things, until it lets one through."""
    worker = assignment.worker
    for number in range(1, quizzes.TRIES + 1):
        if not quizzes.is_due(batch, worker=worker):
            return
        chance = random.Random(f"{batch.seed}:{person.worker_id}:quiz:{number}")  # noqa: S311
        answers = [_quiz_answer(question, person, chance) for question in batch.definition.quiz]
        quizzes.mark(batch, worker=worker, number=number, answers=answers)


def _quiz_answer(question: QuizQuestion, person: Person, chance: random.Random) -> str:
    if chance.random() < person.competence:
        return question.answer
    return chance.choice([choice.value for choice in question.choices])


def _undecided(batch: Batch) -> QuerySet[Assignment]:
    handed_in = Assignment.objects.filter(status=Assignment.Status.SUBMITTED, decision=None)
    return handed_in.filter(hit__questionnaire__batch=batch)


def appeal(batch: Batch) -> None:
    """Where the work goes on, the first who was turned away says that this was wrong."""
    rejected = Appeal.objects.filter(
        assignment__hit__questionnaire__batch=batch, assignment__status=Assignment.Status.REJECTED
    )
    if Batch.objects.filter(pk=batch.pk, status=Batch.Status.OPEN).exists() and (appeal := rejected.first()):
        appeal_codes.make(appeal, text=APPEAL)
