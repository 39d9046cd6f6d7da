"""The batch form: what it fills in, what it refuses, and where it says so."""

from datetime import timedelta
from typing import Any

import pytest

from surveys.definitions import DEFINITIONS
from surveys.forms.batch import BatchForm, policy_in_words
from surveys.forms.durations import in_words
from surveys.models import Survey
from tests.factories import make_draft, make_survey

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
        "policy_kind": "minimum_correct",
        "policy_minimum": 3,
        "policy_out_of": "",
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
    assert batch.review_policy == {"kind": "minimum_correct", "minimum": 3, "out_of": 5}


def test_what_is_given_stays(survey):
    form = BatchForm(data_for(survey, title="Mine", items_per_hit=2, policy_minimum=1))
    batch = form.save()
    assert (batch.title, batch.items_per_hit) == ("Mine", 2)
    assert batch.review_policy == {"kind": "minimum_correct", "minimum": 1, "out_of": 2}


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
        ({"policy_minimum": 6}, {"policy_minimum": ["Nobody can have 6 of 5 right."]}),
        ({"policy_minimum": ""}, {"policy_minimum": ["Say how many answers must be right."]}),
        ({"policy_minimum": 0}, {"policy_minimum": ["Ensure this value is greater than or equal to 1."]}),
        ({"policy_out_of": 4}, {"policy_out_of": ["A HIT has 5 items; the rule must count all of them."]}),
        ({"policy_kind": ""}, {"policy_kind": ["This field is required."]}),
        ({"policy_kind": "never", "policy_minimum": ""}, {}),
        ({"policy_kind": "flag_only", "policy_minimum": 5}, {}),
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


@pytest.mark.parametrize("policy", [{"kind": "never"}, {"kind": "flag_only", "minimum": 2, "out_of": 5}])
def test_a_stored_policy_is_shown_again(survey, policy):
    form = BatchForm(instance=make_draft(survey, review_policy=policy))
    shown = {key: form[f"policy_{key}"].value() for key in policy}
    assert shown == policy


@pytest.mark.parametrize(
    ("key", "policy"),
    [
        ("evil-vcr", {"kind": "minimum_correct", "minimum": 3, "out_of": 5}),
        ("xai", {"kind": "never"}),
        ("vtt", {"kind": "never"}),
    ],
)
def test_the_review_follows_the_survey_type_unless_it_is_chosen(key, policy):
    assert BatchForm()["policy_kind"].value() == "of_type"
    form = BatchForm(data_for(make_survey(definition_key=key), policy_kind="of_type", policy_minimum=""))
    assert form.errors == {}
    assert form.save().review_policy == policy


def test_a_rule_for_another_number_of_items_has_to_be_chosen(survey):
    assert errors_of(survey, policy_kind="of_type", items_per_hit=10) == {
        "policy_kind": [
            "The survey type’s rule is for HITs of 5 items; choose one yourself. It says: "
            "Reject below the minimum, and replace the rejected assignment. The minimum is 3 right of 5."
        ]
    }
    vtt = make_survey(definition_key="vtt")
    assert errors_of(vtt, policy_kind="of_type", items_per_hit=1) == {}


def test_nobody_can_be_rejected_where_nothing_is_right_or_wrong():
    assert errors_of(make_survey(definition_key="xai")) == {
        "policy_kind": ["This survey type asks for no answer that could be right or wrong."]
    }


def test_the_quiz_is_offered_where_the_survey_type_has_one():
    xai, vtt = make_survey(definition_key="xai"), make_survey(definition_key="vtt")
    form = BatchForm(data_for(xai, policy_kind="of_type", uses_quiz="on"))
    assert (form.errors, form.save().uses_quiz) == ({}, True)
    help_text = "Two tries, part of the paid time. For these survey types: XAI: five criteria."
    assert form.fields["uses_quiz"].help_text == help_text
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
    assert batch.review_policy == {"kind": "never"}


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
    assert in_words(duration) == words


def test_policies_are_said_in_words():
    policy = {"kind": "minimum_correct", "minimum": 3, "out_of": 5}
    assert policy_in_words(policy) == (
        "Reject below the minimum, and replace the rejected assignment. The minimum is 3 right of 5."
    )
    assert policy_in_words({"kind": "never"}) == "Never reject: everybody who submits is paid."
