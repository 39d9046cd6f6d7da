"""Policies as data: what is read, what is refused, and how rules combine."""

from typing import Any

import pytest

from surveys.protocols.policy import (
    can_reject,
    cap,
    in_words,
    judges,
    needs_gold,
    parse,
    read_policy,
    rule_data,
    rule_version,
    told,
)
from surveys.protocols.rules import Evidence, Flag, PolicyError, Verdict
from tests.policy_data import FLAG_ONLY, NEVER, THREE_OF_FIVE, at_least, policy_of

TOO_FEW = "You answered {} of 5 questions correctly; at least 3 are needed."


def answers(n_correct: int, *, of: int = 5, ungraded: int = 0) -> Evidence:
    wrong = [False] * (of - n_correct - ungraded)
    return Evidence(is_correct=(*[True] * n_correct, *wrong, *[None] * ungraded))


def judged(data: dict[str, Any], evidence: Evidence) -> Verdict:
    return read_policy(data, items_per_hit=5).judge(evidence)


@pytest.mark.parametrize("n_correct", [0, 1, 2])
def test_fewer_than_three_of_five_is_rejected_with_the_count(n_correct: int) -> None:
    sentence = TOO_FEW.format(n_correct)
    expected = Verdict("reject", sentence, n_correct, 5, (Flag("minimum_correct", sentence),))
    assert judged(THREE_OF_FIVE, answers(n_correct)) == expected


@pytest.mark.parametrize("n_correct", [3, 4, 5])
def test_three_of_five_is_approved(n_correct: int) -> None:
    assert judged(THREE_OF_FIVE, answers(n_correct)) == Verdict("approve", "", n_correct, 5)


def test_a_rule_that_is_not_enough_alone_flags() -> None:
    sentence = TOO_FEW.format(2)
    flagged = judged(FLAG_ONLY, answers(2))
    assert flagged == Verdict("flag", sentence, 2, 5, (Flag("minimum_correct", sentence),))
    assert judged(FLAG_ONLY, answers(3)) == Verdict("approve", "", 3, 5)


@pytest.mark.parametrize("n_correct", [0, 5])
def test_without_rules_everything_is_approved(n_correct: int) -> None:
    assert judged(NEVER, answers(n_correct)) == Verdict("approve", "", n_correct, 5)


@pytest.mark.parametrize(
    ("evidence", "n_correct", "n_graded", "n_items"),
    [(answers(2, ungraded=1), 2, 4, 5), (answers(2, of=2), 2, 2, 2), (answers(0, of=0), 0, 0, 0)],
)
def test_what_cant_be_graded_waits_for_a_person(evidence, n_correct, n_graded, n_items) -> None:
    sentence = f"{n_graded} of {n_items} answers could be graded; the rule needs 5."
    flag = Flag("minimum_correct", sentence, is_hit=False)
    assert judged(THREE_OF_FIVE, evidence) == Verdict("flag", sentence, n_correct, n_graded, (flag,))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({}, "A review policy is made of 'rules', a list, and 'reject_at'."),
        ({"rules": {}, "reject_at": 2}, "A review policy is made of 'rules', a list, and 'reject_at'."),
        ({**NEVER, "kind": "never"}, "A review policy is made of 'rules', a list, and 'reject_at'."),
        (policy_of({"kind": "random"}), "Unknown rule 'random'."),
        (policy_of({}), "Unknown rule None."),
        ({"rules": ["too_fast"], "reject_at": 2}, "Unknown rule 'too_fast'."),
        (at_least(0, 5), "The rule 'minimum_correct': at least 0 of 5 right can't be asked for."),
        (at_least(6, 5), "The rule 'minimum_correct': at least 6 of 5 right can't be asked for."),
        (at_least(3, 4), "The rule 'minimum_correct': it counts 4 answers, but a HIT has 5."),
        (policy_of({"kind": "minimum_correct", "out_of": 5}), "The rule 'minimum_correct': it needs 'minimum'."),
        (
            policy_of({"kind": "minimum_correct", "minimum": None, "out_of": 5}),
            "The rule 'minimum_correct': 'minimum' must be a whole number.",
        ),
        (
            policy_of({"kind": "minimum_correct", "minimum": True, "out_of": 5}),
            "The rule 'minimum_correct': 'minimum' must be a whole number.",
        ),
        (
            policy_of({"kind": "minimum_correct", "minimum": 2.5, "out_of": 5}),
            "The rule 'minimum_correct': 'minimum' must be a whole number.",
        ),
        (
            policy_of({"kind": "minimum_correct", "minimum": 3, "out_of": 5, "rejects_alone": 1}),
            "The rule 'minimum_correct': 'rejects_alone' must be true or false.",
        ),
        (
            policy_of({"kind": "minimum_correct", "minimum": 3, "out_of": 5, "below": "reject"}),
            "The rule 'minimum_correct': it knows no 'below'.",
        ),
        (
            policy_of(*THREE_OF_FIVE["rules"], *FLAG_ONLY["rules"]),
            "The rule 'minimum_correct': it stands there twice.",
        ),
        ({**THREE_OF_FIVE, "reject_at": 1}, "'reject_at' is a whole number from 2, or null."),
        ({**THREE_OF_FIVE, "reject_at": True}, "'reject_at' is a whole number from 2, or null."),
        ({**THREE_OF_FIVE, "reject_at": "2"}, "'reject_at' is a whole number from 2, or null."),
    ],
)  # fmt: skip
def test_a_policy_that_cant_hold_is_refused(data: dict[str, Any], sentence: str) -> None:
    with pytest.raises(PolicyError) as caught:
        read_policy(data, items_per_hit=5)
    assert str(caught.value) == sentence


