"""A template batch from publication to its results file, done by a worker in a real browser."""

import csv
import io

from django.utils import timezone
from playwright.sync_api import expect

from marketplace.batches import results
from marketplace.models import Assignment
from tests.marketplace.batches.batches_made import published

PLAIN = """<html><head><title>Task</title></head><body><h1>Task</h1><p id="shown">${question}</p>
<label><input type="radio" name="c1" value="0">Yes</label><label><input type="radio" name="c1" value="1">No</label>
<label><input type="checkbox" name="1-f1" value="0">Vague</label>
<label><input type="checkbox" name="1-f1" value="2">Wrong</label>
<textarea name="commentbox" aria-label="Comment"></textarea><input type="hidden" name="heard" id="heard">
<script>document.getElementById("heard").value = "${question}" + `${1 + 1}`;</script></body></html>"""
NASTY = '</script><b>"it\'s" ${x} `&`</b>'
TABLE = f'question\n"{NASTY.replace(chr(34), chr(34) * 2)}"\n'.encode()


def test_a_plain_template_of_old_is_done_and_comes_out_as_it_did(requester, sign_in):
    batch = published(requester, template=PLAIN, table=TABLE, max_assignments=1)
    page = sign_in(f"/projects/{batch.hit_type.type_id}/tasks")
    expect(page.frame_locator("#task").get_by_role("button", name="Submit")).to_be_disabled()
    page.get_by_role("button", name="Accept").click()
    task = page.frame_locator("#task")
    expect(task.locator("#shown")).to_have_text(NASTY)
    task.get_by_label("No").check()
    task.get_by_label("Vague").check()
    task.get_by_label("Wrong").check()
    task.get_by_label("Comment").fill("=1+1")
    task.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    text = "".join(results.lines(batch, now=timezone.now()))
    header, row = csv.reader(io.StringIO(text, newline=""))
    cells = dict(zip(header, row, strict=False))
    assert {name: cell for name, cell in cells.items() if name.startswith(("Input.", "Answer."))} == {
        "Input.question": NASTY,
        "Answer.1-f1": "0|2",
        "Answer.c1": "1",
        "Answer.commentbox": "=1+1",
        "Answer.heard": NASTY + "2",
    }
    assert Assignment.objects.get().status == "Submitted"
