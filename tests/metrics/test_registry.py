"""What the registry declares."""

import subprocess
import sys

from metrics import METRICS

LOADED = "import sys, metrics; print([n for n in ('django', 'celery', 'boto3', 'pandas', 'torch') if n in sys.modules])"


def test_names_are_keys() -> None:
    assert [metric.name for metric in METRICS.values()] == list(METRICS)


def test_a_score_says_where_it_comes_from() -> None:
    score = METRICS["text_f1"].evaluate("улица Глинки", ["Композитора Глинки"], profile="reference")
    assert (score.value, score.metric, score.version, score.profile) == (0.5, "text_f1", "1", "reference")
    assert score.thesaurus is None


def test_parts_are_exposed() -> None:
    score = METRICS["nzad"].evaluate([1, 0], [3, 0])
    assert score.parts == {"value": score.value, "overlap": 1.5, "agreement": 1.0}


def test_nothing_heavy_is_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
