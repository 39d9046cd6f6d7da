"""Figures and tables for a paper: every form, the same bytes each time, nothing left to be run or parsed."""

import csv
import io
import re
from dataclasses import replace

import pytest
from lxml import etree
from PIL import Image

from surveys.results.figures import FORMS, KINDS, criteria_of, draw, kinds_for
from surveys.results.files.report import Report, make_report
from surveys.results.frames.database import read_batch
from surveys.results.paper_tables import TABLES, as_csv, as_latex, escaped, make_table
from surveys.results.statistics.strengths import fitted
from tests.made_once import made_once
from tests.surveys.results.rated import Rated, rated_batch, single
from tests.surveys.results.test_strengths import drawn

pytestmark = pytest.mark.django_db
START = {"svg": b"<?xml", "pdf": b"%PDF-1", "png": b"\x89PNG\r\n"}


def a_report() -> Report:
    rows = [
        Rated(f"s{n}", system, worker, {"clarity": str((n + step + place) % 5 + 1), "trust": "3"})
        for n in range(6)
        for step, system in enumerate(("ours_50", "base"))
        for place, worker in enumerate("vwxyz")
    ]
    made = make_report(read_batch(rated_batch(rows)))
    return replace(made, strengths=fitted(drawn(systems=2), systems=["base", "ours_50"], criterion="better"))


report = made_once(a_report)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_each_figure_is_of_its_form_and_the_same_each_time(report: Report, kind: str, form: str) -> None:
    criterion = "better" if kind == "strengths" else "clarity"
    file = draw(report, kind=kind, criterion=criterion, form=form)
    assert file.startswith(START[form])
    assert file == draw(report, kind=kind, criterion=criterion, form=form)


def test_a_picture_is_as_wide_as_a_page_of_text_at_300_dots_an_inch(report: Report) -> None:
    picture = Image.open(io.BytesIO(draw(report, kind="means", criterion="clarity", form="png")))
    assert (picture.width, round(picture.info["dpi"][0])) == (1890, 300)


def test_an_svg_has_no_script_and_loads_nothing(report: Report) -> None:
    tree = etree.fromstring(draw(report, kind="shares", criterion="clarity", form="svg"))
    tags = {etree.QName(element).localname for element in tree.iter(etree.Element)}
    assert tags & {"script", "image", "foreignObject", "a"} == set()


def test_what_a_report_has_not_is_not_drawn(report: Report) -> None:
    assert list(criteria_of(report)) == ["clarity", "trust"]
    assert kinds_for(report, "clarity") == ["differences", "means", "shares"]
    with pytest.raises(KeyError):
        draw(report, kind="means", criterion="nothing", form="svg")


def test_labels_are_drawn_as_they_stand_not_as_formulas(report: Report) -> None:
    renamed = rated_batch([Rated("s", "a", w, {"clarity": "1", "trust": "2"}) for w in "xy"],
                          definition=single(key="odd", question_label="$x_$"))  # fmt: skip
    assert draw(make_report(read_batch(renamed)), kind="shares", criterion="trust", form="svg")


@pytest.mark.parametrize("name", TABLES)
def test_a_table_in_csv_has_whole_numbers_under_its_columns(report: Report, name: str) -> None:
    rows = list(csv.reader(io.StringIO(make_table(report, name=name, form="csv"))))
    assert {len(row) for row in rows} == {len(TABLES[name](report).columns)}
    if name == "systems":
        estimate = report.comparison.estimates["ours_50"]["clarity"]
        line = dict(zip(rows[0], next(row for row in rows if row[0] == "ours_50"), strict=True))
        assert (line["clarity mean"], line["clarity n"]) == (repr(estimate.mean), str(estimate.n))


@pytest.mark.parametrize("name", TABLES)
def test_a_table_in_latex_has_as_many_cells_in_every_line(report: Report, name: str) -> None:
    text = make_table(report, name=name, form="tex")
    lines = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {
        len(TABLES[name](report).printed_columns) - 1
    }
    assert r"ours\_50" in text
    assert [rule in text for rule in (r"\toprule", r"\midrule", r"\bottomrule")] == [True] * 3


def test_differences_in_latex_say_their_level_and_what_they_rest_on() -> None:
    """Holm's steps have levels of their own, and a reader takes an interval without one for 95 %."""
    rows = [
        Rated(
            f"s{n}",
            system,
            worker,
            {"clarity": str((n + place + step) % 5 + 1), "trust": str((n * place + step) % 5 + 1)},
        )
        for n in range(6)
        for step, system in enumerate("ab")
        for place, worker in enumerate("vwxyz")
    ]
    report = make_report(read_batch(rated_batch(rows)))
    text = make_table(report, name="differences", form="tex")
    levels = [one.interval.level for one in report.comparison.differences if one.interval]
    assert len(set(levels)) > 1
    assert re.findall(r"\] \(([\d.]+) \\%\)", text) == [f"{100 * level:.3g}" for level in levels]
    few = report.comparison.differences[0].support
    assert few is not None
    assert few.has_few_workers
    assert f"has {few.workers} workers" in text
    assert "are few: do not lean on intervals" in text


def test_texts_are_escaped_in_both_forms(report: Report) -> None:
    table = TABLES["systems"](report)
    evil = r"=1\input{/etc/passwd}&%$#_^~"
    changed = replace(table, rows=((evil,),), columns=(evil,), printed=((evil,),), printed_columns=(evil,))
    assert list(csv.reader(io.StringIO(as_csv(changed)))) == [[f"'{evil}"]] * 2
    safe = r"=1\textbackslash{}input\{/etc/passwd\}\&\%\$\#\_\textasciicircum{}\textasciitilde{}"
    assert escaped(evil) == safe
    assert as_latex(changed).count(safe) == 2