def test_a_version_names_what_the_policy_says_not_how_it_is_written() -> None:
    assert rule_version(NEVER) == "1:c135cb8e1319"
    turned = {"reject_at": 2, "rules": [dict(reversed(THREE_OF_FIVE["rules"][0].items()))]}
    assert rule_version(turned) == rule_version(THREE_OF_FIVE)
    assert len({rule_version(data) for data in (NEVER, THREE_OF_FIVE, FLAG_ONLY, at_least(2, 5))}) == 4


def test_what_others_ask_about_a_policy() -> None:
    assert rule_data(THREE_OF_FIVE, "minimum_correct")["minimum"] == 3
    assert rule_data(NEVER, "minimum_correct") == {}
    assert [judges(data) for data in (NEVER, FLAG_ONLY, THREE_OF_FIVE)] == [False, True, True]
    assert [needs_gold(data) for data in (NEVER, FLAG_ONLY, THREE_OF_FIVE)] == [False, True, True]
    assert [can_reject(data) for data in ({}, NEVER, FLAG_ONLY, THREE_OF_FIVE)] == [False, False, False, True]


def test_policies_are_said_in_words() -> None:
    assert in_words(parse(NEVER)) == "Never reject: everybody who submits is paid."
    assert in_words(parse(THREE_OF_FIVE)) == "Proposed for rejection: fewer than 3 of 5 answers right."
    assert in_words(parse(FLAG_ONLY)) == "Flagged for a person: fewer than 3 of 5 answers right."


def test_all_rules_are_said_in_words() -> None:
    kinds = (
        "difficulty_adjusted",
        "too_fast",
        "straight_lining",
        "agreement",
        "planted_checks",
        "worker_cap",
    )
    policy = parse(policy_of(*THREE_OF_FIVE["rules"], *({"kind": kind} for kind in kinds)))
    assert in_words(policy) == (
        "Proposed for rejection: fewer than 3 of 5 answers right. "
        "Flagged for a person: right answers more than 2.5 deviations below what others reach on the same items; "
        "less active time than reading takes, or less than the median divided by 3; "
        "the same rating everywhere, with 8 ratings or more; "
        "ratings that correlate less than 0.1 with everybody else’s; 2 or more planted checks failed. "
        "Two of these together propose a rejection. One worker may do at most 10% of the batch."
    )
    assert told(policy, is_automatic=False) == (
        "An assignment with fewer than 3 of 5 right answers may be rejected, after a person has looked at it. "
        "A person looks at an assignment by somebody with far fewer right answers than other people have on the same "
        "questions, or finished faster than it can be read, or with the same rating everywhere, or by somebody whose "
        "ratings have nothing in common with everybody else’s, or by somebody who failed the attention checks among "
        "the questions before it is paid. An opinion that others don’t share is never enough to reject. "
        "One person may do at most 10% of these HITs."
    )


def test_a_share_judges_nobodys_work() -> None:
    capped = policy_of({"kind": "worker_cap"}, reject_at=None)
    assert (judges(capped), can_reject(capped), cap(capped), cap(NEVER)) == (False, False, 0.1, None)
    assert in_words(parse(capped)) == (
        "Never reject: everybody who submits is paid. One worker may do at most 10% of the batch."
    )


def test_who_came_by_a_personal_link_is_told_no_share_as_none_holds_for_them() -> None:
    capped = parse(policy_of(*THREE_OF_FIVE["rules"], {"kind": "worker_cap"}))
    share = " One person may do at most 10% of these HITs."
    assert told(capped, is_automatic=True) == told(parse(THREE_OF_FIVE), is_automatic=True) + share
    assert told(capped, is_automatic=True, is_named=True) == told(parse(THREE_OF_FIVE), is_automatic=True)


def test_workers_read_what_the_rule_does_to_their_pay() -> None:
    too_few, free = (
        "with fewer than 3 of 5 right answers",
        "Your opinions about the rest are never a reason to reject.",
    )
    assert told(parse(THREE_OF_FIVE), is_automatic=True) == f"An assignment {too_few} is not paid. {free}"
    assert told(parse(THREE_OF_FIVE), is_automatic=False) == (
        f"An assignment {too_few} may be rejected, after a person has looked at it. {free}"
    )
    assert told(parse(FLAG_ONLY), is_automatic=True) == (
        f"A person looks at an assignment {too_few} before it is paid. {free}"
    )
    assert told(parse(NEVER), is_automatic=False) == (
        "Every complete assignment is paid. Your opinions are never a reason to reject."
    )
