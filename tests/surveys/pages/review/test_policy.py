"""The review policy's page: try rules out, see whom they hit, apply them."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment, Worker
from surveys.models import AuditEntry, Batch, Questionnaire
from surveys.protocols.policy import rule_version
from surveys.review import decisions
from tests.factories import make_batch, make_published, make_survey, submitted
from tests.people import client_of
from tests.policy_data import NEVER, THREE_OF_FIVE, at_least, policy_of
from tests.surveys.pages.pages import text_of
from tests.surveys.results.rated import Rated, rated_batch, single

pytestmark = pytest.mark.django_db
TRY = {
    "try": "1",
    "rule_minimum_correct": "on",
    "minimum_correct_minimum": "2",
    "alone": "on",
    "reject_at": "2",
}


@pytest.fixture
def questionnaire() -> Questionnaire:
    found = make_published(rejects_automatically=False)
    for n in (1, 2, 5):
        decisions.record_decision(submitted(found, n_correct=n), batch=found.batch)
    return found


@pytest.fixture
def researcher() -> Client:
    return client_of("Researcher")


def url(questionnaire: Questionnaire) -> str:
    return reverse("batch_policy", args=[questionnaire.batch_id])


def posted(form, **values: object) -> dict[str, object]:
    """The hidden fields of the page's second form, as a browser sends them."""
    given = {field.name: field.value() for field in form.hidden_fields()}
    return {name: value for name, value in given.items() if value is not False} | values


def test_the_page_says_what_the_rules_of_now_find(researcher: Client, questionnaire: Questionnaire) -> None:
    text = text_of(researcher.get(url(questionnaire)))
    assert "Proposed for rejection: fewer than 3 of 5 answers right." in text
    assert "3 handed in" not in text
    assert "2 assignments would go unpaid ($0.92), and 2 replacements at $0.46 each cost $0.92 again." in text
    assert "Apply these rules" not in text


def test_only_a_rejection_is_read_by_its_worker(researcher: Client) -> None:
    found = make_published(rejects_automatically=False)
    submitted(found, n_correct=1)
    watched = submitted(found, n_correct=5)
    Worker.objects.filter(pk=watched.worker_id).update(standing="watch")
    text = text_of(researcher.get(url(found)))
    reason = "You answered 1 of 5 questions correctly; at least 3 are needed."
    assert f"proposed for rejection Too few right answers {reason} " in text
    assert "flagged Watched worker This worker is watched: a person looks at all their work. – " in text
    assert text.count("HIT #1") == 2


def test_what_is_decided_already_is_counted_by_itself(
    researcher: Client, questionnaire: Questionnaire
) -> None:
    Assignment.objects.update(status="Approved", approved_at=timezone.now())
    text = text_of(researcher.get(url(questionnaire)))
    assert "2 that these rules would reject are decided already and would stay as they are." in text


def test_trying_changes_nothing(researcher: Client, questionnaire: Questionnaire) -> None:
    page = researcher.get(url(questionnaire), TRY)
    text = text_of(page)
    assert "1 assignment would go unpaid ($0.46)" in text
    assert "You answered 1 of 5 questions correctly; at least 2 are needed." in text
    assert "used now" in text
    assert "without rejections" in text
    assert page.context["run"].n == 3
    assert (Batch.objects.get().review_policy, AuditEntry.objects.filter(kind="policy").count()) == (
        THREE_OF_FIVE,
        0,
    )


def test_what_was_tried_is_what_is_applied(researcher: Client, questionnaire: Questionnaire) -> None:
    form = researcher.get(url(questionnaire), {**TRY, "cap_percent": "20"}).context["apply_form"]
    page = researcher.post(url(questionnaire), posted(form, reason="Hard items."), follow=True)
    text = text_of(page)
    assert "The policy is applied. What no person has decided is judged again by it." in text
    assert "3 decisions made by the rules before are being judged again." in text
    rules = [*at_least(2, 5)["rules"], {"kind": "worker_cap", "share": 0.2}]
    assert Batch.objects.get().review_policy == policy_of(*rules)
    assert AuditEntry.objects.get(kind="policy").reason == "Hard items."


