"""The worker site in a real browser, with a task on another site inside the frame."""

import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from marketplace.accounts import keys
from marketplace.engine import assignments
from marketplace.models import Assignment, Message
from marketplace.money import ledger
from marketplace.qualifications import qualification_types, requirements
from tests.accessible import faults
from tests.marketplace.question_documents import external_question

APPEAL = "https://assent.example.org/appeals/abc/"
TASK = """<!doctype html><html lang="en"><title>Task</title><h1>Task</h1>
<form method="post"><input type="hidden" name="assignmentId"><input name="answer" aria-label="Answer" value="yes">
<button>Send</button><button type="button" id="window">Window</button></form>
<script>
const given = new URLSearchParams(location.search), form = document.forms[0];
form.assignmentId.value = given.get("assignmentId");
form.action = given.get("turkSubmitTo") + "/mturk/externalSubmit";
document.getElementById("window").onclick = () => {
  form.answer.value = window.open("about:blank") ? "open" : "closed";
};
</script>"""

# All of it is in the window, and it is what a finger on its middle meets.
IS_WITHIN = """node => {
  const box = node.getBoundingClientRect();
  const isSeen = box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight;
  return isSeen && node.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
}"""


class TaskHandler(BaseHTTPRequestHandler):
    """The requester's own server."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(TASK.encode())

    def log_message(self, *args: object) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def task_url() -> Iterator[str]:
    """The task's address: on 127.0.0.1, which is another site than localhost."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), TaskHandler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/task"
    server.shutdown()
    server.server_close()


@pytest.fixture
def worker_page(sign_in, publish, task_url):
    """A signed-in worker's page, before the list with two HITs on offer."""
    publish(external_question(task_url), count=2, max_assignments=2)
    return sign_in()


def see_task(page):
    expect(page.frame_locator("#task").get_by_role("heading", name="Task")).to_be_visible()


def start(page):
    page.get_by_role("link", name="Look at a picture").click()
    page.get_by_role("button", name="Accept").click()
    see_task(page)


def test_a_task_on_another_site_may_open_a_window_of_its_own(worker_page):
    start(worker_page)
    task = worker_page.frame_locator("#task")
    with worker_page.context.expect_page():
        task.get_by_role("button", name="Window").click()
    expect(task.get_by_label("Answer")).to_have_value("open")


def test_a_task_on_another_site_submits_and_the_page_moves_on(worker_page):
    start(worker_page)
    expect(worker_page.locator("#countdown")).to_have_text(re.compile(r"00:5\d:\d\d"))
    worker_page.frame_locator("#task").get_by_role("button", name="Send").press("Enter")
    expect(worker_page.get_by_role("heading", name="Submitted")).to_be_visible()
    row = Assignment.objects.get()
    assert row.status == "Submitted"
    assert "<QuestionIdentifier>answer</QuestionIdentifier><FreeText>yes</FreeText>" in row.answer
    worker_page.get_by_role("button", name="Accept the next HIT").click()
    expect(worker_page.locator("#task")).to_be_visible()


def test_back_comes_to_the_time_that_is_left_and_to_what_became_of_it(worker_page, later):
    start(worker_page)
    worker_page.get_by_role("link", name="My work").click()
    later(seconds=1200)
    worker_page.go_back()
    see_task(worker_page)
    expect(worker_page.locator("#countdown")).to_have_text(re.compile(r"00:39:\d\d"))
    worker_page.frame_locator("#task").get_by_role("button", name="Send").press("Enter")
    expect(worker_page.get_by_role("heading", name="Submitted")).to_be_visible()
    worker_page.go_back()
    expect(worker_page.locator("#countdown")).to_have_count(0)


def test_a_submission_after_the_time_says_so_in_the_frame(worker_page, later):
    start(worker_page)
    later(seconds=3601)
    worker_page.frame_locator("#task").get_by_role("button", name="Send").press("Enter")
    expect(worker_page.frame_locator("#task").locator("#refused")).to_contain_text("its time ran out")
    assert Assignment.objects.get().status == "Abandoned"


