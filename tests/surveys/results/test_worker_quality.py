"""What was probably meant: the published example, another program, and people made up here."""

import numpy as np
import pytest
from django.core.cache import cache

from surveys.pages.results.tables import BY_QUALITY
from surveys.protocols.registry import get_definition
from surveys.results.files.report import make_report
from surveys.results.files.report_text import report_text
from surveys.results.frames.annotations import read_annotations
from surveys.results.frames.csv_table import read_table
from surveys.results.frames.mturk_csv import read_mturk_csv
from surveys.results.frames.responses import frame_from_responses
from surveys.results.statistics.worker_quality import by_quality, dawid_skene, deserved, one_coin
from tests.protocols import ESNLIVE
from tests.surveys.pages.results.shown import results
from tests.surveys.results.published import load_published
from tests.surveys.results.score_lines import line, write_lines

# A. P. Dawid & A. M. Skene (1979), Table 1: what five anaesthetists, the first three times, said of 45 patients.
PATIENTS = (
    "111 1 1 1 1|333 4 3 3 4|112 2 1 2 2|222 3 1 2 1|222 3 2 2 2|222 3 3 2 2|122 2 1 1 1|333 3 4 3 3|222 2 2 2 3|"
    "232 2 2 2 3|444 4 4 4 4|222 3 3 4 3|111 1 1 1 1|222 3 2 1 2|121 1 1 1 1|111 2 1 1 1|111 1 1 1 1|111 1 1 1 1|"
    "222 2 2 2 1|222 1 3 2 2|222 2 2 2 2|222 2 2 2 1|222 3 2 2 2|221 2 2 2 2|111 1 1 1 1|111 1 1 1 1|232 2 2 2 2|"
    "111 1 1 1 1|111 1 1 1 1|112 1 1 2 1|111 1 1 1 1|333 3 2 3 3|111 1 1 1 1|222 2 2 2 2|222 3 2 3 2|433 4 3 4 3|"
    "221 2 2 3 2|232 3 2 3 3|333 3 4 3 2|111 1 1 1 1|111 1 1 1 1|121 2 1 1 1|232 2 2 2 2|121 1 1 1 1|222 2 2 2 2"
)


def said(patients):
    """Return patient, observer and value, from 0, of every rating."""
    rows = [
        (patient, observer, int(value) - 1)
        for patient, line in enumerate(patients.split("|"))
        for observer, values in enumerate(line.split())
        for value in values
    ]
    return (np.array(column) for column in zip(*rows, strict=True))


def test_the_published_example():
    """The paper's shares of the four are .40, .42, .11, .07; the digits are crowd-kit 1.4.2's after 3,000 steps."""
    meant = dawid_skene(*said(PATIENTS), n_labels=4)

    assert meant.mean(axis=0) == pytest.approx([0.399555, 0.421983, 0.111795, 0.066667], abs=1e-6)
    assert meant[2] == pytest.approx([0, 1, 0, 0], abs=1e-4)
    assert meant[37] == pytest.approx([0, 0.0212, 0.9788, 0], abs=1e-4)
    assert meant.sum(axis=1) == pytest.approx(np.ones(45))


def test_a_published_study(shared):
    """Of all ratings the means are .7923 and .8313; who always said yes counts for less. 93: crowd-kit 1.4.2, too."""
    frame = read_mturk_csv(shared / "data" / "ofax" / "esnlive_unifiedresults_raw.csv", definition=ESNLIVE)
    found = by_quality(frame)

    assert found.means["ground_truth"]["justifies"] == pytest.approx(0.8238, abs=1e-4)
    assert found.means["model"]["justifies"] == pytest.approx(0.7645, abs=1e-4)
    assert (found.correct.count, found.correct.total) == (93, 100)
    report = make_report(frame)
    assert report.as_data()["by_quality"]["systems"]["model"] == found.means["model"]
    assert "kept, by worker quality: likeliest answer right 93.0% (93) of items" in report_text(report)


