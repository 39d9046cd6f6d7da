"""HTMLQuestion documents in a real browser: forms, crowd-form, and what their scripts cannot reach."""

import json
import re
from html import unescape

import pytest
from playwright.sync_api import expect

from marketplace.models import Assignment

FORM = """<!DOCTYPE html><html lang="en"><head><title>Task</title></head><body><h1>Task</h1>
<form name="mturk_form" method="post" action="https://www.mturk.com/mturk/externalSubmit">
<input type="hidden" name="assignmentId" value=""><label>Answer <input name="answer" value="yes"></label>
<input type="hidden" name="reached" id="reached"><input type="submit" value="Send"></form>
<script>
function attempt(action) { try { return String(action()); } catch (error) { return error.name; } }
document.getElementById("reached").value = [() => document.cookie, () => parent.document.title].map(attempt);
turkSetAssignmentID();
</script></body></html>"""
CROWD = """<crowd-form><h1>Task</h1>
<label><input type="radio" name="choice" value="a">A</label>
<label><input type="radio" name="choice" value="b" checked>B</label>
<input type="hidden" name="picture" value="7.jpg"><textarea name="remark" aria-label="Remark"></textarea>
<crowd-button form-action="submit">Send</crowd-button></crowd-form>"""


ALERT = """<!DOCTYPE html><html lang="en"><head><title>Task</title></head><body><h1>Task</h1>
<form method="post" action="https://www.mturk.com/mturk/externalSubmit"><input name="answer" aria-label="Answer">
<input type="submit" value="Send"></form>
<script>
document.forms[0].onsubmit = () => { alert("Answer all questions."); return false; };
</script></body></html>"""


def answers():
    """Return the fields of the only submitted answer."""
    document = Assignment.objects.get().answer
    found = re.findall(r"<QuestionIdentifier>(.*?)</QuestionIdentifier><FreeText>(.*?)</FreeText>", document)
    return {name: unescape(value) for name, value in found}


def test_a_template_made_for_mturk_submits_here_and_reaches_nothing_of_ours(start):
    page = start(FORM)
    page.frame_locator("#task").get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    assert answers() == {"answer": "yes", "reached": "SecurityError,SecurityError"}


def test_a_crowd_form_submits_one_object(start):
    page = start(CROWD)
    page.frame_locator("#task").get_by_role("button", name="Send").click()
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    fields = answers()
    assert list(fields) == ["taskAnswers"]
    assert json.loads(fields["taskAnswers"]) == [{"choice": {"a": False, "b": True}, "picture": "7.jpg"}]


def test_a_template_may_say_in_an_alert_what_is_missing(start):
    page = start(ALERT)
    said = []
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.accept()))
    page.frame_locator("#task").get_by_role("button", name="Send").click()
    assert said == ["Answer all questions."]


@pytest.mark.parametrize("html", [FORM, CROWD], ids=["form", "crowd"])
def test_a_preview_cannot_be_submitted(start, html):
    page = start(html, accept=False)
    expect(page.frame_locator("#task").get_by_role("button", name="Send")).to_be_disabled()
