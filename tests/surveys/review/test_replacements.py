"""Each rejection buys one assignment: on the HIT up to nine, then on a sibling."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotators.crowds.mturk.gateway import Gateway
from annotators.crowds.mturk.mirror import fetch
from annotators.models import HIT, Assignment, Call
from annotators.outbox import market
from marketplace import models as marketplace
from surveys.answering.arrival import CannotServe
from surveys.models import Decision, Inclusion, Questionnaire, Replacement
from surveys.publishing import stopping
from surveys.review import decisions, delivery, due_work, replacements
from tests.factories import (
    make_assignment,
    make_hit,
    make_published,
    make_questionnaire,
)
from tests.link_people import make_batch, make_person, skipped, take
from tests.market_site import Site
from tests.market_study import (
    again,
    max_assignments,
    open_study,
    publish,
    rejected_on,
    statuses,
    sync_study,
    work,
)

pytestmark = pytest.mark.django_db


def test_a_hit_grows_to_nine_then_a_sibling_takes_over(site: Site) -> None:
    questionnaire = open_study(site)
    for _ in range(9):
        work(site, questionnaire, n_correct=0)
        sync_study(site, questionnaire)
    assert (max_assignments(questionnaire), statuses(questionnaire)) == (9, ["Rejected"] * 9)
    assert Replacement.objects.filter(opened_by="extend", opened_at__isnull=False).count() == 4
    assert Replacement.objects.filter(opened_by="create", opened_at=None).count() == 5
    siblings = list(Questionnaire.objects.filter(sibling_of=questionnaire).order_by("position"))
    assert [(s.position, s.target_assignments) for s in siblings] == [(n, 1) for n in range(2, 7)]
    shown = [slot.item_id for slot in questionnaire.slots.all()]
    assert [[slot.item_id for slot in s.slots.all()] for s in siblings] == [shown] * 5
    assert due_work.finish(questionnaire.batch) is False  # the siblings have no HITs yet
    for sibling in siblings:
        publish(sibling, site)
    sync_study(site, questionnaire)
    assert Replacement.objects.filter(opened_at=None).count() == 0
    for sibling in siblings:
        work(site, again(sibling))
        sync_study(site, sibling)
    assert statuses(again(siblings[0])) == ["Approved"]
    assert due_work.finish(questionnaire.batch) is True
    assert (site.spent(), site.held()) == (5 * 46, 0)


def test_a_siblings_rejections_grow_the_sibling(site: Site) -> None:
    questionnaire = open_study(site, assignments_per_hit=9)
    for _ in range(9):
        work(site, questionnaire, n_correct=5 if Assignment.objects.exists() else 0)
    sync_study(site, questionnaire)
    sibling = Questionnaire.objects.get(sibling_of=questionnaire)
    publish(sibling, site)
    sync_study(site, questionnaire)
    work(site, again(sibling), n_correct=1)
    sync_study(site, sibling)
    assert (max_assignments(sibling), Questionnaire.objects.count()) == (2, 2)
    replacement = Replacement.objects.get(replaces__hit__questionnaire=sibling)
    assert (replacement.questionnaire, replacement.opened_by) == (sibling, "extend")
    assert replacement.opened_at is not None


def test_who_saw_the_items_is_kept_from_the_sibling(site: Site) -> None:
    questionnaire = open_study(site, assignments_per_hit=9)
    worker = site.worker()
    work(site, questionnaire, n_correct=0, worker=worker)
    for _ in range(8):
        work(site, questionnaire)
    sync_study(site, questionnaire)
    sibling = Questionnaire.objects.get(sibling_of=questionnaire)
    publish(sibling, site)
    with pytest.raises(CannotServe) as caught:
        work(site, again(sibling), worker=worker)
    assert caught.value.kind == "seen_before"


def test_hits_created_with_ten_or_more_grow_freely(site: Site) -> None:
    questionnaire = open_study(site, assignments_per_hit=10)
    for _ in range(2):
        work(site, questionnaire, n_correct=0)
    sync_study(site, questionnaire)
    assert (max_assignments(questionnaire), Questionnaire.objects.count()) == (12, 1)


def test_an_extension_that_is_refused_becomes_a_sibling(site: Site) -> None:
    """The HIT is gone from the marketplace, so it can't grow although it has room."""
    questionnaire = open_study(site, assignments_per_hit=1)
    work(site, questionnaire, n_correct=0)
    fetched = fetch(questionnaire.hit, gateway=site.gateway)  # type: ignore[arg-type]
    decisions.record_decision(fetched[0], batch=questionnaire.batch)
    delivery.carry_out(fetched[0], gateway=site.gateway)
    marketplace.HIT.objects.update(disposed_at=timezone.now())
    for _ in range(2):
        replacement = replacements.replace(fetched[0], questionnaire=questionnaire, gateway=site.gateway)
        assert (replacement.opened_by, replacement.opened_at) == ("create", None)
    sibling = Questionnaire.objects.get(sibling_of=questionnaire)
    assert replacement.questionnaire == sibling
    publish(sibling, site)
    opened = replacements.replace(fetched[0], questionnaire=questionnaire, gateway=site.gateway)
    assert opened.opened_at is not None
    assert site.wire.calls["CreateAdditionalAssignmentsForHIT"] == 1


