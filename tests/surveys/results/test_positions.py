"""What stood first less what stood later: on one side of the other, and early or late on a page."""

import io

import numpy as np
import pytest

from surveys.protocols.registry import get_definition
from surveys.results.files.layouts import LAYOUTS
from surveys.results.files.report import make_report
from surveys.results.files.report_text import report_text
from surveys.results.frames.base import build_frame, column
from surveys.results.frames.csv_table import read_table
from surveys.results.frames.database import read_batch
from surveys.results.frames.mturk_csv import read_mturk_csv
from surveys.results.frames.responses import frame_from_responses
from surveys.results.frames.sources import read_results
from surveys.results.statistics.positions import ALWAYS, halves, position_effects
from tests.surveys.results.rated import Rated, rated_batch

EVIL, XAI = get_definition("evil-vqax"), get_definition("xai")
VALUES = {1.0: "yes", 2 / 3: "weak_yes", 1 / 3: "weak_no", 0.0: "no"}


def sides(*, shown_first, n_items=12, n_workers=8, effect=1 / 3):
    """A study in which the model gains `effect` where it stands first: where `shown_first(worker, item)`."""
    cells = [(w, i) for w in range(n_workers) for i in range(n_items)]
    first = [shown_first(w, i) for w, i in cells]
    base = [1 / 3 if (w + i * i) % 4 else 0.0 for w, i in cells]
    ours = [VALUES[b + effect * f] for b, f in zip(base, first, strict=True)]
    prefers = ["preferred" if f else "other" for f in first]
    outputs = {
        column("model", "justifies"): ours,
        column("ground_truth", "justifies"): ["yes" if (w * i) % 3 else "no" for w, i in cells],
        column("model", "preference"): prefers,
        column("ground_truth", "preference"): ["other" if f else "preferred" for f in first],
        column("model", "shown_position"): [1 if f else 2 for f in first],
        column("ground_truth", "shown_position"): [2 if f else 1 for f in first],
    }
    outputs |= {column(s, "text"): ["text"] * len(cells) for s in ("model", "ground_truth")}
    return framed(EVIL, ("model", "ground_truth"), cells, outputs)


def framed(definition, systems, cells, outputs, **more):
    n = len(cells)
    responses = {
        "study": ["s"] * n,
        "assignment_id": [f"a{w}" for w, _ in cells],
        "worker": [f"w{w}" for w, _ in cells],
        "item_id": [f"i{i}" for _, i in cells],
        "position": [i + 1 for _, i in cells],
        "is_skipped": [False] * n,
        "status": ["Submitted"] * n,
        "included": [True] * n,
        **more,
    }
    return build_frame(definition=definition, systems=systems, responses=responses, outputs=outputs)


def of(found, system, criterion, kind):
    (one,) = [e for e in found if (e.system, e.criterion, e.kind) == (system, criterion, kind)]
    return one


def test_who_gains_by_standing_first_is_seen_item_by_item():
    """Every item is seen first by half of the people, who give a third more; preferred is what stands first."""
    found = position_effects(sides(shown_first=lambda w, i: (w + i) % 2 == 0, n_workers=8))

    preference = of(found, "model", "preference", "side")
    assert (preference.difference, preference.first, preference.later, preference.items) == (1.0, 48, 48, 12)
    assert of(found, "ground_truth", "preference", "side").difference == 1.0

    frame = sides(shown_first=lambda w, i: (w + i) % 2 == 0, n_workers=8)
    rows = frame.kept.assign(score=frame.kept["model.justifies"].map({v: k for k, v in VALUES.items()}))
    means = rows.groupby(["item_id", "model.shown_position"])["score"].mean().unstack()
    one = of(found, "model", "justifies", "side")
    assert one.difference == pytest.approx((means[1] - means[2]).mean())
    assert one.interval.low < one.difference < one.interval.high
    assert one.interval.support.has_few_workers


@pytest.mark.parametrize(
    ("where", "counts"), [(lambda w, i: True, (96, 0)), (lambda w, i: i % 2 == 0, (48, 48))]
)
def test_where_each_item_stood_alike_for_everybody_there_is_a_reason_and_no_number(where, counts):
    frame = sides(shown_first=where)
    one = of(position_effects(frame), "model", "justifies", "side")
    assert (one.difference, one.interval, one.reason) == (None, None, ALWAYS["side"])
    assert (one.first, one.later) == counts
    assert "not known, each item had it on one side for everybody" in report_text(make_report(frame))
    assert make_report(frame).as_data()["positions"]["model"] == {}


