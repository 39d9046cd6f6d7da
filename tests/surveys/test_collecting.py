import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from annotators.models import Assignment, Worker
from annotators.questions import parse_answers
from surveys.collecting import (
    SECONDS_MAX,
    IncompleteAnswers,
    ItemAnswer,
    recover,
    save_answers,
    save_draft,
    task_answers,
)
from surveys.definitions import Choice, Criterion
from surveys.definitions.evil import VQAX
from surveys.models import Output, Questionnaire, Rating, Response
from tests.factories import (
    answer,
    answer_xml,
    answers_for,
    make_batch,
    make_hit,
    make_item,
    make_published,
    make_questionnaire,
    make_survey,
    open_for,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def questionnaire() -> Questionnaire:
    return make_published()


@pytest.fixture
def assignment(questionnaire: Questionnaire) -> Assignment:
    return open_for(questionnaire, worker="AWORKER")


def draft(assignment: Assignment, data: dict[str, Any], *, version: int, seconds: float = 1.0) -> bool:
    return save_draft(assignment, position=1, data=data, version=version, active_seconds=seconds)


def first(assignment: Assignment) -> Response:
    return assignment.responses.get(position=1)


def ratings_of(response: Response) -> list[tuple[str | None, str, str, float]]:
    rows = response.ratings.select_related("output").order_by("output__system", "criterion")
    return [(r.output and r.output.system, r.criterion, r.value, r.score) for r in rows]


def contents(assignment: Assignment) -> list[Any]:
    """All that was answered, in terms that outlast the rows."""
    return [
        (
            r.position,
            r.item_id,
            r.shown["outputs"],
            r.answer,
            r.is_correct,
            r.active_seconds,
            ratings_of(r),
        )
        for r in assignment.responses.all()
    ]


def test_a_draft_is_kept_and_a_late_save_loses(assignment: Assignment) -> None:
    assert draft(assignment, {"answer": "no"}, version=2, seconds=4.5) is True
    assert draft(assignment, {"answer": "late"}, version=1) is False
    assert draft(assignment, {"answer": "same"}, version=2) is False
    saved = first(assignment)
    assert (saved.draft, saved.draft_version, saved.active_seconds) == ({"answer": "no"}, 2, 4.5)
    assert saved.saved_at is not None
    assert draft(assignment, {"answer": "yes"}, version=3) is True
    assert first(assignment).draft == {"answer": "yes"}
    assert (first(assignment).answer, Rating.objects.count()) == ("", 0)


def test_a_draft_for_a_question_that_isnt_there_is_not_saved(assignment: Assignment) -> None:
    assert save_draft(assignment, position=6, data={}, version=1, active_seconds=0) is False


def test_a_draft_after_completion_is_refused(assignment: Assignment) -> None:
    answer(assignment)
    assert draft(assignment, {"answer": "no"}, version=99) is False
    assert first(assignment).draft == {}


@pytest.mark.parametrize(
    ("measured", "kept"),
    [(-1.0, 0.0), (float("nan"), 0.0), (float("inf"), SECONDS_MAX), (1e12, SECONDS_MAX), (0.5, 0.5)],
)
def test_measured_seconds_stay_within_bounds(assignment: Assignment, measured: float, kept: float) -> None:
    assert draft(assignment, {}, version=1, seconds=measured) is True
    assert first(assignment).active_seconds == kept


def test_a_version_beyond_all_bounds_is_kept_and_is_the_last(assignment: Assignment) -> None:
    assert draft(assignment, {"a": "1"}, version=10**30) is True
    assert draft(assignment, {"a": "2"}, version=10**31) is False
    assert first(assignment).draft == {"a": "1"}


def test_complete_answers_are_written(assignment: Assignment) -> None:
    assert save_answers(assignment, answers=answers_for(assignment, n_correct=3), comment="Да 😀") is True
    assert assignment.saved_at is not None
    assert (assignment.comment, assignment.status) == ("Да 😀", "Accepted")
    responses = list(assignment.responses.all())
    assert [r.answer for r in responses] == ["yes"] * 3 + ["no"] * 2
    assert [r.is_correct for r in responses] == [True] * 3 + [False] * 2
    assert [r.active_seconds for r in responses] == [12.5] * 5
    assert Rating.objects.count() == 5 * 2 * (1 + 4 + 1)


def test_rating_rows_are_as_documented(assignment: Assignment) -> None:
    outputs = {output.system: output for output in first(assignment).item.outputs.all()}
    given = [a for a in answers_for(assignment) if a.position != 1]
    mine = ItemAnswer(
        position=1,
        answer="yes",
        ratings={
            outputs["ground_truth"].code: {"justifies": "weak_yes", "shortcomings": ["none"]},
            outputs["model"].code: {
                "justifies": "no",
                "shortcomings": ["incorrect_description", "confusing_sentence"],
            },
        },
        preference=outputs["ground_truth"].code,
    )
    save_answers(assignment, answers=[*given, mine])
    assert ratings_of(first(assignment)) == [
        ("ground_truth", "justifies", "weak_yes", 2 / 3),
        ("ground_truth", "preference", "preferred", 1.0),
        ("ground_truth", "shortcomings.confusing_sentence", "not_selected", 0.0),
        ("ground_truth", "shortcomings.incorrect_description", "not_selected", 0.0),
        ("ground_truth", "shortcomings.insufficient_justification", "not_selected", 0.0),
        ("ground_truth", "shortcomings.none", "selected", 1.0),
        ("model", "justifies", "no", 0.0),
        ("model", "preference", "other", 0.0),
        ("model", "shortcomings.confusing_sentence", "selected", 1.0),
        ("model", "shortcomings.incorrect_description", "selected", 1.0),
        ("model", "shortcomings.insufficient_justification", "not_selected", 0.0),
        ("model", "shortcomings.none", "not_selected", 0.0),
    ]


@pytest.mark.parametrize("preferred", ["model", "ground_truth", ""])
def test_preference_three_ways(assignment: Assignment, preferred: str) -> None:
    codes = {o.system: o.code for o in first(assignment).item.outputs.all()} | {"": ""}
    mine, *others = answers_for(assignment)
    save_answers(assignment, answers=[replace(mine, preference=codes[preferred]), *others])
    rows = first(assignment).ratings.filter(criterion="preference").select_related("output")
    values = {row.output.system: (row.value, row.score) for row in rows if row.output}
    none = ("no_preference", 0.0)
    assert values == {
        "model": none if not preferred else (("preferred", 1.0) if preferred == "model" else ("other", 0.0)),
        "ground_truth": none
        if not preferred
        else (("preferred", 1.0) if preferred != "model" else ("other", 0.0)),
    }


def test_without_gold_nothing_is_right_or_wrong() -> None:
    survey = make_survey()
    make_item(survey, gold="")
    assignment = open_for(
        make_questionnaire(make_batch(survey), items=list(survey.items.all()), hit=make_hit())
    )
    save_answers(assignment, answers=[replace(a, answer="no") for a in answers_for(assignment)])
    assert (first(assignment).answer, first(assignment).is_correct) == ("no", None)


def test_a_second_set_of_answers_changes_nothing(assignment: Assignment) -> None:
    answer(assignment, n_correct=5, comment="first")
    before, saved_at = contents(assignment), assignment.saved_at
    stale = Assignment.objects.get()
    assert save_answers(stale, answers=answers_for(stale, n_correct=0), comment="second") is False
    stale.refresh_from_db()
    assert (contents(stale), stale.saved_at, stale.comment) == (before, saved_at, "first")


@pytest.mark.django_db(transaction=True)
def test_answers_saved_by_many_at_once_are_one_set(in_parallel: Callable[..., list[Any]]) -> None:
    assignment = open_for(make_published(), worker="AWORKER")
    sets = [answers_for(assignment, n_correct=n) for n in range(4)]

    def save(n: int) -> bool:
        return save_answers(Assignment.objects.get(), answers=sets[n], comment=str(n))

    results = in_parallel(*[lambda n=n: save(n) for n in range(4)])
    assert sorted(results) == [False, False, False, True]
    winner = results.index(True)
    assignment.refresh_from_db()
    assert assignment.comment == str(winner)
    assert sum(r.is_correct for r in assignment.responses.all()) == winner
    assert Rating.objects.count() == 60


def test_answers_that_fail_halfway_leave_nothing(assignment: Assignment) -> None:
    broken = [*answers_for(assignment)[:4], ItemAnswer(position=5, answer="yes")]
    broken[4].ratings["unknown"] = {"justifies": "yes", "shortcomings": ["none"]}
    with pytest.raises(KeyError):
        save_answers(assignment, answers=broken)
    assert (Assignment.objects.get().saved_at, Rating.objects.count()) == (None, 0)


# -- The marketplace's copy ---------------------------------------------------------------------------------


def forget_answers(assignment: Assignment, copy: str, **fields: str) -> Assignment:
    """Lose our rows, as if the database had been restored from before; the marketplace still has its copy."""
    Rating.objects.all().delete()
    Response.objects.all().delete()
    Assignment.objects.update(saved_at=None, comment="", answer_xml=answer_xml(copy, **fields))
    return Assignment.objects.get(pk=assignment.pk)


def test_the_copy_rebuilds_everything(questionnaire: Questionnaire, assignment: Assignment) -> None:
    before, copy = contents(answer(assignment, n_correct=3)), task_answers(assignment)
    lost = forget_answers(assignment, copy, comment="Красный & 😀")
    assert recover(lost, questionnaire=questionnaire) is True
    assert contents(lost) == before
    assert task_answers(lost) == copy
    assert (lost.comment, lost.saved_at is None) == ("Красный & 😀", False)


def test_the_copy_rebuilds_from_rows_that_were_only_opened(
    questionnaire: Questionnaire, assignment: Assignment
) -> None:
    before, copy = contents(answer(assignment)), task_answers(assignment)
    Rating.objects.all().delete()
    Response.objects.update(answer="", is_correct=None, active_seconds=0)
    Assignment.objects.update(saved_at=None, answer_xml=answer_xml(copy))
    opened = Assignment.objects.get()
    orders = [r.shown for r in opened.responses.all()]
    assert recover(opened, questionnaire=questionnaire) is True
    assert contents(opened) == before
    assert [r.shown for r in opened.responses.all()] == orders


def test_a_worker_we_never_saw_is_recovered(questionnaire: Questionnaire, assignment: Assignment) -> None:
    before, copy = contents(answer(assignment)), task_answers(assignment)
    Rating.objects.all().delete()
    Response.objects.all().delete()
    hit = assignment.hit
    Assignment.objects.all().delete()
    worker = Worker.objects.get()
    mirrored = Assignment.objects.create(
        hit=hit, worker=worker, assignment_id="3A", answer_xml=answer_xml(copy)
    )
    assert recover(mirrored, questionnaire=questionnaire) is True
    assert contents(mirrored) == before


def test_our_own_answers_win_over_the_copy(questionnaire: Questionnaire, assignment: Assignment) -> None:
    before = contents(answer(assignment))
    Assignment.objects.update(answer_xml="not even xml")
    assert recover(Assignment.objects.get(), questionnaire=questionnaire) is False
    assert contents(assignment) == before


def test_recovering_twice_changes_nothing(questionnaire: Questionnaire, assignment: Assignment) -> None:
    answer(assignment)
    lost = forget_answers(assignment, task_answers(assignment))
    recover(lost, questionnaire=questionnaire)
    before = contents(lost)
    assert recover(lost, questionnaire=questionnaire) is False
    assert recover(Assignment.objects.get(), questionnaire=questionnaire) is False
    assert contents(lost) == before


def test_the_copy_is_ascii_and_tells_no_system_and_no_gold(assignment: Assignment) -> None:
    copy = task_answers(answer(assignment))
    assert copy.isascii()
    assert [word for word in ("model", "ground_truth", "gold", 'correct"', "item-") if word in copy] == []
    assert set(json.loads(copy)[0]) == {"position", "answer", "outputs", "item", "seconds", "preference"}


@pytest.mark.parametrize("n_items", [1, 12])
def test_queries_of_the_copy_dont_grow(n_items: int, django_assert_num_queries: Any) -> None:
    assignment = answer(open_for(make_published(n_items=n_items)))
    with django_assert_num_queries(3):
        task_answers(assignment)


def refused(assignment: Assignment, questionnaire: Questionnaire, document: str) -> str:
    """The sentence a copy is refused with, after looking that nothing was written."""
    Assignment.objects.update(answer_xml=document)
    with pytest.raises(IncompleteAnswers) as caught:
        recover(Assignment.objects.get(), questionnaire=questionnaire)
    assert Assignment.objects.get().saved_at is None
    assert (Response.objects.count(), Rating.objects.count()) == (0, 0)
    return str(caught.value)


@pytest.fixture
def complete(assignment: Assignment) -> list[dict[str, Any]]:
    """The copy of complete answers; the rows they came from are lost."""
    copy = task_answers(answer(assignment))
    forget_answers(assignment, copy)
    data: list[dict[str, Any]] = json.loads(copy)
    return data


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ("", "The answer document is not XML"),
        ("<a>\x01</a>", "The answer document is not XML"),
        ("<!DOCTYPE a><a/>", "The answer document declares a DOCTYPE"),
        (answer_xml(""), "The marketplace's copy has no readable taskAnswers."),
        (answer_xml("{"), "The marketplace's copy has no readable taskAnswers."),
        (answer_xml("[" * 100_000), "The marketplace's copy has no readable taskAnswers."),
        (answer_xml("[" + "9" * 5000 + "]"), "The marketplace's copy has no readable taskAnswers."),
        (answer_xml("{}"), "taskAnswers is not a list of answers."),
        (answer_xml("null"), "taskAnswers is not a list of answers."),
        (answer_xml("[1, 2]"), "taskAnswers is not a list of answers."),
        (answer_xml('[["position", 1]]'), "taskAnswers is not a list of answers."),
        (answer_xml("[]"), "The marketplace's copy does not answer every question."),
        (answer_xml("[{}]"), "The marketplace's copy lacks a field."),
        (
            "<a><Answer><FreeText>yes</FreeText></Answer></a>",
            "The marketplace's copy has no readable taskAnswers.",
        ),
    ],
)
def test_an_unreadable_copy_is_refused(
    questionnaire: Questionnaire, assignment: Assignment, document: str, sentence: str
) -> None:
    Response.objects.all().delete()
    assert refused(assignment, questionnaire, document).startswith(sentence)


