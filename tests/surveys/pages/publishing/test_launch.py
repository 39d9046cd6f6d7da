"""One screen from items to published: its price is the server's, follows the form, and is what was seen."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from surveys.models import Batch, Protocol, Survey
from surveys.protocols.registry import BUILTIN
from surveys.publishing.pricing import People, people_needed, quote, reward_for
from surveys.publishing.terms.launch_form import first_terms, free_name
from surveys.studies import consent
from tests.factories import make_batch, make_draft, make_published, make_survey, submitted
from tests.people import client_of
from tests.policy_data import NEVER
from tests.protocols import XAI
from tests.surveys.pages.pages import text_of
from tests.surveys.pages.publishing.test_batch_form import data_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher() -> Client:
    return client_of("Researcher")


@pytest.fixture
def survey() -> Survey:
    return make_survey(n_items=30)


def shown(client: Client, survey: Survey) -> dict[str, Any]:
    """What a browser would send of the untouched screen."""
    form = client.get(reverse("launch", args=[survey.slug])).context["form"]
    return dict(form.data)


def posted(client: Client, survey: Survey, page: str = "launch", /, **values: Any) -> Any:
    return client.post(reverse(page, args=[survey.slug]), shown(client, survey) | values)


def test_untouched_it_publishes_a_sound_study(researcher: Client, survey: Survey) -> None:
    page = researcher.get(reverse("launch", args=[survey.slug]))
    assert "Publish 6 HITs for $57.60" in text_of(page)
    response = posted(researcher, survey, do="publish", total="57.60")
    batch = Batch.objects.get()
    assert response["Location"] == batch.get_absolute_url()
    assert (batch.status, batch.name, batch.reward) == ("publishing", f"{survey.name} 1", Decimal("1.60"))
    assert (quote(batch).total, quote(batch).hourly_wage) == (Decimal("57.60"), Decimal("12.00"))
    assert batch.review_policy["rules"] == [{"kind": "worker_cap", "share": 0.1}]
    assert batch.created_by.username == "researcher"


def test_it_is_told_where_one_chooses_that_mturk_is_closed(researcher: Client, survey: Survey) -> None:
    page = text_of(researcher.get(reverse("launch", args=[survey.slug])))
    assert "MTurk production: real people, real money." in page
    assert "Amazon closed Mechanical Turk on 30 September 2026." in page


def test_a_price_that_was_not_seen_is_not_paid(researcher: Client, survey: Survey) -> None:
    response = posted(researcher, survey, do="publish", total="57.60", reward="2.00")
    assert (response.status_code, Batch.objects.count()) == (422, 0)
    assert "it is $72.00 now" in text_of(response)
    assert posted(researcher, survey, do="publish", total="72.00", reward="2.00").status_code == 302


def test_the_price_follows_and_nothing_is_saved(researcher: Client, survey: Survey) -> None:
    answer = posted(researcher, survey, "launch_price", reward="0.50", assignments_per_hit=10)
    assert "Publish 6 HITs for $42.00" in text_of(answer)
    assert "Fee of 40 %" in text_of(answer)
    assert "Less than $7.25 an hour. $1.60 would pay $12.00." in text_of(answer)
    wrong = posted(researcher, survey, "launch_price", reward="")
    assert "Reward: This field is required." in text_of(wrong)
    assert "Publish 6" not in text_of(wrong)
    assert Batch.objects.count() == 0


def test_without_scripts_a_button_prices_again(researcher: Client, survey: Survey) -> None:
    page = posted(researcher, survey, do="price", reward="2.00")
    assert (page.status_code, Batch.objects.count()) == (200, 0)
    assert "Publish 6 HITs for $72.00" in text_of(page)


def test_the_reward_is_set_for_a_wage(researcher: Client, survey: Survey) -> None:
    page = posted(researcher, survey, do="wage", target_wage="9", reward="")
    assert page.context["form"]["reward"].value() == Decimal("1.20")
    assert "Publish 6 HITs for $43.20" in text_of(page)
    earlier = make_published()
    submitted(earlier)  # nine minutes
    page = posted(researcher, earlier.batch.survey, do="wage", target_wage="10")
    assert page.context["form"]["reward"].value() == Decimal("1.50")
    assert "9 minutes, as measured: the median of 1" in text_of(page)
    assert posted(researcher, survey, do="wage", target_wage="0").context["form"].errors != {}


@pytest.mark.parametrize(
    ("n_hits", "per_hit", "percent", "expected"),
    [
        (6, 3, 10, People(1, 3, 18)),
        (6, 3, 50, People(9, 3, 3)),
        (6, 3, None, People(None, 3, 3)),
        (100, 5, 10, People(50, 5, 10)),
        (1, 5, 10, People(1, 5, 5)),
        (7, 3, 10, People(2, 3, 11)),
        (0, 3, 10, People(None, 0, 0)),
    ],
)
def test_people_are_counted_by_the_cap(
    n_hits: int, per_hit: int, percent: int | None, expected: People
) -> None:
    policy = {**NEVER, "rules": [{"kind": "worker_cap", "share": percent / 100}] if percent else []}
    batch = Batch(assignments_per_hit=per_hit, review_policy=policy)
    assert people_needed(batch, n_hits=n_hits) == expected


def test_a_small_study_says_how_many_people_its_cap_asks_for(researcher: Client, survey: Survey) -> None:
    answer = posted(researcher, survey, "launch_price", assignments_per_hit=3)
    assert "At most 1 HIT each: you need 18 people. " in text_of(answer)
    answer = posted(researcher, survey, "launch_price", assignments_per_hit=3, takes_links="on")
    assert "With personal links, which the share does not bind, 3 can be enough." in text_of(answer)
    posted(researcher, survey, assignments_per_hit=3, do="save")
    draft = text_of(researcher.get(Batch.objects.get().get_absolute_url()))
    assert "At most 1 HIT each: you need 18 people." in draft
    assert "Fee of 20 % of this server’s marketplace, as MTurk’s was" in draft


def test_a_draft_is_kept_and_changed_on_the_same_screen(researcher: Client, survey: Survey) -> None:
    posted(researcher, survey, do="save", name="Mine")
    draft = Batch.objects.get()
    assert draft.status == Batch.Status.DRAFT
    address = reverse("batch_launch", args=[draft.pk])
    sent = dict(researcher.get(address).context["form"].data)
    assert (sent["name"], sent["policy_kind"]) == ("Mine", "never")
    researcher.post(address, {**sent, "do": "save", "reward": "3.00"})
    assert Batch.objects.get().reward == Decimal("3.00")
    Batch.objects.update(status="open", snapshot={})
    researcher.post(address, {**sent, "do": "save", "reward": "4.00"})
    assert Batch.objects.get().reward == Decimal("3.00")


def test_money_that_is_real_takes_the_name(researcher: Client, survey: Survey) -> None:
    terms = {"endpoint": "production", "do": "publish", "total": "57.60"}
    page = posted(researcher, survey, **terms)
    assert (page.status_code, Batch.objects.count()) == (422, 0)
    assert "Real people, real money." in text_of(page)


def test_another_study_can_not_be_smuggled_in(researcher: Client, survey: Survey) -> None:
    other = make_survey(n_items=1)
    posted(researcher, survey, do="save", survey=other.pk)
    assert Batch.objects.get().survey == survey


def test_publishing_takes_its_permission(survey: Survey) -> None:
    assistant = client_of("Assistant")
    answer = assistant.post(reverse("launch", args=[survey.slug]), {**data_for(survey), "do": "publish"})
    assert (answer.status_code, Batch.objects.count()) == (403, 0)


def test_the_next_batch_begins_like_the_last() -> None:
    survey = make_survey(n_items=5)
    make_draft(survey, name=f"{survey.name} 2", reward=Decimal("0.90"), assignments_per_hit=7)
    terms = first_terms(survey)
    assert (terms["reward"], terms["assignments_per_hit"]) == (Decimal("0.90"), 7)
    assert free_name(survey) == f"{survey.name} 3"


def of_own_type() -> Survey:
    """A study of a type that somebody here wrote, with a quiz."""
    document = (BUILTIN / "xai.yaml").read_text()
    protocol = Protocol.objects.create(key="xai", version=1, name="Ours", document=document)
    return make_survey(n_items=5, definition_key="xai", protocol=protocol)


def test_a_quiz_of_the_studys_own_type_is_on_until_a_launch_leaves_it_out(researcher: Client) -> None:
    survey = of_own_type()
    page = researcher.get(reverse("launch", args=[survey.slug]))
    help_text = page.context["form"].fields["uses_quiz"].help_text
    assert (
        help_text
        == f"Two tries, part of the paid time. That of this survey type has {len(XAI.quiz)} questions."
    )
    assert "Quiz: everybody begins with it" in text_of(page)
    left_out = {name: value for name, value in shown(researcher, survey).items() if name != "uses_quiz"}
    answer = researcher.post(reverse("launch", args=[survey.slug]), {**left_out, "do": "save"}, follow=True)
    assert "Quiz: left out, though the survey type has one" in text_of(answer)
    assert (Batch.objects.get().uses_quiz, first_terms(survey)["uses_quiz"]) == (False, False)


def test_a_last_batch_from_before_there_was_a_quiz_leaves_none_out() -> None:
    survey = of_own_type()
    last = make_batch(survey)
    Batch.objects.filter(pk=last.pk).update(snapshot=replace(XAI, quiz=()).to_snapshot())
    assert first_terms(survey)["uses_quiz"] is True


def test_the_quiz_of_a_type_that_comes_with_us_is_off_until_somebody_asks_for_it() -> None:
    survey = make_survey(definition_key="xai")
    assert first_terms(survey)["uses_quiz"] is False
    make_batch(survey, uses_quiz=True)
    assert first_terms(survey)["uses_quiz"] is True


def test_a_type_without_a_quiz_says_so(researcher: Client) -> None:
    page = researcher.get(reverse("launch", args=[make_survey(n_items=1, definition_key="vtt").slug]))
    field = page.context["form"].fields["uses_quiz"]
    assert field.help_text == "Two tries, part of the paid time. This survey type has none."
    assert "Quiz:" not in text_of(page)


def test_who_is_asked_for_consent_stands_where_one_publishes(researcher: Client, survey: Survey) -> None:
    draft = make_draft(survey)
    pages = [reverse("launch", args=[survey.slug]), draft.get_absolute_url()]
    for page in pages:
        assert "Consent: nobody is asked · change" in text_of(researcher.get(page))
        assert f'"{reverse("study_settings", args=[survey.slug])}#consent"' in researcher.get(page).text
    consent.write(survey, "I agree.", by=None)
    for page in pages:
        assert "everybody is asked to agree before they begin (version 1" in text_of(researcher.get(page))


@pytest.mark.parametrize(
    ("address", "where"),
    [
        ("http://127.0.0.1:8123", "at this computer"),
        ("http://localhost:8000", "at this computer"),
        ("http://[::1]:8000", "at this computer"),
        ("http://192.168.1.5", "in its own network"),
        ("https://labserver", "in its own network"),
        ("https://assent.lan", "in its own network"),
        ("https://assent.example.org", ""),
        ("https://8.8.8.8", ""),
    ],
)
def test_addresses_that_strangers_cannot_open_are_told_of_where_they_are_given_out(
    researcher: Client, survey: Survey, settings: Any, address: str, where: str
) -> None:
    settings.APP_URL = address
    draft = make_draft(survey, endpoint="link", takes_links=True)
    sentence = (
        f"begin with {address}, which only somebody {where} can open. For everybody else set ASSENT_APP_URL"
    )
    people = reverse("people", args=[draft.pk])
    for page in (reverse("batch_launch", args=[draft.pk]), draft.get_absolute_url(), people):
        text = text_of(researcher.get(page))
        assert ("ASSENT_APP_URL" in text, sentence in text) == (bool(where), bool(where))
    assert "ASSENT_APP_URL" not in text_of(researcher.get(make_draft(survey).get_absolute_url()))


def test_simulated_people_set_no_terms(researcher: Client) -> None:
    survey = make_survey(n_items=5)
    make_draft(survey, reward=Decimal("0.90"))
    make_draft(survey, reward=Decimal(0), endpoint="link", takes_links=True, is_simulated=True)
    terms = first_terms(survey)
    assert (terms["reward"], terms["endpoint"]) == (Decimal("0.90"), "embedded")


def test_a_study_that_pays_nothing_has_a_price_before_anybody_types(researcher: Client) -> None:
    survey = make_survey(n_items=5)
    make_draft(survey, reward=Decimal(0), endpoint="link", takes_links=True)
    page = researcher.get(reverse("launch", args=[survey.slug]))
    assert "This field is required" not in text_of(page)
    assert (page.context["form"].errors, page.context["quote"].total) == ({}, Decimal(0))


def test_rules_are_tried_on_earlier_work(researcher: Client) -> None:
    questionnaire = make_published()
    submitted(questionnaire, n_correct=2)
    submitted(questionnaire, n_correct=5)
    survey, rules = questionnaire.batch.survey, {"rule_minimum_correct": "on", "alone": "on"}
    asked = {"do": "try", "policy_kind": "own", "minimum_correct_minimum": 3, **rules}
    answer = posted(researcher, survey, "launch_price", **asked)
    sentence = (
        f"On the 2 assignments of {questionnaire.batch.name} these rules flag 1 and propose to reject 1."
    )
    assert sentence in text_of(answer)


def test_a_new_batch_begins_with_its_study(researcher: Client, survey: Survey) -> None:
    new = reverse("new_batch")
    assert researcher.get(new)["Location"] == reverse("launch", args=[survey.slug])
    make_survey(n_items=1, name="Dogs")
    assert "Dogs" in text_of(researcher.get(new))


@pytest.mark.parametrize(
    ("wage", "minutes", "expected"), [("12", "8", "1.60"), ("12", "1.6", "0.32"), ("10", "0.99", "0.17")]
)
def test_a_reward_pays_at_least_the_wage(wage: str, minutes: str, expected: str) -> None:
    assert reward_for(Decimal(wage), minutes=Decimal(minutes)) == Decimal(expected)


def test_a_batch_asks_for_a_language_of_its_pages_and_the_next_one_begins_with_it(
    researcher: Client, survey: Survey
) -> None:
    page = researcher.get(reverse("launch", args=[survey.slug]))
    offered = page.context["form"].fields["page_language"].choices
    assert list(offered) == [("", "As the browser says"), ("en", "English"), ("ru", "Russian")]
    assert posted(researcher, survey, do="save", page_language="xx").status_code == 422
    posted(researcher, survey, do="save", page_language="ru")
    assert Batch.objects.get().page_language == "ru"
    assert shown(researcher, survey)["page_language"] == "ru"
