"""The batch page: a draft with its price, publishing it, and who may do what."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client

from surveys.models import Batch, Publishing, Questionnaire
from surveys.protocols.definition import Definition
from tests.factories import (
    make_batch,
    make_draft,
    make_published,
    make_survey,
)
from tests.people import client_of
from tests.surveys.pages.pages import enqueued, text_of, url

pytestmark = pytest.mark.django_db


@pytest.fixture
def paying(settings) -> None:
    settings.APP_URL = "https://assent.example"


def test_a_draft_shows_what_it_costs(researcher):
    draft = make_draft(make_survey(n_items=10), reward=Decimal("1.00"), assignments_per_hit=5)
    text = text_of(researcher.get(url("batch", draft)))
    assert "Rewards of $1.00 10 items, 2 HITs 10 $10.00" in text
    assert "Fee of 20 % of this server’s marketplace, as MTurk’s was 10 $2.00" in text
    assert "Together $12.00" in text
    assert (
        "Held for replacements if one assignment in ten is rejected; rejected work is not paid 1 $1.20"
        in text
    )


def test_ten_assignments_cost_the_higher_fee(researcher):
    draft = make_draft(make_survey(n_items=5), reward=Decimal("1.00"), assignments_per_hit=10)
    text = text_of(researcher.get(url("batch", draft)))
    assert (
        "Fee of 40 % of this server’s marketplace, as MTurk’s was 20 % more from 10 assignments a HIT on 10 $4.00"
        in text
    )


@pytest.mark.parametrize(("reward", "is_warned"), [("0.96", True), ("0.97", False)])
def test_a_wage_under_the_floor_is_said(researcher, reward, is_warned):
    draft = make_draft(make_survey(n_items=5), reward=Decimal(reward), assumed_minutes=Decimal(8))
    text = text_of(researcher.get(url("batch", draft)))
    assert ("That is less than $7.25 an hour." in text) is is_warned


def test_the_floor_can_be_set(researcher, settings):
    settings.WAGE_FLOOR = Decimal("15.00")
    draft = make_draft(make_survey(n_items=5), reward=Decimal("1.99"), assumed_minutes=Decimal(8))
    assert "That is less than $15.00 an hour." in text_of(researcher.get(url("batch", draft)))


def test_publishing_freezes_the_batch_and_enqueues_it(researcher, django_capture_on_commit_callbacks):
    draft = make_draft(make_survey(n_items=10))
    with django_capture_on_commit_callbacks() as callbacks:
        response = researcher.post(url("batch_publish", draft))
    draft.refresh_from_db()
    assert response.url == draft.get_absolute_url()
    assert draft.status == Batch.Status.PUBLISHING
    assert Definition.from_snapshot(draft.snapshot) == draft.survey.definition
    assert draft.questionnaires.count() == 0  # the worker's
    assert enqueued(callbacks) == [("surveys.sync.publish_batch", (draft.pk,))]


def test_a_double_click_publishes_once(researcher, django_capture_on_commit_callbacks):
    draft = make_draft(make_survey(n_items=10))
    with django_capture_on_commit_callbacks() as callbacks:
        first = researcher.post(url("batch_publish", draft), follow=True)
        second = researcher.post(url("batch_publish", draft), follow=True)
    assert "Publishing has started." in text_of(first)
    assert "This batch is published already." in text_of(second)
    assert Publishing.objects.filter(batch=draft, n_hits=2).count() == 1
    assert len(callbacks) == 1


def test_a_warning_does_not_keep_a_draft_from_being_published(researcher):
    text = text_of(researcher.get(make_draft(make_survey(n_items=6)).get_absolute_url()))
    assert "Mind: The items don&#x27;t fill the last HIT: it shows 1 of 5." in text
    assert "Publish 2 HITs" in text


def test_what_has_problems_is_not_published(researcher):
    draft = make_draft(make_survey(n_items=0))
    page = text_of(researcher.get(url("batch", draft)))
    assert "The survey has no items yet." in page
    assert "Publish 0 HITs" not in page
    researcher.post(url("batch_publish", draft))
    draft.refresh_from_db()
    assert draft.status == Batch.Status.DRAFT


@pytest.mark.parametrize("typed", ["", "the real thing", "The real thing!"])
def test_production_wants_the_name_typed(researcher, paying, typed):
    draft = make_draft(make_survey(n_items=5), name="The real thing", endpoint="production")
    response = researcher.post(url("batch_publish", draft), {"confirmation": typed})
    draft.refresh_from_db()
    assert response.status_code == 422
    assert draft.status == Batch.Status.DRAFT
    assert Questionnaire.objects.count() == 0


def test_production_is_published_with_the_name_typed(researcher, paying):
    draft = make_draft(make_survey(n_items=5), name="The real thing", endpoint="production")
    response = researcher.post(url("batch_publish", draft), {"confirmation": "The real thing"})
    draft.refresh_from_db()
    assert response.status_code == 302
    assert draft.status == Batch.Status.PUBLISHING


def test_production_says_so(researcher):
    survey = make_survey(n_items=5)
    production = make_draft(survey, endpoint="production")
    assert "Real people work here for real money." in text_of(researcher.get(url("batch", production)))
    assert "Real people" not in text_of(researcher.get(url("batch", make_draft(survey))))


@pytest.mark.parametrize("name", ["batch_publish", "batch_retry", "batch_sync"])
def test_nothing_changes_by_a_get(researcher, name):
    assert researcher.get(url(name, make_draft(make_survey()))).status_code == 405


@pytest.mark.parametrize(
    ("name", "researchers", "assistants", "nobody"),
    [
        ("batch", 200, 200, 403),
        ("batch_progress", 200, 200, 403),
        ("batch_stop", 200, 403, 403),
        ("assignments", 200, 200, 403),
    ],
)
def test_pages_need_their_permission(name, researchers, assistants, nobody):
    batch = make_published().batch
    codes = [client_of(role).get(url(name, batch)).status_code for role in ("Researcher", "Assistant", "")]
    assert codes == [researchers, assistants, nobody]


def test_an_assistant_does_not_publish(assistant):
    draft = make_draft(make_survey(n_items=5))
    assert assistant.post(url("batch_publish", draft)).status_code == 403
    assert "Publish 1 HITs" not in text_of(assistant.get(url("batch", draft)))
    draft.refresh_from_db()
    assert draft.status == Batch.Status.DRAFT


def test_strangers_are_sent_to_the_login():
    batch = make_batch(make_survey())
    response = Client().get(url("batch", batch))
    assert response.status_code == 302
    assert response.url.startswith("/admin/login/")


def test_a_batch_that_is_not_there_is_404(researcher):
    assert researcher.get("/batches/4711/").status_code == 404


def test_where_no_rule_judges_a_person_rejects(researcher):
    draft = make_draft(make_survey(), review_policy={"rules": []})
    terms = dict(researcher.get(url("batch", draft)).context["terms"])
    assert terms["Rejections"] == "by a person alone"


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        (
            {"rejects_automatically": False, "replaces_auto_approved": False, "uses_quiz": False},
            ["proposed; a person decides", "paid and used", "none", "none: marketplace only"],
        ),
        (
            {
                "rejects_automatically": True,
                "replaces_auto_approved": True,
                "uses_quiz": True,
                "takes_links": True,
            },
            [
                "carried out by the rule",
                "paid, left out and collected once more",
                "two tries before the work",
                "people may come by link",
            ],
        ),
    ],
)
def test_the_terms_say_what_becomes_of_bad_work_and_who_may_come(researcher, terms, said):
    draft = make_draft(make_survey())
    Batch.objects.filter(pk=draft.pk).update(**terms)
    shown = dict(researcher.get(url("batch", draft)).context["terms"])
    assert "Approved automatically after" in shown
    names = ("Rejections", "Approved before the rule could reject it", "Quiz", "Links and panels")
    assert [shown[name] for name in names] == said


@pytest.mark.parametrize(
    ("values", "who"),
    [
        ({}, "whoever comes"),
        ({"only_new_people": True}, "only new ones: none of an earlier batch"),
        (
            {"only_new_people": True, "takes_links": True},
            "only new ones: none of an earlier batch; invited ones are known by e-mail address or worker id alone",
        ),
        (
            {"endpoint": "link", "follows": True},
            "none of Pilot; invited ones are known by e-mail address or worker id alone",
        ),
    ],
)
def test_the_terms_say_who_is_left_out_and_how_they_are_known(researcher, values, who):
    draft = make_draft(make_survey(n_items=1))
    if values.get("follows"):
        values = {**values, "follows": make_draft(draft.survey, name="Pilot")}
    Batch.objects.filter(pk=draft.pk).update(**values)
    assert dict(researcher.get(url("batch", draft)).context["terms"])["People"] == who


@pytest.mark.parametrize(
    ("values", "after"),
    [
        ({"endpoint": "embedded"}, "3 days"),
        ({"endpoint": "embedded", "takes_links": True}, "3 days; what comes by link never"),
        ({"endpoint": "link", "takes_links": True}, "never: what waits for a person waits"),
    ],
)
def test_only_a_marketplace_approves_by_itself(researcher, values, after):
    draft = make_draft(make_survey(n_items=1), auto_approval_delay=timedelta(days=3), **values)
    terms = dict(researcher.get(url("batch", draft)).context["terms"])
    assert terms["Approved automatically after"] == after
    assert ("Approved before the rule could reject it" in terms) == (values["endpoint"] != "link")