def test_a_tab_left_open_after_a_return_submits_nothing_for_the_next_worker(worker_page):
    """The task sends no workerId, and the browser no session from its frame: the frame's cookie tells."""
    start(worker_page)
    first = Assignment.objects.get()
    assignments.give_back(first, now=timezone.now())
    second = assignments.accept(first.hit, worker=keys.create_worker()[0], now=timezone.now())
    assert second.assignment_id == first.assignment_id
    worker_page.frame_locator("#task").get_by_role("button", name="Send").press("Enter")
    expect(worker_page.frame_locator("#task").locator("#refused")).to_contain_text("to another worker")
    second.refresh_from_db()
    assert second.status == "Open"


def make_type(assignment, *, name):
    settings = qualification_types.Settings(description="One sentence about it.", status="Active")
    return qualification_types.create(
        assignment.hit.requester, name=name, keywords="", settings=settings, now=timezone.now()
    )


def talk_to(assignment):
    """Give the worker a bonus, a qualification and the message that comes with it."""
    kind, now = make_type(assignment, name="Second wave"), timezone.now()
    qualification_types.grant(kind, worker=assignment.worker, value=2, notify=True, now=now)
    ledger.send_bonus(
        assignment,
        worker_id=assignment.worker.worker_id,
        cents=150,
        reason="Careful remarks.",
        token=None,
        now=now,
    )


def answer_appeal(assignment):
    """Write to the worker about the address that their rejection has."""
    about = {"requester": assignment.hit.hit_type.requester, "worker": assignment.worker}
    Message.objects.create(
        **about, subject="The rejection stays", text=f"See {APPEAL}", sent_at=timezone.now()
    )


def guarded(assignment, publish):
    """Publish a HIT that needs a qualification the worker lacks; return its HITTypeId."""
    kind = make_type(assignment, name="Reads German")
    asked = {"QualificationTypeId": kind.type_id, "Comparator": "Exists"}
    hit_type = publish(
        assignment.hit.question,
        title="Judge German explanations",
        requirements=[requirements.complete(asked)],
    )
    return hit_type.type_id


def test_more_time_is_asked_for_without_leaving_the_task(worker_page):
    worker_page.clock.install()
    start(worker_page)
    task, button = (
        worker_page.frame_locator("#task"),
        worker_page.get_by_role("button", name="30 minutes more"),
    )
    task.get_by_label("Answer").fill("half a")
    expect(button).to_be_hidden()
    worker_page.clock.fast_forward("56:00")
    expect(worker_page.locator("#time-note")).to_have_text("Less than five minutes are left.")
    seen = faults(worker_page)
    worker_page.set_viewport_size({"width": 390, "height": 844})
    expect(button).to_be_visible()
    assert 844 - worker_page.locator("#task").bounding_box()["height"] <= 56
    button.click()
    expect(worker_page.locator("#time-note")).to_have_text("You have more time.")
    expect(worker_page.locator("#countdown")).to_have_text(re.compile("^01:2"))
    expect(button).to_be_hidden()
    expect(task.get_by_label("Answer")).to_have_value("half a")
    assert seen == []


def test_nothing_but_the_task_scrolls(worker_page):
    """What stays around the frame takes one line, or the side of a low window; the rest is behind a button."""
    start(worker_page)
    menu, back = (
        worker_page.get_by_role("button", name="Menu"),
        worker_page.get_by_role("button", name="Return"),
    )
    seen = {}
    for size in ((1280, 800), (390, 844), (844, 390), (320, 200)):
        worker_page.set_viewport_size({"width": size[0], "height": size[1]})
        page = worker_page.evaluate("document.documentElement.scrollHeight - innerHeight")
        beside = size[1] - worker_page.locator("#task").bounding_box()["height"]
        seen[size] = (page, beside <= 56, menu.is_visible(), back.is_visible())
    small = (0, True, True, False)
    assert seen == {(1280, 800): (0, True, False, True), **dict.fromkeys(list(seen)[1:], small)}
    menu.click()
    expect(back).to_be_visible()
    worker_page.keyboard.press("Escape")
    expect(back).to_be_hidden()