def test_an_output_that_stood_alone_was_on_no_side():
    cells = [(w, i) for w in range(4) for i in range(4)]
    outputs = {column("model", "justifies"): ["yes" if (w + i) % 2 else "no" for w, i in cells]}
    outputs |= {column("model", "shown_position"): [1 + (w + i) % 2 for w, i in cells]}
    outputs |= {column("model", "text"): ["text"] * len(cells)}
    outputs |= {column("ground_truth", "text"): [None] * len(cells)}
    found = position_effects(framed(EVIL, ("model", "ground_truth"), cells, outputs))
    assert {(e.system, e.kind) for e in found if e.system == "model"} == {("model", "page")}


def test_published_files_do_not_say_where_anything_stood_but_the_page(shared):
    frame = read_mturk_csv(shared / "data" / "ofax" / "esnlive_unifiedresults_raw.csv")
    found = position_effects(frame)
    assert {(e.kind, e.reason) for e in found} == {("page", ALWAYS["page"])}


def single(order):
    """One output an item, four to a page, at place `order(worker, item)`; a point less in the second half."""
    cells = [(w, i) for w in range(12) for i in range(4)]
    places = [order(w, i) for w, i in cells]
    values = [str(4 - (place > 2)) for place in places]
    outputs = {column("a", "text"): ["t"] * len(cells)}
    outputs |= {column("a", c.key): values for c in XAI.output_criteria}
    return framed(XAI, ("a",), cells, outputs, place=places)


def test_fatigue_on_a_page_is_the_first_half_less_the_second():
    frame = single(lambda w, i: (w + i) % 4 + 1)
    found = position_effects(frame)
    assert {e.kind for e in found} == {"page"}
    one = of(found, "a", "clarity", "page")
    assert (one.difference, one.first, one.later, one.items) == (1.0, 24, 24, 4)
    assert make_report(frame).as_data()["positions"]["a"]["clarity"]["page"]["difference"] == 1.0
    assert "position of a, clarity, early on the page less later: 1.0" in report_text(make_report(frame))


def test_the_one_in_the_middle_is_in_neither_half():
    cells = [(0, i) for i in range(5)]
    frame = framed(XAI, ("a",), cells, {column("a", "text"): ["t"] * 5}, place=[3, 1, 5, 2, 4])
    assert halves(frame.kept).tolist()[1:] == [True, False, True, False]
    assert np.isnan(halves(frame.kept).astype("Float64").to_numpy(dtype=float, na_value=np.nan)[0])


def test_a_place_reads_back_from_a_file():
    text = "item_id,system,assignment_id,place,fluency,clarity,convincing,reflecting_decision_process,overall_quality\n"
    text += "".join(f"i{n},a,x,{3 - n},5,5,5,5,5\n" for n in (1, 2))
    frame = frame_from_responses(read_table(text.encode()), study="s")
    assert frame.responses["place"].tolist() == [2, 1]


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["xai", "vtt"])
def test_drawn_places_are_in_the_raw_files_and_read_back(key, tmp_path):
    definition = get_definition(key)
    values = {c.key: "4" for c in definition.output_criteria}
    batch = rated_batch([Rated(f"s{n}", "a", "ann", values) for n in range(3)], definition=definition)
    for place, response in enumerate(batch.responses.order_by("pk"), start=2):
        response.shown |= {"place": place}
        response.save()
    layout = "annotations" if definition.is_sequence else "responses"
    path = tmp_path / LAYOUTS[layout].filename
    with path.open("w", newline="") as stream:
        LAYOUTS[layout].write(batch, stream)
    again = read_results([path], definition=definition)
    assert sorted(again.responses["place"]) == sorted(read_batch(batch).responses["place"]) == [2, 3, 4]


@pytest.mark.django_db
def test_without_drawn_places_the_raw_file_is_what_it_was():
    batch = rated_batch([Rated("s", "a", "ann", {c.key: "4" for c in XAI.output_criteria})], definition=XAI)
    stream = io.StringIO(newline="")
    LAYOUTS["responses"].write(batch, stream)
    assert stream.getvalue().splitlines()[0].endswith('"overall_quality"')