def slopes_and_mildness(units, workers, scores):
    """Return both as the model defines them, by tables of all ratings and people at once."""
    n = workers.max() + 1
    is_by, is_of = np.eye(n)[workers], np.eye(units.max() + 1)[units]

    def mildness(weights):
        own = weights[workers][:, None]
        means = np.linalg.inv(is_of.T @ (own * is_of)) @ (own * is_of).T
        left = np.eye(len(units)) - is_of @ means
        normal = is_by.T @ (own * (left @ is_by)) + 5 * np.diag(weights)
        found = np.linalg.solve(normal, is_by.T @ (own[:, 0] * (left @ scores)))
        return found - np.average(found[workers], weights=own[:, 0])

    fair = scores - mildness(np.ones(n))[workers]
    sums, seen = [], []
    for person in range(n):
        rows = [k for k in np.flatnonzero(workers == person) if (units == units[k]).sum() > 1]
        beside = np.array([fair[(units == units[k]) & (np.arange(len(units)) != k)].mean() for k in rows])
        own = fair[rows] - fair[rows].mean() if rows else np.zeros(0)
        beside = beside - beside.mean() if rows else beside
        sums.append((own @ beside, beside @ beside))
        seen.append(max(len(rows) - 1, 0))
    (together, apart), all_seen = np.array(sums).T, sum(seen)
    usual, common = together.sum() / apart.sum(), 10 * apart.sum() / all_seen
    slopes = np.maximum((together + usual * common) / (apart + common) / usual, 0.05)
    return slopes, mildness(slopes)


def test_what_outputs_deserve_beside_tables_of_everything():
    """Some are rated once, and one person rated nothing that anybody else did."""
    rng = np.random.default_rng(8)
    units = np.concatenate([np.repeat(np.arange(30), 3), [30, 31, 32]])
    workers = np.concatenate([np.argsort(rng.random((30, 8)), axis=1)[:, :3].ravel(), [2, 8, 8]])
    scores = np.clip(np.rint(rng.normal(3, 1, 33)[units] + rng.normal(0, 0.7, len(units))), 1, 5)
    slopes, mildness = slopes_and_mildness(units, workers, scores)
    own, fair = slopes[workers], scores - mildness[workers]
    expected = [np.average(fair[units == unit], weights=own[units == unit]) for unit in range(33)]
    assert np.ptp(slopes) > 0.3
    assert deserved(units, workers, scores) == pytest.approx(expected, abs=1e-8)


def test_people_who_are_equally_good_give_plain_means():
    """Each rated all; whoever is milder is so by the same everywhere, and noise is the same but for its sign."""
    noise = np.array([[1, -1, -1, 1], [-1, 1, 1, -1]]) / 2
    scores = np.array([1.0, 2.0, 4.0, 5.0]) + noise + np.array([[0.5], [-0.5]])
    workers, units = (codes.ravel() for codes in np.indices(scores.shape))
    assert deserved(units, workers, scores.ravel()) == pytest.approx([1.0, 2.0, 4.0, 5.0])
    same = np.full(8, 3.0)
    assert deserved(units, workers, same) == pytest.approx([3.0] * 4)
    assert deserved(np.array([0]), np.array([0]), np.array([4.0])) == pytest.approx([4.0])
    alone = np.arange(4)
    assert deserved(alone, alone, np.array([1.0, 2.0, 4.0, 5.0])) == pytest.approx([1.0, 2.0, 4.0, 5.0])


def test_where_nobody_varies_but_one_nothing_breaks():
    """The others' means of whoever varies are all the same, so there is no slope on them."""
    units, workers = np.repeat(np.arange(6), 3), np.tile([0, 1, 2], 6)
    scores = np.where(workers == 0, np.tile([1.0, 5.0], 3)[units], 3.0)
    assert np.isfinite(deserved(units, workers, scores)).all()
    assert deserved(units[:3], workers[:3], scores[:3]) == pytest.approx([7 / 3])


