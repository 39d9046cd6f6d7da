"""Nonsense for files, templates and forms is refused in words and stores nothing."""

from urllib.parse import quote

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from marketplace.batches import decisions, tables
from marketplace.batches.tables import BadTable
from marketplace.batches.template import Template, remarks
from marketplace.models import TemplateBatch
from tests.marketplace.admin.researchers import researcher_of

QUIET = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
MARKUP = st.lists(
    st.sampled_from(
        [
            "<script>",
            "</script>",
            "<a onclick='",
            "'",
            '"',
            "`",
            "${a}",
            "${b}",
            "${",
            "}",
            ">",
            "<",
            "//",
            "\n",
            "x",
        ]
    ),
    max_size=30,
).map("".join)
CSV = st.binary(max_size=60) | st.text(st.sampled_from('a,"\n\r;\ufeff\x00é'), max_size=40).map(str.encode)
FIELDS = ["requester", "template", "title", "description", "keywords", "reward", "max_assignments", "minutes",
          "lifetime_days", "approval_hours", "frame_height", "values_are_html"]  # fmt: skip


def outcome(read, raw):
    """Return (what was read, the problems), one of which there is."""
    try:
        return read(raw), []
    except BadTable as error:
        return None, error.problems


@QUIET
@given(CSV)
def test_tables(raw):
    found, problems = outcome(tables.read, raw)
    assert bool(found) != bool(problems)
    assert found is None or {len(row) for row in found.rows} == {len(found.columns)}


@QUIET
@given(CSV.map(lambda raw: b"AssignmentId,Approve,Reject\n" + raw))
def test_decision_files(raw):
    found, problems = outcome(decisions.read, raw)
    assert bool(found) != bool(problems)
    assert all(decision.assignment_id for decision in found or [])


@QUIET
@given(MARKUP, st.text(max_size=10))
def test_templates(html, value):
    template = Template(html)
    page = template.filled({"a": value})
    assert page.count("${b}") >= html.count("${b}")
    assert set(template.names(["a"])) <= {name.strip() for name in html.replace("}", "${").split("${")}
    assert remarks(html) == []


@pytest.fixture
def office(requester):
    return researcher_of(requester)


@QUIET
@given(st.dictionaries(st.sampled_from(FIELDS), st.text(max_size=15), max_size=8), CSV)
@example({"reward": "NaN", "minutes": "9" * 30, "requester": "\x00"}, b"a\n1\n")
def test_the_form(office, form, raw):
    form = {name: text.encode("utf-8", "replace").decode() for name, text in form.items()}
    file = SimpleUploadedFile("rows.csv", raw)
    answer = office.post("/admin/marketplace/templatebatch/add/", {**form, "table": file})
    assert (answer.status_code, TemplateBatch.objects.count()) == (422, 0)


@QUIET
@given(st.text(max_size=12))
@example("\x00")
def test_invitation_addresses(db, client, text):
    path = f"/invitations/{quote(text.encode('utf-8', 'replace'), safe='')}"
    assert client.post(path, headers={"host": "localhost"}).status_code in {404, 410}