@pytest.mark.parametrize("language", ["en", "ru"])
@pytest.mark.parametrize("size", [(1280, 800), (390, 844), (320, 568), (844, 390), (320, 200)])
def test_a_hit_is_accepted_by_a_finger_in_any_window(worker_page, worker_site, language, size):
    worker_page.set_viewport_size({"width": size[0], "height": size[1]})
    worker_page.goto(f"{worker_site}/?language={language}")
    worker_page.get_by_role("link", name="Look at a picture").click()
    see_task(worker_page)
    assert worker_page.evaluate("document.documentElement.scrollWidth - innerWidth") == 0
    button = worker_page.locator("#accept button")
    assert button.evaluate(IS_WITHIN)
    button.click()
    expect(worker_page.locator("#countdown")).to_be_visible()


def test_whoever_has_answered_is_asked_before_it_is_returned(worker_page):
    questions = []
    worker_page.on("dialog", lambda dialog: (questions.append(dialog.message), dialog.dismiss()))
    start(worker_page)
    worker_page.frame_locator("#task").get_by_label("Answer").fill("no")
    worker_page.get_by_role("button", name="Return").click()
    assert questions == ["Return this HIT? What you have answered is not submitted, and not paid."]
    assert Assignment.objects.get().status == "Open"
    worker_page.reload()
    see_task(worker_page)
    worker_page.get_by_role("button", name="Return").click()
    worker_page.wait_for_url("**/tasks")
    assert (len(questions), Assignment.objects.get().status) == (1, "Returned")


def test_every_page_is_accessible_and_fits(worker_page, publish, worker_site):
    page = worker_page
    seen = {"list": faults(page)}
    page.get_by_role("link", name="Look at a picture").click()
    see_task(page)
    seen["preview"] = faults(page)
    page.get_by_role("button", name="Accept").click()
    expect(page.locator("#countdown")).to_be_visible()
    see_task(page)
    seen["work"] = faults(page)
    done = Assignment.objects.get()
    page.goto(f"{worker_site}/work")
    seen["queue"] = faults(page)
    page.locator("#queue").get_by_role("button").click()
    expect(page.get_by_role("heading", name="Return this HIT?")).to_be_visible()
    seen["returning"] = faults(page)
    assignments.submit(done, answer="-", now=timezone.now())
    assignments.reject(done, now=timezone.now(), feedback=f"Two of five were right. {APPEAL}")
    page.goto(f"{worker_site}/assignments/{done.assignment_id}")
    seen["after"] = faults(page)
    talk_to(done)
    answer_appeal(done)
    page.goto(f"{worker_site}/work")
    expect(page.locator("#messages li")).to_have_count(2)
    expect(page.locator("#done .followed")).to_have_count(1)
    expect(page.locator("#qualifications li")).to_have_count(1)
    seen["decided"] = faults(page)
    page.get_by_role("link", name="Earnings by day").click()
    expect(page.locator("#days tbody tr")).to_have_count(1)
    seen["earnings"] = faults(page)
    page.goto(f"{worker_site}/work/earnings?language=ru")
    expect(page.get_by_role("heading", name="Заработок по дням")).to_be_visible()
    seen["earnings in Russian"] = faults(page)
    page.goto(f"{worker_site}/?language=en")
    page.goto(f"{worker_site}/work/messages")
    expect(page.locator("#messages li")).to_have_count(2)
    seen["all messages"] = faults(page)
    page.goto(f"{worker_site}/work/given-up")
    seen["nothing given up"] = faults(page)
    Assignment.objects.filter(pk=done.pk).update(status="Returned")
    page.reload()
    expect(page.locator("#given-up li")).to_have_count(1)
    seen["given up"] = faults(page)
    Assignment.objects.filter(pk=done.pk).update(status="Rejected")
    page.goto(f"{worker_site}/qualifications")
    expect(page.locator("#held li")).to_have_count(1)
    seen["qualifications"] = faults(page)
    page.goto(f"{worker_site}/projects/{guarded(done, publish)}/tasks")
    seen["guarded"] = faults(page)
    page.get_by_role("link", name="Request").click()
    seen["qualification"] = faults(page)
    page.get_by_role("button", name="Request this qualification").click()
    seen["requested"] = faults(page)
    page.goto(f"{worker_site}/mturk/externalSubmit")
    seen["refused"] = faults(page)
    page.goto(f"{worker_site}/sign-in")
    seen["sign-in"] = faults(page)
    page.get_by_role("button", name="Join as a new worker").click()
    seen["joined"] = faults(page)
    assert {name: found for name, found in seen.items() if found} == {}