def test_a_reason_is_asked_for(researcher: Client, questionnaire: Questionnaire) -> None:
    form = researcher.get(url(questionnaire), TRY).context["apply_form"]
    page = researcher.post(url(questionnaire), posted(form))
    assert page.status_code == 422
    assert "Say why; it goes into the audit trail." in text_of(page)
    assert Batch.objects.get().review_policy == THREE_OF_FIVE


def test_what_somebody_else_changed_is_not_overwritten(
    researcher: Client, questionnaire: Questionnaire
) -> None:
    form = researcher.get(url(questionnaire), TRY).context["apply_form"]
    Batch.objects.update(review_policy=at_least(4, 5))
    page = researcher.post(url(questionnaire), posted(form, reason="Hard."), follow=True)
    assert "Somebody has changed the policy in the meantime." in text_of(page)
    assert Batch.objects.get().review_policy == at_least(4, 5)


@pytest.mark.parametrize(
    "policy", ["", "{", "[]", "{}", '{"rules": [{"kind": "x"}], "reject_at": 2}', "null"]
)
def test_a_forged_policy_is_refused(researcher: Client, questionnaire: Questionnaire, policy: str) -> None:
    data = {"policy": policy, "instead_of": rule_version(THREE_OF_FIVE), "reason": "x"}
    page = researcher.post(url(questionnaire), data, follow=True)
    assert page.status_code in {200, 422}
    assert Batch.objects.get().review_policy == THREE_OF_FIVE


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"minimum_correct_minimum": "6"}, "at least 6 of 5 right can&#x27;t be asked for."),
        ({"reject_at": "1"}, "Ensure this value is greater than or equal to 2."),
        (
            {"rule_too_fast": "on", "too_fast_divisor": "1"},
            "Ensure this value is greater than or equal to 1.1.",
        ),
    ],
)
def test_rules_that_cant_hold_are_said_beside_their_field(
    researcher: Client, questionnaire: Questionnaire, values: dict[str, str], sentence: str
) -> None:
    page = researcher.get(url(questionnaire), {**TRY, **values})
    assert page.status_code == 422
    assert sentence in page.content.decode()


def test_who_may_look_and_who_may_apply(questionnaire: Questionnaire) -> None:
    assert client_of().get(url(questionnaire)).status_code == 403
    assert Client().get(url(questionnaire)).status_code == 302
    assistant = client_of("Assistant")
    page = assistant.get(url(questionnaire), TRY)
    assert page.status_code == 200
    assert "Apply these rules" not in text_of(page)
    form = page.context["apply_form"]
    assert assistant.post(url(questionnaire), posted(form, reason="Mine.")).status_code == 403
    assert Batch.objects.get().review_policy == THREE_OF_FIVE


def test_a_survey_without_right_answers_offers_no_rule_about_them(researcher: Client) -> None:
    batch = make_batch(make_survey(definition_key="xai"), review_policy=NEVER)
    page = researcher.get(reverse("batch_policy", args=[batch.pk])).content.decode()
    assert ("rule_minimum_correct" in page, "rule_agreement" in page) == (False, True)


def test_an_empty_batch_has_nothing_to_show(researcher: Client) -> None:
    assert "Nothing has been handed in yet." in text_of(researcher.get(url(make_published())))


def test_the_headline_moves_first_and_the_rest_is_folded(researcher: Client) -> None:
    rows = [Rated(f"s{n}", "ab"[n % 2], w, {"clarity": "2", "trust": "3"}) for n in (1, 2) for w in "xyz"]
    batch = rated_batch(rows)
    Batch.objects.filter(pk=batch.pk).update(snapshot=single(headline="trust").to_snapshot())
    page = researcher.get(reverse("batch_policy", args=[batch.pk])).content.decode()
    order = ["Trust? · mean", "<h3>On other criteria</h3>", "Clear? · mean", "<h3>Every mean"]
    assert [page.index(words) for words in order] == sorted(page.index(words) for words in order)
