"""Planted checks: how they are imported, who passes them, and that results know nothing of them."""

import pytest

from annotators.models import Assignment
from surveys.answering.collection import save_answers
from surveys.models import Item, Questionnaire
from surveys.protocols.documents import read
from surveys.results.frames.database import read_batch
from surveys.review.decisions import decide
from surveys.review.evidence import evidence_of_batch
from surveys.studies.importing.reading import read_items
from surveys.studies.planted_checks import CheckError, read_check
from tests.factories import answers_for, make_published, open_for
from tests.policy_data import policy_of
from tests.protocols import VQAX, VTT, XAI
from tests.surveys.protocols.conditional import DOCUMENT

HEADER = "id,question,answer,choices,system,explanation,image,check\n"


@pytest.mark.parametrize(
    ("text", "definition", "expected"),
    [
        ("answer", VQAX, ("answer", (), "")),
        ("justifies=no", VQAX, ("justifies", ("no",), "")),
        (" ofa-x.justifies = no | weak_no ", VQAX, ("justifies", ("no", "weak_no"), "ofa-x")),
        ("fluency=1|2", VTT, ("fluency", ("1", "2"), "")),
    ],
)
def test_a_check_is_read(text, definition, expected) -> None:
    found = read_check(text, definition=definition)
    assert (found.criterion, found.values, found.system) == expected


@pytest.mark.parametrize(
    ("text", "definition", "sentence"),
    [
        ("answer", XAI, "this survey type asks for no answer."),
        ("yes", VQAX, "'yes' is neither 'answer' nor 'criterion=value'."),
        ("justifies=", VQAX, "'justifies=' is neither 'answer' nor 'criterion=value'."),
        ("beauty=no", VQAX, "'beauty' is no scale of this survey type."),
        ("shortcomings=none", VQAX, "'shortcomings' is no scale of this survey type."),
        ("justifies=never", VQAX, "'never' is no value of 'justifies'."),
        ("severity=2", read(DOCUMENT, name="edits.yaml"), "'severity' is not asked of everybody."),
    ],
)
def test_what_cant_be_checked_is_refused(text, definition, sentence) -> None:
    with pytest.raises(CheckError) as caught:
        read_check(text, definition=definition)
    assert str(caught.value) == sentence


def lines(check: str) -> bytes:
    row = "{id},What is it?,yes,yes|no,{system},Because.,a.jpg,{check}\n"
    rows = [row.format(id=1, system=system, check=check) for system in ("model", "ground_truth")]
    return (HEADER + "".join(rows)).encode()


@pytest.mark.parametrize(
    ("check", "payload", "problems"),
    [
        ("model.justifies=no", "model.justifies=no", []),
        ("", None, []),
        ("justifies=never", "justifies=never", ["No planted check: 'never' is no value of 'justifies'."]),
        (
            "third.justifies=no",
            "third.justifies=no",
            ['No planted check: "third" says nothing about this item.'],
        ),
    ],
)
def test_checks_come_with_the_import(check, payload, problems) -> None:
    plan = read_items(lines(check), definition=VQAX)
    assert [item.payload.get("check") for item in plan.items] == [payload]
    assert [p.message for p in plan.problems if "planted" in p.message] == problems


# -- Passing


def planted(questionnaire: Questionnaire, **checks: str) -> None:
    """Make checks of items, by position: p1="answer"."""
    for item in Item.objects.all():
        if text := checks.get(f"p{item.position}"):
            item.payload = {**item.payload, "check": text}
            item.save()


def handed_in(questionnaire: Questionnaire, *, n_correct: int) -> Assignment:
    """All rate the first output as shown weak_no and the second yes."""
    assignment = open_for(questionnaire)
    save_answers(assignment, answers=answers_for(assignment, n_correct=n_correct))
    Assignment.objects.filter(pk=assignment.pk).update(status="Submitted", submitted_at=assignment.saved_at)
    return Assignment.objects.get(pk=assignment.pk)


@pytest.mark.django_db
def test_answers_and_ratings_are_checked() -> None:
    questionnaire = make_published(review_policy=policy_of({"kind": "planted_checks"}))
    planted(questionnaire, p1="answer", p2="answer", p3="justifies=yes|weak_no", p4="justifies=no")
    careless = handed_in(questionnaire, n_correct=1)
    found = evidence_of_batch(questionnaire.batch)[careless.pk]
    assert found.worker.checks == (True, False, True, False)
    said = decide(careless, batch=questionnaire.batch)
    assert (said.verdict, said.reason) == (
        "flag",
        "2 of 4 questions that check attention were answered wrongly.",
    )


@pytest.mark.django_db
def test_a_check_that_was_skipped_was_neither_passed_nor_failed() -> None:
    questionnaire = make_published(review_policy=policy_of({"kind": "planted_checks"}))
    planted(questionnaire, p1="answer", p2="answer", p3="justifies=yes|weak_no", p4="justifies=yes|weak_no")
    careful = handed_in(questionnaire, n_correct=1)
    skipped = careful.responses.filter(item__position__in=[2, 4])
    for response in skipped:
        response.ratings.all().delete()
    skipped.update(skip_reason="text_missing", answer="", is_correct=None)
    found = evidence_of_batch(questionnaire.batch)[careful.pk]
    assert found.worker.checks == (True, True)
    assert decide(careful, batch=questionnaire.batch).verdict == "approve"


@pytest.mark.django_db
def test_results_leave_planted_checks_out() -> None:
    questionnaire = make_published()
    handed_in(questionnaire, n_correct=5)
    assert len(read_batch(questionnaire.batch).responses) == 5
    planted(questionnaire, p2="answer")
    assert list(read_batch(questionnaire.batch).responses["item_id"]) == [
        "item-1",
        "item-3",
        "item-4",
        "item-5",
    ]
