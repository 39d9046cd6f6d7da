"""What is written part by part has the bytes of what is written from the whole frame."""

import io

import pytest

from surveys.models import Batch, Response
from surveys.results.files.frame_layouts import FRAME_LAYOUTS
from surveys.results.files.layouts import LAYOUTS, layouts_for
from surveys.results.frames import database
from surveys.results.frames.database import read_batch, read_parts
from tests.factories import make_batch, make_draft, make_item, make_survey, open_batch, submitted
from tests.surveys.results.rated import Rated, rated_batch, single

pytestmark = pytest.mark.django_db

ROWS = (
    Rated("8", "cst", "ann", {"clarity": "2", "trust": "4"}),
    Rated("8", "ttnet", "ann", {"clarity": "5"}, channel="link"),
    Rated("9", "cst", "bob", {"clarity": "1", "remark": "=1+1"}, status="Rejected"),
    Rated("9", "ttnet", "bob", skip_reason="too_dark"),
)


def pairs() -> Batch:
    """Of three models each item has one; an item of every HIT is asked twice, and one of them can't be graded."""
    survey = make_survey()
    for n, (model, gold) in enumerate((("a", "yes"), ("a", ""), ("b", "yes"), ("c", "yes")), 1):
        make_item(survey, position=n, systems=(model, "ground_truth"), gold=gold)
    draft = make_draft(
        survey, items_per_hit=2, repeats_per_hit=1, review_policy={"rules": [], "reject_at": 2}
    )
    for one in open_batch(draft):
        for worker, n_correct in (("ANN", 2), ("BOB", 1)):
            submitted(one, worker=worker, n_correct=n_correct)
    return Batch.objects.get(pk=draft.pk)


def in_two_languages() -> Batch:
    batch = rated_batch(ROWS, definition=single(texts=True))
    first, last = Response.objects.earliest("pk"), Response.objects.latest("pk")
    Response.objects.filter(pk=first.pk).update(worker=last.worker)  # who opened it, and not who handed it in
    Response.objects.filter(pk=last.pk).update(shown=last.shown | {"language": "ru"})
    return batch


STUDIES = {
    "pairs": pairs,
    "each its own item": in_two_languages,
    "several outputs": lambda: rated_batch(ROWS, definition=single(texts=True, outputs_per_item=2)),
    "nothing came in": lambda: make_batch(make_survey()),
}


def written(batch: Batch, layout: str) -> str:
    stream = io.StringIO(newline="")
    LAYOUTS[layout].write(batch, stream)
    return stream.getvalue()


@pytest.mark.parametrize("study", STUDIES)
def test_parts_have_the_bytes_of_the_whole(study: str, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = STUDIES[study]()
    names = [name for name, layout in layouts_for(batch).items() if layout.lines]
    whole = {name: written(batch, name) for name in names}
    monkeypatch.setattr(database, "PART", 1)
    assert {name: written(batch, name) for name in names} == whole
    for name in {"processed", "processed_filtered", "tidy"} & set(names):
        stream = io.StringIO(newline="")
        FRAME_LAYOUTS[name].write(read_batch(batch), stream)
        assert stream.getvalue() == whole[name]


def test_no_part_has_more_assignments_than_are_held_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = pairs()
    monkeypatch.setattr(database, "PART", 3)
    parts = [part.everything.responses["assignment_id"].nunique() for part in read_parts(batch)]
    assert (parts, sum(parts)) == ([3, 1], Batch.objects.get().questionnaires.count() * 2)
