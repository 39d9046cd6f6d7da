import io

import pytest

from surveys.rehearsal.course import turns
from surveys.rehearsal.waiting import Bar, Patience, Stalled
from surveys.simulating.people import Kind, cast, stand_in
from tests.surveys.rehearsal.rehearsal_items import person

IDENTITIES = [(f"A{n:03}", f"CODE{n}") for n in range(25)]
PEOPLE = [person(Kind.DILIGENT, worker_id=f"A{n}", activity=1.0 + n) for n in range(6)]


def plan(wanted, *, done=None, seed=7, round_number=1):
    return turns(wanted, people=PEOPLE, done=done or {}, seed=seed, round_number=round_number)


def test_twenty_five_workers_include_every_kind():
    assert {one.kind for one in cast(IDENTITIES, seed=7)} == set(Kind)


def test_more_workers_leave_the_first_ones_as_they_are():
    assert cast(IDENTITIES, seed=7)[:10] == cast(IDENTITIES[:10], seed=7)


def test_another_seed_casts_other_characters():
    assert cast(IDENTITIES, seed=7) != cast(IDENTITIES, seed=8)


def test_who_is_called_in_late_is_diligent():
    assert stand_in("A9", "CODE", seed=7).kind == Kind.DILIGENT


def test_every_place_is_filled_and_nobody_comes_twice():
    planned, missing = plan({1: 5, 2: 3})
    assert missing == 0
    assert [turn.position for turn in planned] == [1] * 5 + [2] * 3
    for position in (1, 2):
        workers = [turn.person.worker_id for turn in planned if turn.position == position]
        assert len(set(workers)) == len(workers)


def test_who_had_a_go_gets_no_other():
    planned, missing = plan({1: 5}, done={1: {"A0", "A1"}})
    assert {turn.person.worker_id for turn in planned} == {"A2", "A3", "A4", "A5"}
    assert missing == 1


def test_the_plan_follows_from_the_seed_and_the_round():
    assert plan({1: 3, 2: 3}) == plan({2: 3, 1: 3})
    assert plan({1: 3, 2: 3}) != plan({1: 3, 2: 3}, seed=8)
    assert plan({1: 3, 2: 3}) != plan({1: 3, 2: 3}, round_number=2)


def test_the_active_get_more_of_the_work():
    firsts = [plan({1: 1}, seed=seed)[0][0].person.worker_id for seed in range(300)]
    assert firsts.count("A5") > firsts.count("A0")


def test_patience_ends_with_what_is_waited_for():
    patience = Patience(0.0, watch=lambda: None)
    with pytest.raises(Stalled, match=r"Not finished after 0 s\. Waiting: two HITs"):
        patience.wait(lambda: 0, total=2, bar=Bar(io.StringIO(), "Working"), what=lambda: "two HITs")


def test_patience_notices_a_dead_process_first():
    def watch():
        raise RuntimeError("the worker ended")

    with pytest.raises(RuntimeError, match="the worker ended"):
        Patience(0.0, watch=watch).check(lambda: "nothing")


def test_a_bar_in_a_file_is_one_line():
    stream = io.StringIO()
    bar = Bar(stream, "Publishing")
    for done in (0, 1, 2, 2):
        bar.show(done, of=2)
    assert stream.getvalue() == "Publishing               " + "█" * 28 + " 2 of 2\n"


def test_a_bar_with_nothing_to_do_is_full():
    stream = io.StringIO()
    Bar(stream, "Publishing").show(0, of=0)
    assert stream.getvalue().endswith(" 0 of 0\n")
