import pytest

from surveys.policies import MinimumCorrect, NeverReject, PolicyError, Verdict, read_policy

THREE_OF_FIVE = {"kind": "minimum_correct", "minimum": 3, "out_of": 5}


def answers(n_correct: int, *, of: int = 5, ungraded: int = 0) -> list[bool | None]:
    return [True] * n_correct + [False] * (of - n_correct - ungraded) + [None] * ungraded


@pytest.mark.parametrize("n_correct", [0, 1, 2])
def test_fewer_than_three_of_five_is_rejected_with_the_count(n_correct: int) -> None:
    assert MinimumCorrect(3, 5).decide(answers(n_correct)) == Verdict(
        "reject",
        f"You answered {n_correct} of 5 questions correctly; at least 3 are needed.",
        n_correct,
        5,
    )


@pytest.mark.parametrize("n_correct", [3, 4, 5])
def test_three_of_five_is_approved(n_correct: int) -> None:
    assert MinimumCorrect(3, 5).decide(answers(n_correct)) == Verdict("approve", "", n_correct, 5)


def test_flag_only_flags_where_the_rule_would_reject() -> None:
    policy = read_policy({**THREE_OF_FIVE, "kind": "flag_only"}, items_per_hit=5)
    assert policy.decide(answers(2)).verdict == "flag"
    assert (
        policy.decide(answers(2)).reason == "You answered 2 of 5 questions correctly; at least 3 are needed."
    )
    assert policy.decide(answers(3)).verdict == "approve"


@pytest.mark.parametrize("n_correct", [0, 5])
def test_never_approves_everything(n_correct: int) -> None:
    policy = read_policy({"kind": "never"}, items_per_hit=5)
    assert policy == NeverReject()
    assert policy.decide(answers(n_correct)) == Verdict("approve", "", n_correct, 5)


def test_what_cant_be_graded_waits_for_a_person() -> None:
    assert MinimumCorrect(3, 5).decide(answers(2, ungraded=1)) == Verdict(
        "flag", "4 of 5 answers could be graded; the rule needs 5.", 2, 4
    )
    assert MinimumCorrect(3, 5).decide(answers(2, of=2)).verdict == "flag"


def test_a_policy_is_read_from_its_data() -> None:
    assert read_policy(THREE_OF_FIVE, items_per_hit=5) == MinimumCorrect(3, 5)
    assert read_policy({**THREE_OF_FIVE, "kind": "flag_only"}, items_per_hit=5) == MinimumCorrect(
        3, 5, below="flag"
    )


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({}, "Unknown review policy None."),
        ({"kind": "random"}, "Unknown review policy 'random'."),
        ({**THREE_OF_FIVE, "minimum": 0}, "At least 0 of 5 right can't be asked for."),
        ({**THREE_OF_FIVE, "minimum": 6}, "At least 6 of 5 right can't be asked for."),
        ({**THREE_OF_FIVE, "out_of": 4}, "The policy counts 4 answers, but a HIT has 5."),
        ({"kind": "flag_only", "out_of": 5}, "The review policy needs a whole number called 'minimum'."),
        ({**THREE_OF_FIVE, "minimum": None}, "The review policy needs a whole number called 'minimum'."),
        ({**THREE_OF_FIVE, "out_of": "many"}, "The review policy needs a whole number called 'out_of'."),
    ],
)
def test_a_policy_that_cant_hold_is_refused(data: dict[str, object], sentence: str) -> None:
    with pytest.raises(PolicyError) as caught:
        read_policy(data, items_per_hit=5)
    assert str(caught.value) == sentence