ODD: list[Any] = [
    None,
    True,
    0,
    1.5,
    "",
    "x",
    "\x00",
    "\ud800",
    "😀" * 9000,
    [],
    {},
    [[]],
    [{}],
    {"a": {}},
    float("inf"),
]


@pytest.mark.parametrize("key", ["position", "answer", "outputs", "item", "preference", "seconds"])
def test_a_missing_field_is_refused(
    questionnaire: Questionnaire, assignment: Assignment, complete: list[dict[str, Any]], key: str
) -> None:
    del complete[2][key]
    assert refused(assignment, questionnaire, answer_xml(complete)) == "The marketplace's copy lacks a field."


@pytest.mark.parametrize("key", ["position", "answer", "outputs"])
@pytest.mark.parametrize("odd", ODD, ids=lambda value: repr(value)[:12])
def test_an_odd_value_never_raises_anything_else(
    questionnaire: Questionnaire, assignment: Assignment, complete: list[dict[str, Any]], key: str, odd: Any
) -> None:
    complete[2][key] = odd
    refused(assignment, questionnaire, answer_xml(complete))


@pytest.mark.parametrize("key", ["justifies", "shortcomings"])
@pytest.mark.parametrize("odd", ODD, ids=lambda value: repr(value)[:12])
def test_an_odd_rating_never_raises_anything_else(
    questionnaire: Questionnaire, assignment: Assignment, complete: list[dict[str, Any]], key: str, odd: Any
) -> None:
    code = next(iter(complete[2]["outputs"]))
    complete[2]["outputs"][code][key] = odd
    label = VQAX.criterion(key).label
    expected = f"Question 3: {label!r} is not answered."
    assert refused(assignment, questionnaire, answer_xml(complete)) == expected


