"""The batch form: what it fills in, what it refuses, and where it says so."""

from datetime import timedelta
from typing import Any

import pytest

from surveys.models import Survey
from surveys.protocols.registry import DEFINITIONS
from surveys.publishing.terms.batch_form import BatchForm, duration_in_words, policy_in_words
from surveys.publishing.terms.policy_form import rows_for
from tests.factories import make_draft, make_survey
from tests.policy_data import NEVER, THREE_OF_FIVE, at_least

pytestmark = pytest.mark.django_db


@pytest.fixture
def survey() -> Survey:
    return make_survey(n_items=5)


def data_for(survey: Survey, **values: Any) -> dict[str, Any]:
    return {
        "survey": survey.pk,
        "name": "First",
        "endpoint": "embedded",
        "title": "",
        "description": "",
        "keywords": "",
        "items_per_hit": "",
        "assignments_per_hit": 5,
        "reward": "0.38",
        "assignment_duration_number": 1,
        "assignment_duration_unit": "hours",
        "lifetime_number": 7,
        "lifetime_unit": "days",
        "auto_approval_delay_number": 3,
        "auto_approval_delay_unit": "days",
        "policy_kind": "own",
        "rule_minimum_correct": "on",
        "minimum_correct_minimum": 3,
        "alone": "on",
        "reject_at": 2,
        "seed": 7,
        "assumed_minutes": 8,
        **values,
    }


def errors_of(survey: Survey, **values: Any) -> dict[str, list[str]]:
    return {name: list(errors) for name, errors in BatchForm(data_for(survey, **values)).errors.items()}


def test_what_is_left_empty_follows_the_survey_type(survey):
    form = BatchForm(data_for(survey))
    assert form.errors == {}
    batch = form.save()
    assert batch.title == "Judge two explanations of an answer about a picture"
    assert batch.description == DEFINITIONS["evil-vqax"].instructions.summary
    assert batch.keywords == "question, explanation, picture, rating"
    assert batch.items_per_hit == 5
    assert batch.review_policy == THREE_OF_FIVE


def test_what_is_given_stays(survey):
    form = BatchForm(data_for(survey, title="Mine", items_per_hit=2, minimum_correct_minimum=1))
    batch = form.save()
    assert (batch.title, batch.items_per_hit) == ("Mine", 2)
    assert batch.review_policy == at_least(1, 2)


@pytest.mark.parametrize(
    ("number", "unit", "expected"),
    [
        ("90", "minutes", timedelta(minutes=90)),
        ("1.5", "hours", timedelta(minutes=90)),
        ("2", "days", timedelta(days=2)),
    ],
)
def test_durations_are_a_number_and_a_unit(survey, number, unit, expected):
    values = {"assignment_duration_number": number, "assignment_duration_unit": unit}
    assert BatchForm(data_for(survey, **values)).save().assignment_duration == expected


def test_auto_approval_has_no_default(survey):
    assert errors_of(survey, auto_approval_delay_number="") == {
        "auto_approval_delay": ["This field is required."]
    }
    assert BatchForm().fields["auto_approval_delay"].initial is None


@pytest.mark.parametrize(
    ("field", "number", "unit", "message"),
    [
        ("auto_approval_delay", "31", "days", "At most 30 days."),
        ("auto_approval_delay", "0", "days", "At least 2 minutes."),
        ("auto_approval_delay", "119", "minutes", None),
        ("assignment_duration", "0.4", "minutes", "At least 0.5 minutes."),
        ("assignment_duration", "0.5", "minutes", None),
        ("assignment_duration", "366", "days", "At most 365 days."),
        ("assignment_duration", "365", "days", None),
        ("lifetime", "0.4", "minutes", "At least 0.5 minutes."),
        ("lifetime", "99999999999", "days", "At most 365 days."),
        ("lifetime", "-1", "days", "Ensure this value is greater than or equal to 0."),
    ],
)
def test_durations_keep_mturks_limits(survey, settings, field, number, unit, message):
    settings.SYNC_EVERY_SECONDS = 60
    found = errors_of(survey, **{f"{field}_number": number, f"{field}_unit": unit})
    assert found == ({field: [message]} if message else {})


def test_auto_approval_must_outlast_two_syncs(survey, settings):
    settings.SYNC_EVERY_SECONDS = 3600
    found = errors_of(survey, auto_approval_delay_number=1, auto_approval_delay_unit="hours")
    assert found == {"auto_approval_delay": ["At least 2 hours."]}


