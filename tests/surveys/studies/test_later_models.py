"""A model that comes later, on the items a survey has: by command and page, published, and in the results beside."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotators.models import Assignment
from surveys.models import Batch, Item, QuestionnaireItem, Response, Survey
from surveys.publishing import questionnaires
from surveys.results.files.layouts import batch_writers, layouts_for
from surveys.results.frames.database import read_batch
from surveys.results.statistics.across import Study, compare_studies
from tests.factories import answers_for, make_draft, make_hit, open_for, save_answers
from tests.policy_data import NEVER
from tests.surveys.pages.study.import_pages import TWO, preview_of, researcher
from tests.surveys.studies.importing_cases import batch_csv, png, slot

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _media(settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


def file_of(folder: Path, *slots: dict[str, str], name: str) -> str:
    for n in (1, 2):
        (folder / f"{n}.png").write_bytes(png())
    path = folder / f"{name}.csv"
    path.write_bytes(batch_csv(list(slots)))
    return str(path)


def imported(folder: Path, *slots: dict[str, str], system: str, **options: object) -> None:
    path = file_of(folder, *slots, name=system)
    call_command(
        "import_items", path, survey="s", definition="evil-vqax", system=system, images=str(folder), **options
    )


SECOND = [slot(n, output_explanation=f"the other says {n}") for n in (1, 2)]


def test_a_second_model_makes_items_about_the_same_subjects(tmp_path: Path) -> None:
    imported(tmp_path, slot(1), slot(2), system="single")
    imported(tmp_path, *SECOND, system="unified")
    rows = Item.objects.order_by("position").values_list("external_id", "subject", "gold")
    assert list(rows) == [
        ("item-1", "item-1", "cat"),
        ("item-2", "item-2", "cat"),
        ("item-1/unified", "item-1", "cat"),
        ("item-2/unified", "item-2", "cat"),
    ]
    texts = Item.objects.get(external_id="item-2/unified").outputs.values_list("system", "text")
    assert sorted(texts) == [("ground_truth", "it purrs 2"), ("unified", "the other says 2")]


def test_the_same_model_twice_is_refused_however_often_it_comes(tmp_path: Path, capsys) -> None:
    imported(tmp_path, slot(1), system="single")
    imported(tmp_path, SECOND[0], system="unified")
    for system in ("single", "unified", "single"):
        with pytest.raises(CommandError):
            imported(tmp_path, slot(1), system=system)
        assert 'The survey has an item "item-1" already.' in capsys.readouterr().err
    assert Item.objects.count() == 2


def test_another_question_or_answer_about_a_subject_warns(tmp_path: Path, capsys) -> None:
    imported(tmp_path, slot(1), system="single")
    with pytest.raises(CommandError, match="2 warnings"):
        imported(
            tmp_path,
            slot(1, question="Who?", answer="bat", output_answer="bat", other_answer1="cat"),
            system="unified",
        )
    told = capsys.readouterr().err
    assert 'The survey has "item-1" with another question: "What is in picture 1?".' in told
    assert 'The survey has "item-1" with another answer: "cat".' in told


def test_the_page_takes_a_second_model_too(settings, tmp_path: Path) -> None:
    settings.IMPORTS_DIR = tmp_path / "imports"
    imported(tmp_path, slot(1), slot(2), system="single")
    survey = Survey.objects.get()
    client = researcher()
    page = preview_of(client, batch_csv(SECOND), pictures=TWO, survey=survey.pk, system="unified", name="")
    assert client.post(page).status_code == 302
    assert sorted(survey.items.values_list("external_id", flat=True)) == [
        "item-1", "item-1/unified", "item-2", "item-2/unified",
    ]  # fmt: skip


def rated(batch: Batch, *, n_workers: int = 3) -> None:
    """Have so many people answer every HIT of a batch that is published."""
    Batch.objects.filter(pk=batch.pk).update(status=Batch.Status.OPEN)
    for questionnaire in batch.questionnaires.all():
        questionnaire.hit = make_hit()
        questionnaire.save()
        for n in range(n_workers):
            assignment = open_for(questionnaire, worker=f"AWORKER{n}{questionnaire.position}")
            save_answers(assignment, answers=answers_for(assignment, n_correct=9))
            now = timezone.now()
            Assignment.objects.filter(pk=assignment.pk).update(
                status="Submitted",
                accepted_at=now,
                submitted_at=now,
                auto_approval_at=now + timedelta(days=3),
            )


def published(survey: Survey, name: str) -> Batch:
    batch = make_draft(survey, name=name, items_per_hit=2, review_policy=NEVER, reward=Decimal("0.1"))
    assert questionnaires.start_publishing(batch)
    rated(batch)
    return Batch.objects.get(pk=batch.pk)


def test_published_the_results_show_both_models_on_the_same_items(tmp_path: Path) -> None:
    imported(tmp_path, slot(1), slot(2), system="single")
    first = published(Survey.objects.get(), "first")
    imported(tmp_path, *SECOND, system="unified")
    both = published(Survey.objects.get(), "both")

    assert read_batch(first).systems == ("single", "ground_truth")
    frame = read_batch(both)
    assert frame.systems == ("single", "unified", "ground_truth")
    assert set(frame.responses["item_id"]) == {"item-1", "item-2"}
    found = compare_studies([Study("first", read_batch(first)), Study("both", frame)])
    shared = {str(p): (p.shared, p.ours.items, p.theirs.items) for p in found.pairings}
    assert shared == {
        "single in both - single in first": (2, 2, 2),
        "unified in both - single in first": (2, 2, 2),
        "unified in both - single in both": (2, 2, 2),
        "ground_truth in both - ground_truth in first": (2, 2, 2),
    }
    for name in batch_writers(both, names=list(layouts_for(both))).values():
        with (tmp_path / "file").open("w", newline="") as stream:
            name(stream)


def test_one_hit_never_shows_two_models_on_one_subject(tmp_path: Path) -> None:
    imported(tmp_path, slot(1), slot(2), system="single")
    imported(tmp_path, *SECOND, system="unified")
    batch = published(Survey.objects.get(), "both")
    slots = QuestionnaireItem.objects.filter(questionnaire__batch=batch)
    hits = [
        set(slots.filter(questionnaire=q).values_list("item__subject", flat=True))
        for q in batch.questionnaires.all()
    ]
    assert hits == [{"item-1", "item-2"}, {"item-1", "item-2"}]
    assert Response.objects.filter(batch=batch).count() == 12