@pytest.mark.parametrize(
    "ticked", [["none", "confusing_sentence"], ["none", {}], [{"a": 1}], ["none", "x"], "none"]
)
def test_a_contradictory_checklist_is_refused(
    questionnaire: Questionnaire, assignment: Assignment, complete: list[dict[str, Any]], ticked: Any
) -> None:
    code = next(iter(complete[0]["outputs"]))
    complete[0]["outputs"][code]["shortcomings"] = ticked
    assert refused(assignment, questionnaire, answer_xml(complete)).startswith("Question 1: ")


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -5, "7", 1e300, True])
def test_odd_seconds_are_brought_within_bounds(
    questionnaire: Questionnaire, assignment: Assignment, complete: list[dict[str, Any]], seconds: Any
) -> None:
    complete[0]["seconds"] = seconds
    Assignment.objects.update(answer_xml=answer_xml(complete))
    assert recover(Assignment.objects.get(), questionnaire=questionnaire) is True
    assert 0 <= first(assignment).active_seconds <= SECONDS_MAX


def test_a_question_answered_twice_or_not_at_all_is_refused(
    questionnaire: Questionnaire, assignment: Assignment, complete: list[dict[str, Any]]
) -> None:
    sentence = "The marketplace's copy does not answer every question."
    for entries in (complete[:4], [*complete, complete[0]], [*complete[:4], complete[0]]):
        assert refused(assignment, questionnaire, answer_xml(entries)) == sentence


