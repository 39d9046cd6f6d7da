"""A one-HIT study on the marketplace, and workers who do it, step by step."""

from typing import Any

from annotators.crowds.mturk.mirror import fetch
from annotators.models import Assignment, Call
from surveys.answering.collection import task_answers
from surveys.models import Questionnaire
from surveys.publishing import hits, questionnaires
from surveys.review import decisions, delivery, due_work, replacements
from tests.factories import (
    answer,
    make_draft,
    make_survey,
    open_for,
)
from tests.market_site import Site

REASON = "You answered 2 of 5 questions correctly; at least 3 are needed."


def open_study(site: Site, **values: Any) -> Questionnaire:
    """A published batch of one HIT."""
    batch = make_draft(make_survey(n_items=5), **values)
    questionnaires.start_publishing(batch)
    hits.register_hit_type(batch, gateway=site.gateway)
    publish(Questionnaire.objects.get(batch=batch), site)
    hits.finish_publishing(batch)
    return again(Questionnaire.objects.get(batch=batch))


def publish(questionnaire: Questionnaire, site: Site) -> Call:
    return hits.publish_questionnaire(again(questionnaire), gateway=site.gateway)


def again(questionnaire: Questionnaire) -> Questionnaire:
    related = ("batch__hit_type", "hit__hit_type", "sibling_of")
    return Questionnaire.objects.select_related(*related).get(pk=questionnaire.pk)


def work(site: Site, questionnaire: Questionnaire, *, n_correct: int = 5, worker: Any = None) -> Assignment:
    """A worker accepts, answers in our frame, and submits to the marketplace."""
    assert questionnaire.hit is not None
    accepted = site.accept(questionnaire.hit, worker=worker)
    opened = open_for(questionnaire, worker=accepted.worker.worker_id, assignment=accepted.assignment_id)
    answer(opened, n_correct=n_correct)
    site.submit(accepted, taskAnswers=task_answers(opened), nonce=str(opened.nonce))
    return opened


def sync_study(site: Site, questionnaire: Questionnaire) -> None:
    """What the task does, without publishing siblings."""
    questionnaire = again(questionnaire)
    hit = questionnaire.hit
    assert hit is not None
    for assignment in fetch(hit, gateway=site.gateway):
        decisions.record_decision(assignment, batch=questionnaire.batch)
    for assignment in due_work.to_carry_out(hit):
        delivery.carry_out(assignment, gateway=site.gateway)
    for assignment in replacements.to_replace(hit):
        replacements.replace(assignment, questionnaire=questionnaire, gateway=site.gateway)


def reason_told(feedback: str) -> str:
    """The reason a rejected worker reads, without how to appeal."""
    return feedback.partition(" If you think this is wrong")[0]


def statuses(questionnaire: Questionnaire) -> list[str]:
    return sorted(Assignment.objects.filter(hit=questionnaire.hit).values_list("status", flat=True))


def max_assignments(questionnaire: Questionnaire) -> int:
    hit = again(questionnaire).hit
    assert hit is not None
    return hit.max_assignments


def rejected_on(site: Site, questionnaire: Questionnaire, *, n: int = 1) -> list[Assignment]:
    """Rejected assignments whose replacement is still to be planned."""
    for _ in range(n):
        work(site, questionnaire, n_correct=0)
    assert questionnaire.hit is not None
    fetched = fetch(questionnaire.hit, gateway=site.gateway)
    for assignment in fetched:
        decisions.record_decision(assignment, batch=questionnaire.batch)
        delivery.carry_out(assignment, gateway=site.gateway)
    assert [a.status for a in fetched] == ["Rejected"] * n
    return fetched
