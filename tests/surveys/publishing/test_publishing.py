import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotators.models import HIT, Assignment, Call
from marketplace import models as marketplace
from surveys.models import AuditEntry, Batch, Decision, Picture, Questionnaire, Replacement
from surveys.protocols import registry
from surveys.publishing import hits, preconditions, pricing, questionnaires, stopping
from surveys.publishing.questionnaires import CannotPublish
from tests.factories import (
    make_assignment,
    make_batch,
    make_draft,
    make_hit,
    make_item,
    make_questionnaire,
    make_survey,
)
from tests.market_site import Site
from tests.policy_data import NEVER, THREE_OF_FIVE, at_least
from tests.surveys.pages.hit_pages import open_page

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"auto_approval_delay": timedelta(seconds=119)},
            "The auto-approval delay leaves no time to review: it must be at least two sync intervals.",
        ),
        (
            {"review_policy": at_least(3, 4)},
            "The rule 'minimum_correct': it counts 4 answers, but a HIT has 5.",
        ),
        ({"review_policy": {}}, "A review policy is made of 'rules', a list, and 'reject_at'."),
        (
            {"review_policy": {"rules": [{"kind": "minimum_correct"}], "reject_at": 2}},
            "The rule 'minimum_correct': it needs 'minimum'.",
        ),
        (
            {"endpoint": "sandbox"},
            "MTurk shows HITs from https addresses only; ASSENT_APP_URL is not one.",
        ),
    ],
)
def test_a_problem_is_one_sentence(settings: Any, changes: dict[str, Any], sentence: str) -> None:
    settings.SYNC_EVERY_SECONDS = 60
    settings.APP_URL = "http://127.0.0.1:8000"
    assert preconditions.problems(make_draft(make_survey(n_items=5), **changes)) == [sentence]


def test_a_page_asks_for_no_more_than_its_server_takes(settings: Any) -> None:
    """What a browser sends of a page on which everything is ticked, and whether that was foreseen."""
    batch = make_batch(make_survey(n_items=3), items_per_hit=3)
    items = list(batch.survey.items.all())
    questionnaire = make_questionnaire(batch, items=items, hit=make_hit())
    page = open_page(Client(), questionnaire).content.decode()
    controls = re.findall(r'<(?:input|textarea)[^>]*? name="[^"]+"[^>]*', page)
    radios = {one.split('name="')[1].split('"')[0] for one in controls if 'type="radio"' in one}
    n_sent = len(radios) + sum('type="radio"' not in one for one in controls)
    draft = make_draft(batch.survey, items_per_hit=3, review_policy=NEVER)
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 52
    assert n_sent <= 52
    assert preconditions.problems(draft) == []
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 51
    assert preconditions.problems(draft) == [
        "A HIT would ask for up to 52 answers; 51 are the most. Show fewer items in each."
    ]


def test_a_batch_without_problems(settings: Any) -> None:
    settings.APP_URL = "https://lab.example"
    survey = make_survey(n_items=5)
    assert preconditions.problems(make_draft(survey)) == []
    assert preconditions.problems(make_draft(survey, endpoint="sandbox")) == []


def test_items_without_gold_stand_in_the_way_of_a_rule_only() -> None:
    survey = make_survey(n_items=4)
    make_item(survey, position=5, gold="")
    assert preconditions.problems(make_draft(survey)) == [
        "1 items have no gold answer, which the review policy needs."
    ]
    assert preconditions.problems(make_draft(survey, review_policy=NEVER)) == []