def test_another_items_outputs_are_refused(
    questionnaire: Questionnaire, assignment: Assignment, complete: list[dict[str, Any]]
) -> None:
    complete[0]["outputs"] = complete[1]["outputs"]
    expected = "Question 1: its outputs are not this item's."
    assert refused(assignment, questionnaire, answer_xml(complete)) == expected


def test_an_answer_or_preference_not_offered_is_refused(
    questionnaire: Questionnaire, assignment: Assignment, complete: list[dict[str, Any]]
) -> None:
    answered = json.loads(json.dumps(complete))
    answered[0]["answer"] = "perhaps"
    assert (
        refused(assignment, questionnaire, answer_xml(answered))
        == "Question 1: 'perhaps' is not one of the answers."
    )
    complete[0]["preference"] = "perhaps"
    expected = "Question 1: the preferred output is not this item's."
    assert refused(assignment, questionnaire, answer_xml(complete)) == expected


def test_an_incomplete_copy_keeps_rows_and_drafts(
    questionnaire: Questionnaire, assignment: Assignment
) -> None:
    draft(assignment, {"answer": "no"}, version=1)
    Assignment.objects.update(answer_xml=answer_xml("[]"))
    with pytest.raises(IncompleteAnswers):
        recover(Assignment.objects.get(), questionnaire=questionnaire)
    assert (first(assignment).draft, assignment.responses.count()) == ({"answer": "no"}, 5)