def test_who_is_milder_does_not_favour_what_they_happened_to_rate():
    """Three mild people (+1) rated only the first half together with two others, who rated everything."""
    rng = np.random.default_rng(4)
    rows = [(u, w) for u in range(200) for w in ((0, 1, 2, 3, 4) if u < 100 else (3, 4, 5, 6, 7))]
    units, workers = (np.array(column) for column in zip(*rows, strict=True))
    scores = rng.normal(3, 1, 200)[units] + rng.normal(0, 0.7, len(units)) + np.where(workers < 3, 1.0, 0.0)
    plain = np.bincount(units, weights=scores) / np.bincount(units)
    found = deserved(units, workers, scores)
    halves = plain[:100].mean() - plain[100:].mean()
    assert halves - (found[:100].mean() - found[100:].mean()) == pytest.approx(0.6, abs=0.12)


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("says", ["anything", "3", "5"])
def test_who_follows_nothing_hides_less_of_a_difference(seed, says):
    """A third do; one system is better by one point, of which plain means show two thirds."""
    rng = np.random.default_rng(seed)
    workers = np.argsort(rng.random((400, 24)), axis=1)[:, :5].ravel()
    units = np.repeat(np.arange(400), 5)
    honest = 2.5 + (units >= 200) + rng.normal(0, 0.5, 400)[units] + rng.normal(0, 0.5, len(units))
    idle = rng.uniform(1, 5, len(units)) if says == "anything" else np.full(len(units), float(says))
    scores = np.where(workers < 8, idle, honest)
    plain, found = (
        of_units[200:].mean() - of_units[:200].mean()
        for of_units in (np.bincount(units, weights=scores) / 5, deserved(units, workers, scores))
    )
    true = (
        np.bincount(units, weights=honest)[200:].mean() / 5
        - np.bincount(units, weights=honest)[:200].mean() / 5
    )
    assert plain < 0.8 * true
    assert found == pytest.approx(true, abs=0.15)