def test_a_replacement_made_by_many_at_once_is_one(site: Site, in_parallel: Callable[..., list[Any]]) -> None:
    questionnaire = open_study(site)
    (rejected,) = rejected_on(site, questionnaire)

    def replace() -> Replacement:
        return replacements.replace(rejected, questionnaire=again(questionnaire), gateway=Gateway("embedded"))

    results = in_parallel(*[replace] * 4)
    assert {type(result) for result in results} == {Replacement}
    assert {result.pk for result in results} == {Replacement.objects.get().pk}
    assert site.hit(questionnaire.hit).max_assignments == 6  # type: ignore[arg-type]
    assert site.wire.calls["CreateAdditionalAssignmentsForHIT"] == 1


@pytest.mark.parametrize("n_replacing", [1, 3])
def test_overturned_and_replaced_at_once_it_is_used_or_replaced(
    site: Site, person: User, in_parallel: Callable[..., list[Any]], n_replacing: int
) -> None:
    questionnaire = open_study(site)
    (rejected,) = rejected_on(site, questionnaire)

    def replace() -> Replacement | None:
        return replacements.replace(rejected, questionnaire=again(questionnaire), gateway=Gateway("embedded"))

    def overturn() -> Decision:
        return decisions.overturn(rejected, by=person, reason="We were wrong.")

    results = in_parallel(overturn, *[replace] * n_replacing)
    assert {type(result) for result in results} <= {Decision, Replacement, type(None)}
    n_replaced, n_left_out = Replacement.objects.count(), Inclusion.objects.filter(is_included=False).count()
    assert (n_replaced, n_left_out) in [(0, 0), (1, 1)]
    assert max_assignments(questionnaire) == 5 + n_replaced


def test_siblings_made_at_once_get_places_of_their_own(
    site: Site, in_parallel: Callable[..., list[Any]]
) -> None:
    questionnaire = open_study(site, assignments_per_hit=9)
    batch = questionnaire.batch
    other = make_questionnaire(
        batch, items=[], hit=make_hit(max_assignments=9, hit_type=batch.hit_type), target_assignments=9
    )
    rejected = [
        (q, make_assignment(q.hit, status="Rejected"))
        for q in (questionnaire, other)
        for _ in range(2)
        if q.hit
    ]

    def replace(q: Questionnaire, assignment: Assignment) -> Replacement:
        return replacements.replace(assignment, questionnaire=again(q), gateway=Gateway("embedded"))

    results = in_parallel(*[lambda q=q, a=a: replace(q, a) for q, a in rejected])
    assert {type(result) for result in results} == {Replacement}
    positions = batch.questionnaires.exclude(sibling_of=None).values_list("position", flat=True)
    assert sorted(positions) == [3, 4, 5, 6]