def test_a_worker_who_answered_the_items_elsewhere_is_not_recovered(
    questionnaire: Questionnaire, assignment: Assignment
) -> None:
    """Somebody who has seen the items takes a sibling HIT and posts straight to the marketplace."""
    answer(assignment)
    copy = task_answers(assignment)
    items = list(questionnaire.items.all())
    sibling = make_questionnaire(questionnaire.batch, items=items, hit=make_hit(), sibling_of=questionnaire)
    assert sibling.hit is not None
    posted = Assignment.objects.create(
        hit=sibling.hit, worker=assignment.worker, assignment_id="3B", answer_xml=answer_xml(copy)
    )
    with pytest.raises(IncompleteAnswers, match="worked on these questions in another HIT"):
        recover(posted, questionnaire=sibling)
    posted.refresh_from_db()
    assert (posted.saved_at, posted.responses.count()) == (None, 0)


ABOUT_ITEM = (
    Criterion(
        "clear", "Clear?", (Choice("other", "Other", 0.25), Choice("preferred", "Ok", 1.0)), per_output=False
    ),
    Criterion("seen", "Seen?", (Choice("a", "A"), Choice("b", "B")), per_output=False, is_checklist=True),
)


def test_criteria_about_the_item_survive_the_copy() -> None:
    """Values named like a preference's are a scale's own all the same."""
    definition = replace(VQAX, criteria=(*VQAX.criteria, *ABOUT_ITEM))
    survey = make_survey(n_items=2)
    batch = make_batch(survey, snapshot=definition.to_snapshot())
    questionnaire = make_questionnaire(batch, items=list(survey.items.all()), hit=make_hit())
    assignment = open_for(questionnaire, worker="AWORKER")
    values = [("other", ["b"]), ("preferred", ["a", "b"])]
    given = [
        replace(a, item_ratings={"clear": clear, "seen": seen})
        for a, (clear, seen) in zip(answers_for(assignment), values, strict=True)
    ]
    save_answers(assignment, answers=given)
    about_item = [row for row in ratings_of(first(assignment)) if row[0] is None]
    assert about_item == [
        (None, "clear", "other", 0.25),
        (None, "seen.a", "not_selected", 0.0),
        (None, "seen.b", "selected", 1.0),
    ]
    before, copy = contents(assignment), task_answers(assignment)
    lost = forget_answers(assignment, copy)
    assert recover(lost, questionnaire=questionnaire) is True
    assert contents(lost) == before