def test_of_two_camps_neither_is_chosen_by_chance():
    """Two people see one thing and two another: following whoever is followed would lead to one of them."""
    moved = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        units, workers = np.repeat(np.arange(200), 4), np.tile([0, 1, 2, 3], 200)
        seen = rng.normal(0, 1, (2, 200)) + np.where(np.arange(200) < 100, 0.0, 0.4)
        scores = seen[workers // 2, units] + rng.normal(0, 0.5, len(units))
        found = deserved(units, workers, scores) - np.bincount(units, weights=scores) / 4
        moved.append(found[100:].mean() - found[:100].mean())
    assert np.abs(moved).max() < 0.06


def test_a_mean_by_worker_quality_stays_on_the_scale():
    """All gave `a` a 5 and everything else little: a 5 of strict people is not more than the scale has."""
    keys = [criterion.key for criterion in get_definition("xai").output_criteria]
    lines = [",".join(("assignment_id", "worker_id", "item_id", "system", *keys))]
    for person in range(6):
        for item in range(5):
            of_b = str(1 if person < 3 else 3 + item % 2)
            said = {"a": "5", "b": of_b} if person < 3 else {"b": of_b}
            lines += [
                ",".join(
                    (f"{person}-{item}-{system}", f"w{person}", f"i{item}", system, *[score] * len(keys))
                )
                for system, score in said.items()
            ]
    frame = frame_from_responses(read_table("\n".join(lines).encode()), study="s")
    found = by_quality(frame).means
    assert found["a"] == dict.fromkeys(keys, 5.0)


def test_the_order_of_rows_is_of_no_matter(shared):
    frame = read_mturk_csv(shared / "data" / "ofax" / "esnlive_unifiedresults_raw.csv", definition=ESNLIVE)
    mixed = frame.responses.sample(frac=1, random_state=1).reset_index(drop=True)
    assert by_quality(type(frame)(frame.definition, frame.systems, mixed)) == by_quality(frame)


def crowd(seed, *, n_items=300, raters=5, n_workers=30, careless=12):
    """Three answers an item; careful people are right nine times of ten, careless ones say anything."""
    rng = np.random.default_rng(seed)
    workers = np.argsort(rng.random((n_items, n_workers)), axis=1)[:, :raters].ravel()
    truth = rng.integers(3, size=n_items)
    items = np.repeat(np.arange(n_items), raters)
    is_right = rng.random(len(items)) < np.where(workers < careless, 1 / 3, 0.9)
    wrong = (truth[items] + rng.integers(1, 3, size=len(items))) % 3
    return items, workers, np.where(is_right, truth[items], wrong), truth


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_who_says_anything_counts_for_less_than_a_vote(seed):
    items, workers, labels, truth = crowd(seed)
    votes = np.zeros((len(truth), 3))
    np.add.at(votes, (items, labels), 1)
    by_votes = (votes.argmax(axis=1) == truth).mean()

    for meant in (
        one_coin(items, workers, labels),
        dawid_skene(items, workers, labels, n_labels=3).argmax(axis=1),
    ):
        assert (meant == truth).mean() > by_votes + 0.02


def test_a_careful_one_outweighs_two_who_say_anything():
    """Worker 0 is always with the many where there are many; 1 and 2 differ from everybody, and agree once."""
    items = np.repeat(np.arange(9), 5)[: 8 * 5]
    workers = np.tile([0, 3, 4, 1, 2], 8)
    labels = np.array([[0, 0, 0, 1 + n % 2, 2 - n % 2] for n in range(8)]).ravel()
    last = ([8, 8, 8], [0, 1, 2], [0, 1, 1])
    meant = one_coin(*(np.concatenate([a, b]) for a, b in zip((items, workers, labels), last, strict=True)))
    assert meant.tolist() == [0] * 9


def test_of_two_answers_one_who_errs_rarely_outweighs_two_who_err_often():
    """Right 9 times of 10, the odds are 9 to 1; two who are right 7 times of 10 have (7/3)^2, which is less."""
    errs = {0: {0, 10}, 1: {1, 2, 3, 11, 12, 13}, 2: {4, 5, 6, 14, 15, 16}, 3: {7}, 4: {8}, 5: {9}}
    said = [(item, worker, int(item in errs[worker])) for item in range(20) for worker in errs]
    said += [(20, 0, 0), (20, 1, 1), (20, 2, 1)]
    assert one_coin(*np.array(said, "intp").T).tolist() == [0] * 21


def test_an_answer_that_hundreds_gave_is_likelier_than_one_that_one_gave():
    """Between items of three answers: the likelihood of hundreds of answers is too large for any number."""
    items = np.repeat([0, 1, 2], [3, 500, 3])
    workers = np.concatenate([np.arange(3), np.arange(500), np.arange(3)])
    labels = np.concatenate([[1, 1, 0], np.ones(499, "intp"), [0], [1, 1, 0]])
    assert one_coin(items, workers, labels).tolist() == [1, 1, 1]


def test_where_workers_are_unknown_nothing_is_said_of_their_quality(tmp_path):
    path = write_lines(tmp_path / "study.jsonl", [line(n, "a", (5, 4, 3)) for n in range(3)])
    frame = read_annotations([path], definition=get_definition("vtt"))
    assert by_quality(frame) is None
    assert make_report(frame).as_data()["by_quality"] is None


@pytest.mark.django_db
def test_the_page_has_it_as_one_more_row(shared):
    cache.clear()
    found = results(load_published(shared / "data/ofax/esnlive_unifiedresults_raw.csv", definition=ESNLIVE))
    (block,) = found.choices_of_rows
    rows = {row.label: [cell.text for cell in row.cells] for row in block.rows}
    assert list(rows) == [*found.item_columns, BY_QUALITY]
    assert rows[BY_QUALITY] == ["0.7645", "0.8238"]
    answers = next(b for b in found.item_blocks if b.title == "Answers").rows
    assert [cell.text for cell in answers[1].cells] == ["", "93.0 %", ""]
