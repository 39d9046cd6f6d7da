"""Automatic metrics beside outputs: what is measured against what, once, in chunks."""

from pathlib import Path

import pytest
from django.core.checks import run_checks

from metrics import METRICS
from surveys import sync
from surveys.models import Item, MetricScore, Output, Survey
from surveys.studies import scoring
from tests.factories import make_item, make_survey

pytestmark = pytest.mark.django_db
METRIC_NAMES = ["text_f1", "captioning_meteor", "one_minus_ned"]


@pytest.fixture
def survey() -> Survey:
    """Three e-ViL items: what the ground truth says is the reference."""
    survey = make_survey(n_items=3)
    for output in Output.objects.filter(system="ground_truth"):
        Output.objects.filter(pk=output.pk).update(text=f"The red bus {output.item.position} waits.")
    Output.objects.filter(system="model").update(text="The bus waits.")
    return survey


def values(**found: object) -> dict[tuple[str, str], float | None]:
    scores = MetricScore.objects.filter(**found).select_related("output__item")
    return {(score.output.item.external_id, score.metric): score.value for score in scores}


def test_the_model_is_measured_against_the_ground_truth_which_is_not_measured(survey: Survey) -> None:
    assert scoring.score_next(survey) is None
    assert MetricScore.objects.filter(output__system="ground_truth").count() == 0
    assert values() == {
        (f"item-{n}", name): METRICS[name].score("The bus waits.", [f"The red bus {n} waits."])
        for n in (1, 2, 3)
        for name in METRIC_NAMES
    }


def test_references_of_the_item_come_first(survey: Survey) -> None:
    Item.objects.update(references=["The bus waits."])
    scoring.score_next(survey)
    assert set(values(metric="text_f1").values()) == {1.0}


def test_a_sequence_is_measured_line_by_line() -> None:
    survey = make_survey(definition_key="vtt")
    item = make_item(survey, systems=("a", "b"), references=["add coffee\nadd milk"])
    item.outputs.filter(system="a").update(text="add coffee\nstir")
    item.outputs.filter(system="b").update(text="add coffee")
    scoring.score_next(survey)
    found = {s.output.system: s.value for s in MetricScore.objects.filter(metric="text_f1")}
    whole = METRICS["text_f1"].score("add coffee", ["add coffee\nadd milk"])
    assert found == {"a": 0.5, "b": whole}


def test_chunks_go_on_after_the_last_one(survey: Survey) -> None:
    first, second, third = Output.objects.filter(system="model").order_by("pk").values_list("pk", flat=True)
    assert scoring.score_next(survey, size=2) == second
    assert MetricScore.objects.filter(output=third).count() == 0
    assert scoring.score_next(survey, after=second, size=2) is None
    assert MetricScore.objects.filter(output__in=[first, second, third]).count() == 9


def test_scored_once_until_the_text_or_the_version_changes(survey: Survey, settings) -> None:
    def scored_at() -> dict[tuple[int, str], object]:
        return {(s.output_id, s.metric): s.scored_at for s in MetricScore.objects.all()}

    scoring.score_next(survey)
    before = scored_at()
    scoring.score_next(survey)
    assert scored_at() == before
    changed = Output.objects.filter(system="model").first()
    Output.objects.filter(pk=changed.pk).update(text="Another text.")
    scoring.score_next(survey)
    assert {key for key, at in scored_at().items() if at != before[key]} == {
        (changed.pk, name) for name in METRIC_NAMES
    }
    settings.METRICS_THESAURUS = _thesaurus(Path(settings.MEDIA_ROOT).parent)
    before = scored_at()
    scoring.score_next(survey)
    assert {name for (_, name), at in scored_at().items() if at != before[_, name]} == {"captioning_meteor"}


def _thesaurus(folder: Path) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "th_test.dat"
    path.write_text("UTF-8\nbus|1\n(noun)|coach\n", encoding="utf-8")
    return str(path)


def test_unscored_surveys_are_found_and_only_they(survey: Survey) -> None:
    make_item(make_survey(definition_key="xai"), systems=("a",), gold="", choices=())
    assert scoring.unscored() == [survey]
    scoring.score_next(survey)
    assert scoring.unscored() == []
    MetricScore.objects.filter(metric="text_f1").first().delete()
    assert scoring.unscored() == [survey]


def test_a_metric_without_a_score_for_a_text_leaves_it_empty(survey: Survey) -> None:
    Item.objects.update(references=[5])
    scoring.score_next(survey)
    assert set(values().values()) == {None}
    assert scoring.unscored() == []


def test_the_task_scores_all_chunks(survey: Survey, monkeypatch) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(
        scoring,
        "score_next",
        lambda survey, after: asked.append((survey.pk, after)) or (7 if not after else None),
    )
    monkeypatch.setattr(sync.score_outputs, "delay", sync.score_outputs)
    sync.score_surveys()
    assert asked == [(survey.pk, 0), (survey.pk, 7)]


def test_a_text_changed_in_the_database_is_scored_again(survey: Survey, monkeypatch) -> None:
    monkeypatch.setattr(sync.score_outputs, "delay", sync.score_outputs)
    sync.score_surveys()
    Output.objects.filter(system="model").update(text="The red bus 1 waits.")
    sync.score_surveys()
    assert values(metric="text_f1")["item-1", "text_f1"] < 1
    sync.look_again()
    assert values(metric="text_f1")["item-1", "text_f1"] == 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"METRICS_IN_USE": ["text_f1", "bleu"]}, "ASSENT_METRICS: 'bleu' is none of text_f1, "),
        ({"METRICS_IN_USE": ["fid"]}, "ASSENT_METRICS: 'fid' is none of "),
        ({"METRICS_THESAURUS": "/nowhere/at/all"}, "ASSENT_THESAURUS: there is no /nowhere/at/all."),
    ],
)
def test_settings_that_cannot_work_are_refused_at_the_start(settings, change, message: str) -> None:
    for name, value in change.items():
        setattr(settings, name, value)
    (error,) = [found for found in run_checks() if found.id in {"surveys.E001", "surveys.E002"}]
    assert error.msg.startswith(message)