def test_one_output_no_answer_no_preference_survive_the_copy() -> None:
    definition = replace(VQAX, answer=None, preference=None, outputs_per_item=1)
    survey = make_survey()
    make_item(survey, choices=(), gold="", systems=("model",))
    batch = make_batch(survey, snapshot=definition.to_snapshot())
    questionnaire = make_questionnaire(batch, items=list(survey.items.all()), hit=make_hit())
    assignment = open_for(questionnaire, worker="AWORKER")
    code = Output.objects.get().code
    ratings: Any = {code: {"justifies": "no", "shortcomings": ["none"]}}
    save_answers(assignment, answers=[ItemAnswer(position=1, ratings=ratings)])
    before, copy = contents(assignment), task_answers(assignment)
    lost = forget_answers(assignment, copy)
    tampered = [{**json.loads(copy)[0], "answer": "anything"}]
    assert "is not one of the answers" in refused(lost, questionnaire, answer_xml(tampered))
    lost = forget_answers(lost, copy)
    assert recover(lost, questionnaire=questionnaire) is True
    assert contents(lost) == before


def test_the_copy_goes_through_the_marketplaces_document(assignment: Assignment) -> None:
    copy = task_answers(answer(assignment))
    assert parse_answers(answer_xml(copy, nonce=str(assignment.nonce))) == {
        "taskAnswers": copy,
        "nonce": str(assignment.nonce),
    }
