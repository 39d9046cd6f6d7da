import dataclasses

import pytest

from surveys.simulating.people import Kind, answers_for, forgets, seconds_for
from surveys.simulating.views import UnexpectedPage
from tests.surveys.rehearsal.rehearsal_items import FLAWS, item, knowledge, person

ORDERED = item()
TURNED = item(codes=("bb02", "aa01"), answers=("yes", "no", "maybe"))


def answers(kind, *, view=ORDERED, seed=7, worker_id="A1", competence=1.0):
    worker = person(kind, worker_id=worker_id, competence=competence)
    return answers_for(view, person=worker, knowledge=knowledge(), seed=seed)


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind != Kind.STRAIGHT_LINER])
def test_the_same_answers_whatever_the_order_shown(kind):
    assert answers(kind) == answers(kind, view=TURNED)


@pytest.mark.parametrize("kind", list(Kind))
def test_every_question_is_answered_with_an_option_of_it(kind):
    given = answers(kind)
    options = {group.name: {option.value for option in group.options} for group in ORDERED.all_groups()}
    assert given.keys() == options.keys()
    for name, value in given.items():
        assert set([value] if isinstance(value, str) else value) <= options[name]


@pytest.mark.parametrize("seed", range(20))
def test_none_is_never_ticked_with_a_shortcoming(seed):
    for kind in Kind:
        for name, value in answers(kind, seed=seed).items():
            if name.endswith("shortcomings"):
                assert value == ["none"] or (value and "none" not in value)


def test_a_straight_liner_takes_what_is_shown_first():
    assert answers(Kind.STRAIGHT_LINER, view=TURNED) == {
        "i1-answer": "yes",
        "i1-preference": "bb02",
        "i1-aa01-justifies": "yes",
        "i1-aa01-shortcomings": ["incorrect_description"],
        "i1-bb02-justifies": "yes",
        "i1-bb02-shortcomings": ["incorrect_description"],
    }


def test_competence_is_the_chance_of_the_right_answer():
    assert {answers(Kind.DILIGENT, seed=seed)["i1-answer"] for seed in range(20)} == {"yes"}
    wrong = {answers(Kind.DILIGENT, seed=seed, competence=0.0)["i1-answer"] for seed in range(20)}
    assert wrong == {"no", "maybe"}


def test_seed_and_worker_make_a_difference():
    by_seed = [tuple(map(str, answers(Kind.RANDOM, seed=seed).values())) for seed in range(10)]
    by_worker = [tuple(map(str, answers(Kind.RANDOM, worker_id=f"A{n}").values())) for n in range(10)]
    assert len(set(by_seed)) > 1
    assert len(set(by_worker)) > 1


def test_a_low_opinion_names_shortcomings_and_a_high_one_none():
    for seed in range(30):
        given = answers(Kind.DILIGENT, seed=seed)
        for code in ("aa01", "bb02"):
            if given[f"i1-{code}-justifies"] == "yes":
                assert given[f"i1-{code}-shortcomings"] == ["none"]
            if given[f"i1-{code}-justifies"] == "no":
                assert "none" not in given[f"i1-{code}-shortcomings"]


def test_a_checklist_that_may_stay_empty_does_for_whoever_finds_nothing():
    view = ORDERED
    for seed in range(30):
        bare = [dataclasses.replace(o, groups=tuple(map(optional, o.groups))) for o in ORDERED.outputs]
        given = answers(Kind.DILIGENT, view=dataclasses.replace(view, outputs=tuple(bare)), seed=seed)
        for code in ("aa01", "bb02"):
            is_empty = given[f"i1-{code}-shortcomings"] == []
            assert is_empty or given[f"i1-{code}-justifies"] != "yes"
            assert not is_empty or given[f"i1-{code}-justifies"] != "no"


def optional(group):
    """Return a checklist with its shortcomings only, none of which has to be ticked."""
    return dataclasses.replace(group, options=FLAWS[:-1], is_optional=True) if group.is_checklist else group


def test_an_item_that_is_not_in_the_file_is_noticed():
    with pytest.raises(UnexpectedPage, match="not in the file"):
        answers(Kind.DILIGENT, view=dataclasses.replace(ORDERED, question="Does it snow?"))


def test_only_the_careless_forget_and_everybody_takes_time():
    seeds = range(200)
    careless = sum(forgets(ORDERED, person=person(Kind.CARELESS), seed=seed) for seed in seeds)
    assert 0 < careless < 50
    assert not any(forgets(ORDERED, person=person(Kind.DILIGENT), seed=seed) for seed in seeds)
    slow, fast = (
        sum(seconds_for(ORDERED, person=person(kind), seed=seed) for seed in seeds)
        for kind in (Kind.DILIGENT, Kind.STRAIGHT_LINER)
    )
    assert slow > fast > 0


def test_a_checklist_of_one_exclusive_choice_can_be_answered():
    view = dataclasses.replace(
        ORDERED,
        outputs=tuple(
            dataclasses.replace(
                output,
                groups=tuple(
                    dataclasses.replace(group, options=FLAWS[-1:]) if group.is_checklist else group
                    for group in output.groups
                ),
            )
            for output in ORDERED.outputs
        ),
    )
    for seed in range(10):
        assert answers(Kind.DILIGENT, view=view, seed=seed)["i1-aa01-shortcomings"] == ["none"]
