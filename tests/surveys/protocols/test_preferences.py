"""Rankings, and best and worst: what a protocol may say, what a page takes, what is stored and what comes back."""

from dataclasses import replace

import pytest

from surveys.answering.answer_copy import IncompleteAnswers, answer_as_data, answer_from_data, check
from surveys.models import Rating, Response
from surveys.pages.answering.hit_form import HitForm, draft_from
from surveys.protocols.definition import ALL, Definition, DefinitionError
from surveys.protocols.documents import read
from surveys.protocols.preferences import WAYS
from surveys.simulating.people import Kind, Person, answers_for
from surveys.simulating.seeing import answer_of, view_of
from tests.arena import PROTOCOL, make_arena
from tests.factories import open_batch, open_for, shown_items

RANKING = PROTOCOL[: PROTOCOL.index("preference:")].replace("outputs_per_item: 2", "outputs_per_item: 4") + (
    "preference: {key: better, by: ranking, label: Order them., output_label: 'Answer {n}'}\n"
    + PROTOCOL[PROTOCOL.index("instructions:") :]
)
TIED = RANKING.replace("by: ranking", "by: ranking, has_ties: true")
BEST_WORST = RANKING.replace("by: ranking", "by: best_worst, worst_label: Which is the worst?").replace(
    "outputs_per_item: 4\nis_drawn: true", "outputs_per_item: all"
)


def form_of(assignment, given) -> HitForm:
    """Return the form of a page of one item, answered by `given`: {system or part: place or system}."""
    (item,) = shown_items(assignment)
    codes = {output.system: output.code for output in Response.objects.get().item.outputs.all()}
    data = {f"i1-better-{codes.get(part, part)}": codes.get(to, to) for part, to in given.items()}
    return HitForm(data, definition=assignment.responses.get().batch.definition, items=[item])


def opened(document: str):
    (questionnaire,) = open_batch(make_arena(n_items=1, document=document, items_per_hit=1))
    return questionnaire, open_for(questionnaire)


@pytest.mark.parametrize(
    ("document", "given", "places", "scores"),
    [
        (RANKING, {"a": "2", "b": "1", "c": "4", "d": "3"}, "2143", [2, 1, 4, 3]),
        (TIED, {"a": "1", "b": "1", "c": "2", "d": "1"}, "1121", [1, 1, 2, 1]),
        (BEST_WORST, {"best": "c", "worst": "a"}, ["worst", "other", "best", "other"], [-1, 0, 1, 0]),
    ],
    ids=["ranking", "ties", "best_worst"],
)
@pytest.mark.django_db
def test_every_output_has_one_place_which_comes_back_from_either_copy(
    document, given, places, scores
) -> None:
    from surveys.answering.collection import save_answers

    questionnaire, assignment = opened(document)
    form = form_of(assignment, given)
    assert form.is_valid()
    (answer,) = form.answers()
    assert save_answers(assignment, answers=[answer])
    ratings = Rating.objects.order_by("output__system")
    assert [(r.output.system, r.value, r.score) for r in ratings] == list(
        zip("abcd", places, scores, strict=True)
    )

    data = answer_as_data(Response.objects.get(), Rating.objects.all())
    copy = answer_from_data(data)
    definition = questionnaire.batch.definition
    assert copy.preference == answer.preference
    check(copy, Response.objects.get().item, definition)
    (item,) = shown_items(assignment)
    again = HitForm(
        form.data, definition=definition, items=[replace(item, draft=draft_from(copy, definition))]
    )
    assert {name: value for name, value in again.initial.items() if name != "comment"} == dict(form.data)


@pytest.mark.parametrize(
    ("document", "given", "wrong"),
    [
        (RANKING, {"a": "1", "b": "1", "c": "3", "d": "4"}, "Another one has this place already."),
        (RANKING, {"a": "1", "b": "2", "c": "3"}, "Choose one."),
        (RANKING, {"a": "1", "b": "2", "c": "3", "d": "5"}, "Choose one of the choices shown."),
        (BEST_WORST, {"best": "c", "worst": "c"}, "The best one can’t be the worst as well."),
    ],
    ids=["twice", "missing", "beyond", "both"],
)
@pytest.mark.django_db
def test_a_page_says_which_place_is_wrong(document, given, wrong) -> None:
    _, assignment = opened(document)
    form = form_of(assignment, given)
    assert not form.is_valid()
    messages = [error.messages[0] for errors in form.errors.values() for error in errors.as_data()]
    assert [message[: len(wrong)] for message in messages] == [wrong]