@pytest.mark.parametrize(
    ("values", "errors"),
    [
        ({"minimum_correct_minimum": 6}, {"minimum_correct_minimum": ["Nobody can have 6 of 5 right."]}),
        (
            {"minimum_correct_minimum": ""},
            {"minimum_correct_minimum": ["The rule 'minimum_correct': it needs 'minimum'."]},
        ),
        (
            {"minimum_correct_minimum": 0},
            {"minimum_correct_minimum": ["Ensure this value is greater than or equal to 1."]},
        ),
        ({"policy_kind": ""}, {"policy_kind": ["This field is required."]}),
        ({"policy_kind": "never", "minimum_correct_minimum": ""}, {}),
        ({"alone": "", "minimum_correct_minimum": 5}, {}),
        (
            {"rule_minimum_correct": ""},
            {"policy_kind": ["Switch on one of the rules below, or choose never to reject."]},
        ),
        ({"reject_at": 1}, {"reject_at": ["Ensure this value is greater than or equal to 2."]}),
        ({"cap_percent": 101}, {"cap_percent": ["Ensure this value is less than or equal to 100."]}),
        ({"endpoint": ""}, {"endpoint": ["This field is required."]}),
        ({"title": "x" * 129}, {"title": ["Ensure this value has at most 128 characters (it has 129)."]}),
        ({"reward": "0"}, {"reward": ["A marketplace pays for every assignment: at least $0.01."]}),
        ({"reward": "0.001"}, {"reward": ["Ensure that there are no more than 2 decimal places."]}),
        ({"items_per_hit": 0}, {"items_per_hit": ["Ensure this value is greater than or equal to 1."]}),
        ({"assignments_per_hit": 0}, {"assignments_per_hit": ["Ensure this value is greater than or equal to 1."]}),
    ],
)  # fmt: skip
def test_errors_stand_beside_their_field(survey, values, errors):
    assert errors_of(survey, **values) == errors


def test_no_endpoint_is_chosen_beforehand():
    form = BatchForm()
    assert form["endpoint"].value() is None
    assert "checked" not in str(form["endpoint"])


@pytest.mark.parametrize(
    ("policy", "shown"),
    [
        (NEVER, ("never", False, 3, True, None)),
        (at_least(2, 5, rejects_alone=False), ("own", True, 2, False, 2)),
        (at_least(4, 5), ("own", True, 4, True, 2)),
    ],
)
def test_a_stored_policy_is_shown_again(survey, policy, shown):
    form = BatchForm(instance=make_draft(survey, review_policy=policy))
    names = ("policy_kind", "rule_minimum_correct", "minimum_correct_minimum", "alone", "reject_at")
    assert tuple(form[name].value() for name in names) == shown


ALL_RULES = {
    "rules": [
        {"kind": "minimum_correct", "minimum": 3, "out_of": 5, "rejects_alone": False},
        {"kind": "difficulty_adjusted", "below": -2.0},
        {"kind": "too_fast", "divisor": 4.0},
        {"kind": "straight_lining", "at_least": 10},
        {"kind": "agreement", "below": 0.2},
        {"kind": "planted_checks", "failed": 3},
        {"kind": "worker_cap", "share": 0.25},
    ],
    "reject_at": 3,
}
ALL_FIELDS = {
    "alone": "",
    "rule_difficulty_adjusted": "on",
    "difficulty_adjusted_below": "2.0",
    "rule_too_fast": "on",
    "too_fast_divisor": "4",
    "rule_straight_lining": "on",
    "straight_lining_at_least": 10,
    "rule_agreement": "on",
    "agreement_below": "0.2",
    "rule_planted_checks": "on",
    "planted_checks_failed": 3,
    "cap_percent": 25,
    "reject_at": 3,
}


def test_every_rule_can_be_switched_on(survey):
    form = BatchForm(data_for(survey, **ALL_FIELDS))
    assert form.errors == {}
    batch = form.save()
    assert batch.review_policy == ALL_RULES
    shown = BatchForm(instance=batch)
    again = {name: shown[name].value() for name in (*ALL_FIELDS, "rule_minimum_correct")}
    assert BatchForm({**data_for(survey, name="Again"), **again}).save().review_policy == ALL_RULES


def test_parameters_without_a_field_stay(survey):
    slow_reader = {"kind": "too_fast", "words_per_minute": 200.0, "divisor": 3.0}
    draft = make_draft(survey, review_policy={"rules": [slow_reader], "reject_at": None})
    posted = data_for(
        survey, rule_minimum_correct="", rule_too_fast="on", too_fast_divisor=5, reject_at="", name=draft.name
    )
    changed = BatchForm(posted, instance=draft).save().review_policy
    assert changed == {"rules": [{**slow_reader, "divisor": 5.0}], "reject_at": None}


