"""Frames of surveys in which each system's output is an item of its own."""

import pytest

from surveys.models import QuizAttempt
from surveys.results.files.report import make_report
from surveys.results.frames.database import read_batch
from tests.surveys.results.rated import Rated, rated_batch, single

pytestmark = pytest.mark.django_db

ROWS = (
    Rated("8", "cst", "ann", {"clarity": "2", "trust": "4"}),
    Rated("8", "ttnet", "ann", {"clarity": "5", "trust": "4"}, channel="link"),
    Rated("9", "cst", "bob", {"clarity": "1", "trust": "3"}),
    Rated("9", "ttnet", "bob", skip_reason="too_dark"),
)


def test_items_of_several_systems_share_the_subject():
    frame = read_batch(rated_batch(ROWS))

    assert frame.systems == ("cst", "ttnet")
    assert frame.responses["item_id"].tolist() == ["8", "8", "9", "9"]
    assert frame.responses["cst.clarity"].fillna("").tolist() == ["2", "", "1", ""]
    assert frame.responses["ttnet.clarity"].fillna("").tolist() == ["", "5", "", ""]
    assert frame.about(frame.kept, system="ttnet").index.tolist() == [1, 3]


def test_each_system_has_its_own_numbers():
    kept = make_report(read_batch(rated_batch(ROWS))).summary.kept

    assert [(s.system, s.responses) for s in kept.systems] == [("cst", 2), ("ttnet", 1)]
    scores = {s.system: s.criterion("clarity").score for s in kept.systems}
    assert {name: (x.rating_mean, x.ratings, x.items) for name, x in scores.items()} == {
        "cst": (1.5, 2, 2),
        "ttnet": (5.0, 1, 1),
    }


def test_a_skip_is_no_number_and_keeps_its_reason():
    frame = read_batch(rated_batch(ROWS))
    skipped = frame.responses[frame.responses["is_skipped"]]

    assert skipped["skip_reason"].tolist() == ["too_dark"]
    assert make_report(frame).summary.counts.skipped == 1
    tidy = frame.tidy()
    assert tidy.loc[tidy["is_skipped"], ["system", "criterion", "value"]].values.tolist() == [
        ["ttnet", "skip", "too_dark"]
    ]
    assert tidy.loc[tidy["is_skipped"], "score"].isna().all()


def test_a_text_is_a_value_without_a_score():
    rows = [Rated("8", "cst", "ann", {"clarity": "2", "trust": "4", "remark": "No verb."})]
    tidy = read_batch(rated_batch(rows, definition=single(texts=True))).tidy()

    assert tidy[["criterion", "value"]].values.tolist() == [
        ["clarity", "2"],
        ["trust", "4"],
        ["remark", "No verb."],
    ]
    assert tidy["score"].fillna(0).tolist() == [2.0, 4.0, 0.0]


def test_whether_the_model_was_right_stands_beside_its_output():
    frame = read_batch(rated_batch(ROWS, model_correct={"8/cst": True, "8/ttnet": False}))

    assert frame.responses["cst.model_correct"].tolist()[:1] == [True]
    assert frame.responses["cst.model_correct"].isna().tolist() == [False, True, True, True]
    given = frame.tidy()["model_correct"]
    assert given.dropna().tolist() == [True, True, False, False]
    assert given.isna().tolist() == [False] * 4 + [True] * 3


def test_channel_and_quiz(django_assert_num_queries):
    batch = rated_batch(ROWS, uses_quiz=True)
    ann = batch.responses.get(worker__worker_id="ann", item__external_id="8/cst").worker
    QuizAttempt.objects.create(batch=batch, worker=ann, number=1, answers=[], n_right=3, is_passed=True)

    with django_assert_num_queries(8):
        rows = read_batch(batch).responses

    assert rows["quiz_passed"].tolist() == [True, True, False, False]
    assert rows["channel"].tolist() == ["marketplace", "link", "marketplace", "marketplace"]


def test_without_a_quiz_nobody_passed_or_failed():
    assert read_batch(rated_batch(ROWS)).responses["quiz_passed"].isna().all()
