"""The rules on the published studies, by the figures that are known about them."""

from collections import Counter
from pathlib import Path

import pytest
from scipy import stats

from annotators.models import Assignment
from surveys.models import Batch, Rating
from surveys.protocols.policy import parse
from surveys.review.evidence import evidence_of_batch, evidence_of_worker
from tests.policy_data import THREE_OF_FIVE, policy_of
from tests.protocols import ESNLIVE, VQAX
from tests.surveys.results.published import load_published

pytestmark = pytest.mark.django_db


@pytest.fixture
def vqax(shared: Path) -> Batch:
    return load_published(shared / "data/ofax/vqax_results_raw.csv", definition=VQAX)


@pytest.fixture
def esnlive(shared: Path) -> Batch:
    return load_published(shared / "data/ofax/esnlive_unifiedresults_raw.csv", definition=ESNLIVE)


def hit_by(batch: Batch, rule: dict[str, object]) -> list[int]:
    policy = parse(policy_of(rule))
    found = evidence_of_batch(batch, kinds=policy.kinds)
    return [pk for pk, evidence in found.items() if policy.judge(evidence).flags]


def test_the_published_rule_hits_what_was_rejected(esnlive: Batch) -> None:
    found = hit_by(esnlive, THREE_OF_FIVE["rules"][0])
    rejected = Assignment.objects.filter(hit__questionnaire__batch=esnlive, status="Rejected")
    assert len(found) == 22
    assert set(found) == set(rejected.values_list("pk", flat=True))


def test_nobody_was_below_the_rule_where_nobody_was_rejected(vqax: Batch) -> None:
    assert hit_by(vqax, THREE_OF_FIVE["rules"][0]) == []


def test_vqax_by_its_known_figures(vqax: Batch) -> None:
    assert len(hit_by(vqax, {"kind": "straight_lining", "at_least": 10})) == 89
    works = Counter(_workers(vqax))
    assert [n for _, n in works.most_common(3)] == [60, 53, 40]  # 51 % of 300
    beyond_ten_percent = sum(max(0, n - 30) for n in works.values())
    assert len(hit_by(vqax, {"kind": "worker_cap"})) == beyond_ten_percent == 66


def test_esnlive_by_its_known_figures(esnlive: Batch) -> None:
    assert len(hit_by(esnlive, {"kind": "straight_lining", "at_least": 10})) == 19
    assert sum(n for _, n in Counter(_workers(esnlive)).most_common(3)) == 59  # 48 % of 123


def test_leaving_one_out_is_what_scipy_makes_of_the_rows(esnlive: Batch) -> None:
    worker = Counter(_workers(esnlive)).most_common(1)[0][0]
    found = evidence_of_worker(esnlive, worker=worker)
    record = next(iter(found.values())).worker
    rows = Rating.objects.filter(response__batch=esnlive, criterion="justifies", score__isnull=False)
    own = dict(rows.filter(response__worker=worker).values_list("output", "score"))
    others: dict[int, list[float]] = {}
    counted = rows.exclude(response__worker=worker).exclude(response__assignment__status="Rejected")
    for output, score in counted.values_list("output", "score"):
        others.setdefault(output, []).append(score)
    pairs = [(score, sum(others[o]) / len(others[o])) for o, score in own.items() if o in others]
    assert len(record.ratings) == len(pairs)
    assert record.correlation == pytest.approx(stats.pearsonr(*zip(*pairs, strict=True)).statistic)


def test_one_workers_evidence_is_that_of_the_batch(esnlive: Batch) -> None:
    everybody = evidence_of_batch(esnlive)
    assert len(everybody) == 123
    for worker in set(_workers(esnlive)):
        alone = evidence_of_worker(esnlive, worker=worker)
        assert alone == {pk: everybody[pk] for pk in alone}


@pytest.mark.parametrize("n", [1, 10])
def test_queries_do_not_grow_with_the_batch(shared: Path, django_assert_num_queries, n: int) -> None:
    batch = load_published(shared / "data/ofax/vqax_results_raw.csv", definition=VQAX, n=n)
    with django_assert_num_queries(11):
        evidence_of_batch(batch)


def _workers(batch: Batch) -> list[int]:
    return list(Assignment.objects.filter(hit__questionnaire__batch=batch).values_list("worker", flat=True))