def test_the_rule_only_proposes_unless_it_is_switched_on(survey):
    assert BatchForm(data_for(survey)).save().rejects_automatically is False
    assert (
        BatchForm(data_for(survey, name="B", rejects_automatically="on")).save().rejects_automatically is True
    )


def test_nobody_does_more_than_a_tenth_unless_that_is_changed(survey):
    assert BatchForm()["cap_percent"].value() == 10
    capped = BatchForm(data_for(survey, policy_kind="never", cap_percent=10)).save()
    assert capped.review_policy == {"rules": [{"kind": "worker_cap", "share": 0.1}], "reject_at": None}


def test_a_budget_is_money(survey):
    assert str(BatchForm(data_for(survey, budget="99.50")).save().budget) == "99.50"
    assert errors_of(survey, name="B", budget="0") == {
        "budget": ["Ensure this value is greater than or equal to 0.01."]
    }


@pytest.mark.parametrize(
    ("key", "policy"),
    [
        ("evil-vcr", THREE_OF_FIVE),
        ("xai", NEVER),
        ("vtt", NEVER),
    ],
)
def test_the_review_follows_the_survey_type_unless_it_is_chosen(key, policy):
    assert BatchForm()["policy_kind"].value() == "of_type"
    form = BatchForm(data_for(make_survey(definition_key=key), policy_kind="of_type"))
    assert form.errors == {}
    assert form.save().review_policy == policy


def test_a_rule_for_another_number_of_items_has_to_be_chosen(survey):
    assert errors_of(survey, policy_kind="of_type", items_per_hit=10) == {
        "policy_kind": [
            "The survey type’s rule is for HITs of 5 items; choose one yourself. It says: "
            "Proposed for rejection: fewer than 3 of 5 answers right."
        ]
    }
    vtt = make_survey(definition_key="vtt")
    assert errors_of(vtt, policy_kind="of_type", items_per_hit=1) == {}


def test_nobody_can_be_rejected_where_nothing_is_right_or_wrong():
    assert errors_of(make_survey(definition_key="xai")) == {
        "rule_minimum_correct": ["This survey type asks for no answer that could be right or wrong."]
    }
    assert [row[0] for row in rows_for(DEFINITIONS["xai"])] == [
        "rule_too_fast",
        "rule_straight_lining",
        "rule_agreement",
        "rule_planted_checks",
    ]
    assert len(rows_for(DEFINITIONS["evil-vqax"])) == len(rows_for(None)) == 6


def test_the_quiz_is_offered_where_the_survey_type_has_one():
    xai, vtt = make_survey(definition_key="xai"), make_survey(definition_key="vtt")
    form = BatchForm(data_for(xai, policy_kind="of_type", uses_quiz="on"))
    assert (form.errors, form.save().uses_quiz) == ({}, True)
    assert errors_of(vtt, name="V", policy_kind="of_type", uses_quiz="on") == {
        "uses_quiz": ["This survey type has no quiz."]
    }


def test_keywords_are_single_words():
    batch = BatchForm(data_for(make_survey(definition_key="xai"), policy_kind="of_type")).save()
    assert (batch.keywords, batch.items_per_hit) == ("label, explanation, picture, rating", 5)
    batch = BatchForm(data_for(make_survey(definition_key="vtt"), name="V", policy_kind="of_type")).save()
    assert (batch.keywords, batch.items_per_hit) == ("texts, picture, rating", 1)


def test_never_rejecting_stores_nothing_else(survey):
    batch = BatchForm(data_for(survey, policy_kind="never")).save()
    assert batch.review_policy == NEVER


@pytest.mark.parametrize(
    ("duration", "words"),
    [
        (timedelta(days=1), "1 day"),
        (timedelta(hours=36), "36 hours"),
        (timedelta(minutes=90), "90 minutes"),
        (timedelta(seconds=45), "0.75 minutes"),
        (timedelta(days=10), "10 days"),
    ],
)
def test_durations_are_said_in_the_largest_whole_unit(duration, words):
    assert duration_in_words(duration) == words


def test_what_is_no_policy_says_so():
    assert policy_in_words({}) == "A review policy is made of 'rules', a list, and 'reject_at'."
    assert policy_in_words(NEVER) == "Never reject: everybody who submits is paid."


def test_at_most_half_of_the_items_can_be_asked_twice(survey):
    assert errors_of(survey, repeats_per_hit=3) == {
        "repeats_per_hit": ["At most half of a HIT’s items can be asked twice."]
    }
    assert BatchForm(data_for(survey, repeats_per_hit="")).save().repeats_per_hit == 0
    assert BatchForm(data_for(survey, name="Second", repeats_per_hit=2)).save().repeats_per_hit == 2
