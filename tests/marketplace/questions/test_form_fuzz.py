"""Torn documents are refused, wild answers are checked, and what is accepted is always a document again."""

import re
from xml.etree import ElementTree

from django.template.loader import render_to_string
from django.utils.datastructures import MultiValueDict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from marketplace.questions import answer_keys, question_forms
from marketplace.questions.answer_forms import AnswerForm
from marketplace.questions.documents import BadQuestion
from tests.marketplace.questions.form_documents import BIRDS, BIRDS_KEY, EXAMPLE

PIECES = sorted(set(re.findall(r"</?\w+[^>]*>|[^<>]+", EXAMPLE + BIRDS_KEY)))
WILD = st.sampled_from([*PIECES, "", "&", "<", "]]>", "<!-- -->", "&nbsp;", "-1", "99999999999", "\u0301"])
QUIET = settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
ASKED = question_forms.read(EXAMPLE)
NAMES = [f"q{number}" for number in range(9)] + ["q1-other", "q2-other", "csrfmiddlewaretoken"]
VALUES = st.sampled_from(["1", "2", "3", "4", "7", "abc-12", ""]) | st.text(max_size=20)


def torn(document):
    """Documents with pieces left out, doubled and put in."""
    pieces = re.findall(r"<[^>]*>|[^<>]+", document)
    cut = st.tuples(st.integers(0, len(pieces) - 1), st.integers(0, 3), st.lists(WILD, max_size=2))

    def tear(cuts):
        left = list(pieces)
        for start, length, put in cuts:
            left[start : start + length] = put
        return "".join(left)

    return st.lists(cut, min_size=1, max_size=3).map(tear)


@QUIET
@given(torn(EXAMPLE))
def test_a_torn_form_is_shown_or_refused(document):
    try:
        asked = question_forms.read(document)
    except BadQuestion:
        return
    page = render_to_string("marketplace/site/question_form.html", {"form": AnswerForm(asked)})
    assert page.count('<fieldset class="question"') == len(asked.questions) > 0


@QUIET
@given(torn(BIRDS_KEY))
def test_a_torn_key_marks_or_is_refused(document):
    try:
        key = answer_keys.read(document, test=question_forms.read(BIRDS))
    except BadQuestion:
        return
    assert isinstance(key.value({"first": frozenset({"wren"})}), int)


@QUIET
@given(st.dictionaries(st.sampled_from(NAMES), st.lists(VALUES, max_size=4)))
def test_wild_answers_are_written_or_named(data):
    form = AnswerForm(ASKED, MultiValueDict(data))
    if form.is_valid():
        root = ElementTree.fromstring(form.document())
        assert len(root) == len(ASKED.questions)
    else:
        page = render_to_string("marketplace/site/question_form.html", {"form": form})
        assert page.count("autofocus") == 1
        assert page.count('class="question gap"') == sum(bool(row.problems) for row in form.rows()) > 0
