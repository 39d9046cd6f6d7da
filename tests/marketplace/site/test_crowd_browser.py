"""The stand-ins for crowd elements in a real browser: what they look like to a worker, and what they answer."""

import json
import re
from html import unescape

import pytest
from playwright.sync_api import expect

from marketplace.models import Assignment

FORM = """<script src="https://assets.crowd.aws/crowd-html-elements.js"></script>
<crowd-form answer-format="flatten-objects"><h1>Task</h1>
<crowd-instructions link-text="How to">Look twice.</crowd-instructions>
<crowd-radio-group><crowd-radio-button name="sure" value="yes">Sure</crowd-radio-button>
<crowd-radio-button name="unsure" value="yes" required>Unsure</crowd-radio-button></crowd-radio-group>
<crowd-checkbox name="confusing" value="selected">Confusing</crowd-checkbox>
<crowd-checkbox name="wrong" value="selected" checked>Wrong</crowd-checkbox>
<crowd-toggle-button name="told">I was told</crowd-toggle-button>
<crowd-slider name="score" label="Score" min="0" max="10" value="4"></crowd-slider>
<crowd-classifier name="mood" categories="['Happy', 'Sad']" header="Mood?"></crowd-classifier>
<crowd-classifier-multi-select name="topics" categories='["Work", "Home"]' header="Topics?">
</crowd-classifier-multi-select>
<crowd-input name="why" label="Why?" required></crowd-input>
<crowd-input name="age" type="number" label="Age"></crowd-input>
<crowd-text-area name="remark" label="Remark"></crowd-text-area>
<select name="place" aria-label="Place"><option value="in">In</option><option value="out">Out</option></select>
<crowd-button form-action="none" id="helper">Help</crowd-button>
<crowd-button form-action="submit">Send</crowd-button></crowd-form>
<script>
document.getElementById("helper").onclick = () => { document.querySelector("[name=age]").value = "7"; };</script>"""
BUILT_LATER = """<crowd-form><h1>Task</h1><div id="here"></div></crowd-form><script>
window.onload = () => { document.getElementById("here").innerHTML = '<crowd-radio-group>' +
  '<crowd-radio-button name="a" value="1">One</crowd-radio-button></crowd-radio-group>'; };</script>"""
GUARDED = """<crowd-form><h1>Task</h1><crowd-input name="why" label="Why?"></crowd-input></crowd-form><script>
document.querySelector("crowd-form").onsubmit = (event) => {
  if (document.querySelector("crowd-input").value !== "because") event.preventDefault();
};</script>"""


@pytest.fixture
def task(start):
    """A function that opens an accepted HIT of a document and returns the page and the task's frame."""

    def task(html, **options):
        page = start(html, **options)
        return page, page.frame_locator("#task")

    return task


def answer():
    document = Assignment.objects.get().answer
    (text,) = re.findall(r"taskAnswers</QuestionIdentifier><FreeText>(.*?)</FreeText>", document)
    return json.loads(unescape(text))


def test_every_element_answers_as_amazons_did(task):
    page, frame = task(FORM)
    frame.get_by_label("Unsure").check()
    frame.get_by_label("Sure", exact=True).check()
    frame.get_by_label("Confusing").check()
    frame.get_by_label("Score").press("ArrowRight")
    frame.get_by_label("Sad").check()
    frame.get_by_label("Home").check()
    frame.get_by_label("Why?").fill("Two dogs.")
    frame.get_by_role("button", name="Help").click()
    frame.get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    assert answer() == [
        {
            "age": "7",
            "confusing": {"selected": True},
            "mood": {"label": "Sad"},
            "place": "in",
            "score": "5",
            "sure": {"yes": True},
            "told": {"on": False},
            "topics": {"labels": ["Home"]},
            "unsure": {"yes": False},
            "why": "Two dogs.",
            "wrong": {"selected": True},
        }
    ]


def test_what_is_required_is_asked_for(task):
    _, frame = task(FORM)
    frame.get_by_role("button", name="Send").click()
    assert frame.locator("input:invalid").evaluate_all("fields => fields.map(field => field.value)") == [
        "yes", "yes", "Happy", "Sad", "",
    ]  # fmt: skip
    assert Assignment.objects.get().status == "Open"


def test_elements_that_a_script_makes_later_work_too(task):
    page, frame = task(BUILT_LATER)
    frame.get_by_label("One").check()
    frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    assert answer() == [{"a": {"1": True}}]


def test_a_templates_own_check_can_keep_the_form_back(task):
    page, frame = task(GUARDED)
    frame.get_by_label("Why?").fill("so")
    frame.get_by_role("button", name="Submit").click()
    frame.get_by_label("Why?").fill("because")
    assert Assignment.objects.get().status == "Open"
    frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    assert answer() == [{"why": "because"}]


def test_a_preview_of_crowd_elements_is_locked(task):
    _, frame = task(FORM, accept=False)
    expect(frame.get_by_role("button", name="Send")).to_be_disabled()
    expect(frame.get_by_role("button", name="Help")).to_be_enabled()