def test_missing_pictures_stand_in_the_way_of_paying_endpoints_only(settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT, settings.APP_URL = tmp_path, "https://lab.example"
    survey = make_survey(n_items=5)
    first, second, *_ = survey.items.all()
    Picture.objects.create(item=first, position=1, name="a.jpg", file=ContentFile(b"x", name="a.jpg"))
    Picture.objects.create(item=second, position=1, name="b.jpg")
    Picture.objects.create(item=second, position=2, name="c.jpg")
    assert preconditions.problems(make_draft(survey)) == []
    assert preconditions.problems(make_draft(survey, endpoint="production")) == [
        "1 items still wait for their pictures; paid HITs need all of them."
    ]


def test_a_draft_finds_its_hits_when_its_type_was_translated_since(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = make_draft(make_survey(n_items=11))
    definition = batch.survey.definition
    now = questionnaires.keys(batch)
    monkeypatch.setitem(registry.DEFINITIONS, definition.key, replace(definition, translations=()))
    assert questionnaires.keys(batch) == now
    monkeypatch.setitem(registry.DEFINITIONS, definition.key, replace(definition, title="Another"))
    assert set(questionnaires.keys(batch)) & set(now) == set()


def test_publishing_freezes_the_definition_and_writes_questionnaires() -> None:
    batch = make_draft(make_survey(n_items=11), assignments_per_hit=4)
    assert questionnaires.start_publishing(batch) is True
    assert batch.snapshot is not None
    assert (batch.status, batch.definition) == ("publishing", batch.survey.definition)
    assert batch.published_at is not None
    shown = [
        (q.position, q.target_assignments, [slot.item.position for slot in q.slots.select_related("item")])
        for q in batch.questionnaires.all()
    ]
    assert [(position, target, len(items)) for position, target, items in shown] == [
        (1, 4, 5),
        (2, 4, 5),
        (3, 4, 1),
    ]
    assert sorted(position for *_, items in shown for position in items) == [*range(1, 12)]
    assert all(items == sorted(items) for *_, items in shown)


def test_publishing_twice_writes_one_set_of_questionnaires() -> None:
    batch = make_draft(make_survey(n_items=10))
    stale = Batch.objects.get()
    assert [questionnaires.start_publishing(b) for b in (batch, batch, stale)] == [True, False, False]
    assert Questionnaire.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_many_publish_at_once(in_parallel: Callable[..., list[Any]]) -> None:
    make_draft(make_survey(n_items=10))
    results = in_parallel(*[lambda: questionnaires.start_publishing(Batch.objects.get())] * 4)
    assert sorted(results) == [False, False, False, True]
    assert Questionnaire.objects.count() == 2


@pytest.mark.parametrize(
    ("n_items", "policy", "n_warnings"),
    [(7, THREE_OF_FIVE, 1), (7, NEVER, 0), (10, NEVER, 0)],
)
def test_items_that_do_not_fill_the_last_hit(n_items: int, policy: Any, n_warnings: int) -> None:
    draft = make_draft(make_survey(n_items=n_items), review_policy=policy)
    expected = (
        "The items don't fill the last HIT: it shows 2 of 5. "
        "The review rule can't judge it, so a person decides about each of its assignments."
    )
    assert preconditions.warnings(draft) == [expected] * n_warnings
    assert preconditions.problems(draft) == []
    draft.draws_per_item = 2
    assert [one.split(" shows")[0] for one in preconditions.warnings(draft)] == (
        ["The items don't fill one HIT of each draw: it"] * n_warnings
    )


@pytest.mark.parametrize(
    ("n_items", "again", "draws", "expected"),
    [
        (10, 0, 1, (5, 5)),
        (12, 0, 1, (2, 5)),
        (3, 0, 1, (3, 3)),
        (12, 1, 1, (3, 6)),
        (12, 2, 1, (3, 7)),
        (11, 2, 1, (1, 7)),
        (12, 0, 2, (2, 5)),
    ],
)
@pytest.mark.parametrize("seed", range(4))
def test_how_many_questions_hits_have(
    n_items: int, again: int, draws: int, expected: tuple[int, int], seed: int
) -> None:
    """Of later draws the short HIT stands anywhere."""
    terms = {"review_policy": NEVER, "repeats_per_hit": again, "draws_per_item": draws, "seed": seed}
    batch = make_draft(make_survey(n_items=n_items), **terms)
    questionnaires.start_publishing(batch)
    first = batch.questionnaires.get(position=1)
    batch.questionnaires.create(position=100, target_assignments=1, sibling_of=first)  # shows its items again
    assert questionnaires.n_questions(Batch.objects.get()) == expected


def test_a_batch_with_problems_stays_a_draft() -> None:
    batch = make_draft(make_survey(), review_policy={})
    with pytest.raises(CannotPublish) as caught:
        questionnaires.start_publishing(batch)
    assert (
        str(caught.value)
        == "The survey has no items yet. A review policy is made of 'rules', a list, and 'reject_at'."
    )
    assert (Batch.objects.get().status, Questionnaire.objects.count()) == ("draft", 0)


def published(site: Site, *, n_items: int = 10, **values: Any) -> Batch:
    batch = make_draft(make_survey(n_items=n_items), **values)
    questionnaires.start_publishing(batch)
    hits.register_hit_type(batch, gateway=site.gateway)
    return batch


def publish_all(batch: Batch, site: Site) -> list[Call]:
    waiting = Questionnaire.objects.filter(pk__in=hits.to_publish(batch)).select_related("batch__hit_type")
    return [hits.publish_questionnaire(q, gateway=site.gateway) for q in waiting.order_by("position")]


def test_each_questionnaire_becomes_one_hit(site: Site, settings: Any) -> None:
    settings.APP_URL = "http://127.0.0.1:8000"
    batch = published(site)
    assert hits.finish_publishing(batch) is False
    calls = publish_all(batch, site)
    assert [call.state for call in calls] == ["done", "done"]
    assert publish_all(batch, site) == []
    assert hits.finish_publishing(batch) is True
    assert hits.finish_publishing(batch) is False
    assert Batch.objects.get().status == "open"
    offered = {hit.hit_id: hit for hit in marketplace.HIT.objects.all()}
    for questionnaire in batch.questionnaires.select_related("hit"):
        assert questionnaire.hit is not None
        hit = offered.pop(questionnaire.hit.hit_id)
        assert f"<ExternalURL>http://127.0.0.1:8000/hits/{questionnaire.pk}/</ExternalURL>" in hit.question
        assert (hit.max_assignments, hit.annotation) == (5, f"create:{questionnaire.pk}")
        assert hit.expires_at - hit.created_at == timedelta(days=1)
    assert (offered, site.held()) == ({}, 2 * 5 * 46)


def test_a_questionnaire_published_twice_is_one_hit(site: Site) -> None:
    batch = published(site, n_items=5)
    questionnaire = Questionnaire.objects.get()
    for _ in range(2):
        hits.publish_questionnaire(questionnaire, gateway=site.gateway)
    assert (marketplace.HIT.objects.count(), HIT.objects.count(), batch.questionnaires.count()) == (1, 1, 1)


def test_a_hit_recorded_but_not_yet_linked_is_linked(site: Site) -> None:
    batch = published(site, n_items=5)
    publish_all(batch, site)
    Questionnaire.objects.update(hit=None)
    publish_all(batch, site)
    assert Questionnaire.objects.get().hit == HIT.objects.get()
    assert site.wire.calls["CreateHITWithHITType"] == 1


def test_equal_batches_share_a_hit_type(site: Site) -> None:
    assert published(site).hit_type == published(site).hit_type
    assert published(site, reward=Decimal("0.40")).hit_type != Batch.objects.last().hit_type  # type: ignore[union-attr]


def test_a_questionnaire_needs_its_hit_type(site: Site) -> None:
    questionnaires.start_publishing(make_draft(make_survey(n_items=5)))
    with pytest.raises(CannotPublish):
        hits.publish_questionnaire(Questionnaire.objects.get(), gateway=site.gateway)


def test_refused_hits_are_tried_again_when_asked(site: Site) -> None:
    batch = published(site)
    marketplace.Balance.objects.update(available_cents=230)
    assert [call.state for call in publish_all(batch, site)] == ["done", "refused"]
    batch.refresh_from_db()
    assert batch.error == Call.objects.get(state="refused").error != ""
    marketplace.Balance.objects.update(available_cents=230)
    assert [call.state for call in publish_all(batch, site)] == ["refused"]
    person = User.objects.create_user("ada")
    assert hits.retry_refused(batch, by=person) == 1
    assert hits.retry_refused(batch, by=person) == 0
    entry = AuditEntry.objects.get(outcome="retry")
    assert (entry.kind, entry.actor, entry.batch, entry.details) == (
        "publishing",
        person,
        batch,
        {"n_hits": 1},
    )
    assert Batch.objects.get().error == ""
    assert [call.state for call in publish_all(batch, site)] == ["done"]
    assert hits.finish_publishing(batch) is True


def test_stop_and_expire(site: Site) -> None:
    batch = published(site, n_items=5)
    publish_all(batch, site)
    hits.finish_publishing(batch)
    assert stopping.stop(batch) is True
    assert stopping.stop(batch) is False
    assert Batch.objects.get().status == "stopped"
    hit = HIT.objects.select_related("hit_type").get()
    accepted = site.accept(hit)
    for _ in range(2):
        stopping.expire(hit, gateway=site.gateway)
    assert site.wire.calls["UpdateExpirationForHIT"] == 1
    assert HIT.objects.get().expires_at <= timezone.now()
    assert HIT.objects.get().status == "Unassignable"
    site.submit(accepted)  # who has accepted it may still submit


@pytest.mark.parametrize("status", ["draft", "complete", "stopped"])
def test_only_a_running_batch_is_stopped(status: str) -> None:
    batch = make_batch(make_survey(), status=status)
    assert stopping.stop(batch) is False
    assert Batch.objects.get().status == status


def test_a_stopped_batch_looks_only_for_hits_that_may_exist(site: Site) -> None:
    batch = published(site)
    first, second = batch.questionnaires.all()
    site.wire.lose.add("CreateHITWithHITType")
    site.wire.block.add("GetHIT")
    hits.publish_questionnaire(first, gateway=site.gateway)
    assert hits.to_publish(batch) == [first.pk, second.pk]
    stopping.stop(batch)
    batch.refresh_from_db()
    assert hits.to_publish(batch) == [first.pk]


def test_progress_counts_in_a_constant_number_of_queries(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    survey = make_survey(n_items=10)
    batch = make_batch(survey, error="Out of funds.")
    items = list(survey.items.all())
    first = make_questionnaire(batch, items=items[:5], hit=make_hit())
    make_questionnaire(batch, items=items[5:])
    make_questionnaire(batch, items=items[:5], hit=make_hit(), sibling_of=first, target_assignments=1)
    assert first.hit is not None
    statuses = ["Accepted", "Submitted", "Submitted", "Approved", "Rejected", "Rejected"]
    assignments = [make_assignment(first.hit, status=status) for status in statuses]
    now = timezone.now()
    Decision.objects.create(assignment=assignments[1], verdict="flag", decided_at=now)
    for rejected, opened_at in ((assignments[4], now), (assignments[5], None)):
        Replacement.objects.create(
            replaces=rejected, questionnaire=first, opened_by="extend", opened_at=opened_at
        )
    with django_assert_num_queries(3):
        progress = pricing.progress(batch)
    assert progress == pricing.Progress(
        status="open",
        error="Out of funds.",
        n_questionnaires=3,
        n_published=2,
        n_wanted=10,
        n_open=1,
        n_submitted=2,
        n_approved=1,
        n_rejected=2,
        n_flagged=1,
        n_replaced=1,
    )
    assert progress.n_kept == 3
    assert Assignment.objects.count() == 6