def test_a_lost_extension_is_settled_not_doubled(site: Site) -> None:
    questionnaire = open_study(site)
    (rejected,) = rejected_on(site, questionnaire)
    site.wire.lose.add("CreateAdditionalAssignmentsForHIT")
    for _ in range(2):
        replacement = replacements.replace(rejected, questionnaire=questionnaire, gateway=site.gateway)
    Call.objects.filter(operation="CreateAdditionalAssignmentsForHIT").update(
        state="sent", finished_at=None, sent_at=timezone.now() - timedelta(hours=1)
    )
    Replacement.objects.update(opened_at=None)
    site.wire.heal()
    replacement = replacements.replace(rejected, questionnaire=questionnaire, gateway=site.gateway)
    assert replacement.opened_at is not None
    assert max_assignments(questionnaire) == 6


def test_extending_an_expired_hit_opens_it_again(site: Site) -> None:
    questionnaire = open_study(site)
    (rejected,) = rejected_on(site, questionnaire)
    market.move_expiration(questionnaire.hit, when=timezone.now(), gateway=site.gateway)  # type: ignore[arg-type]
    site.wire.block.add("UpdateExpirationForHIT")
    replacement = replacements.replace(rejected, questionnaire=questionnaire, gateway=site.gateway)
    assert replacement.opened_at is None  # it has room, but nobody can come
    site.wire.heal()
    Call.objects.filter(operation="UpdateExpirationForHIT", state="sent").update(token="a second ago")
    replacement = replacements.replace(rejected, questionnaire=questionnaire, gateway=site.gateway)
    assert replacement.opened_at is not None
    assert site.hit(questionnaire.hit).expires_at > timezone.now() + timedelta(hours=23)  # type: ignore[arg-type]
    work(site, again(questionnaire))
    assert site.hit(questionnaire.hit).max_assignments == 6  # type: ignore[arg-type]


def test_what_was_created_for_it_and_has_expired_is_opened_again(site: Site) -> None:
    questionnaire = open_study(site)
    (rejected,) = rejected_on(site, questionnaire)
    Replacement.objects.create(replaces=rejected, questionnaire=questionnaire, opened_by="create")
    market.move_expiration(questionnaire.hit, when=timezone.now(), gateway=site.gateway)  # type: ignore[arg-type]
    replacement = replacements.replace(rejected, questionnaire=questionnaire, gateway=site.gateway)
    assert replacement.opened_at is not None
    assert site.hit(questionnaire.hit).expires_at > timezone.now() + timedelta(hours=23)  # type: ignore[arg-type]


def test_a_stopped_batch_replaces_none(site: Site) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire, n_correct=0)
    stopping.stop(questionnaire.batch)
    sync_study(site, questionnaire)
    assert (statuses(questionnaire), Replacement.objects.count()) == (["Rejected"], 0)
    assert max_assignments(questionnaire) == 5


def test_what_came_by_link_is_not_replaced_on_the_marketplace() -> None:
    """Its place is wanted again by the quota, and whoever comes by link gets it."""
    batch = make_batch(n_items=2)
    by_link = [skipped(take(batch, make_person())) for _ in range(2)]
    assert list(replacements.unreplaced()) == []
    Assignment.objects.filter(pk=by_link[0].pk).update(channel="marketplace")
    assert list(replacements.unreplaced()) == by_link[:1]


def test_a_hit_that_is_gone_takes_no_replacement() -> None:
    """Its sibling's rejection would wait for it for ever."""
    root = make_published()
    sibling = make_questionnaire(
        root.batch, items=[], hit=make_hit(max_assignments=9), target_assignments=9, sibling_of=root
    )
    rejected = make_assignment(sibling.hit, status="Rejected")
    HIT.objects.filter(pk=root.hit.pk).update(gone_at=timezone.now())
    replacement = replacements.replace(rejected, questionnaire=sibling, gateway=Gateway("embedded"))
    assert replacement is not None
    assert (replacement.opened_by, replacement.questionnaire.sibling_of) == ("create", root)
    assert replacement.questionnaire.hit is None