@pytest.mark.django_db
def test_no_copy_of_unsound_places_is_taken() -> None:
    questionnaire, _ = opened(RANKING)
    item = Response.objects.get().item
    codes = [output.code for output in item.outputs.all()]
    data = answer_as_data(Response.objects.get(), Rating.objects.all())
    sound = dict(zip(codes, "1234", strict=True))
    check(answer_from_data({**data, "preference": sound}), item, questionnaire.batch.definition)
    for unsound in ({}, "", codes[0], sound | {codes[0]: "2"}, sound | {"x": "1"}, sound | {codes[0]: "9"}):
        with pytest.raises(IncompleteAnswers):
            check(answer_from_data({**data, "preference": unsound}), item, questionnaire.batch.definition)


def test_a_snapshot_from_before_is_the_same_definition() -> None:
    definition = read(PROTOCOL, name="arena.yaml")
    data = definition.to_snapshot()
    assert set(data["preference"]) == {"key", "label", "output_label", "none_label", "is_none_between"}
    for one in (
        definition,
        read(RANKING, name="r.yaml"),
        read(TIED, name="t.yaml"),
        read(BEST_WORST, name="b.yaml"),
    ):
        assert Definition.from_snapshot(one.to_snapshot()) == one


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"by": "ranking", "none_label": "None"}, "only a choice can be of none."),
        ({"has_ties": True}, "only in a ranking several share a place."),
        ({"worst_label": "Worst?"}, "the worst is asked for where it is by best_worst, and there alone."),
        (
            {"by": "best_worst", "none_label": "", "worst_label": "Worst?"},
            "it is of 3 to 100 outputs, not of 2.",
        ),
    ],
    ids=["none", "ties", "worst", "two"],
)
def test_what_contradicts_itself_is_refused(changed, sentence) -> None:
    definition = read(PROTOCOL, name="arena.yaml")
    preference = replace(definition.preference, is_none_between=False, **changed)
    with pytest.raises(DefinitionError) as refused:
        replace(definition, preference=preference)
    assert sentence in [problem.sentence for problem in refused.value.problems]


def test_how_many_outputs_an_item_needs() -> None:
    arena = read(PROTOCOL, name="arena.yaml")
    whole = replace(read(RANKING, name="r.yaml"), outputs_per_item=ALL, is_drawn=False)
    assert [arena.why_no_outputs(n) for n in (1, 2, 12)] == ["2 or more", "", ""]
    assert [whole.why_no_outputs(n) for n in (1, 2, 9, 10)] == ["2 to 9", "", "", "2 to 9"]


def test_places_imply_comparisons() -> None:
    levels = {by: way.level for by, way in WAYS.items()}
    assert levels["ranking"]("1") > levels["ranking"]("2")
    assert levels["best_worst"]("best") > levels["best_worst"]("other") > levels["best_worst"]("worst")
    tied = {by: way.is_tied(way.level("2" if by == "ranking" else "other")) for by, way in WAYS.items()}
    assert tied == {"choice": False, "ranking": True, "best_worst": False}


class Unknown:
    """Nobody knows a right answer, as there is none."""

    def right_answer(self, item) -> str:
        return ""

    def whole_key(self, item) -> str:
        return item.key


@pytest.mark.parametrize(
    "document", [PROTOCOL, RANKING, TIED, BEST_WORST], ids=["choice", "ranking", "ties", "best"]
)
@pytest.mark.django_db
def test_simulated_people_of_every_kind_give_sound_places(document) -> None:
    questionnaire, assignment = opened(document)
    definition = questionnaire.batch.definition
    (item,), response = shown_items(assignment), Response.objects.get()
    codes = {output.code for output in response.shown_outputs}
    for kind in Kind:
        person = Person("A1", "", kind, competence=0.9, activity=1.0)
        answers = answers_for(view_of(item, definition), person=person, knowledge=Unknown(), seed=1)
        answer = answer_of(item, answers, definition=definition, seconds=3.0)
        check(answer, response.item, definition, codes=codes)
