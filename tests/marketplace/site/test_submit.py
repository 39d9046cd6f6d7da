"""externalSubmit: what a task in a frame may post, and what becomes of it."""

from xml.etree import ElementTree

import pytest
from django.test import Client

from marketplace.accounts.sessions import FRAME_COOKIE
from marketplace.models import Assignment
from tests.marketplace.question_documents import OPENING


@pytest.fixture
def work(mturk, new_hit, new_worker):
    """(HITId, AssignmentId, worker's browser) of an accepted HIT."""
    hit = mturk.get_hit(HITId=new_hit())["HIT"]
    worker = new_worker()
    return hit["HITId"], worker.accept(hit["HITTypeId"]), worker


def post(form, method="post"):
    response = getattr(Client(headers={"host": "localhost"}), method)("/mturk/externalSubmit", form)
    return response.status_code, response["X-Frame-Options"]


def answer(mturk, assignment_id):
    return mturk.get_assignment(AssignmentId=assignment_id)["Assignment"]["Answer"]


def test_the_answer_document_is_written_as_mturk_writes_it(mturk, work):
    hit_id, assignment_id, worker = work
    form = {
        "assignmentId": assignment_id,
        "hitId": hit_id,
        "z-last": 'é < & " \u2028 \U0001f600',
        "workerId": worker.worker.worker_id,
        "boxes": ["1", "3"],
        "control": "a\x00b\x0bc\ufffed\te\r\n",
        "empty": "",
    }
    assert post(form) == (200, "SAMEORIGIN")
    fields = [
        ("z-last", '&#233; &lt; &amp; " &#8232; &#128512;'),
        ("workerId", worker.worker.worker_id),
        ("boxes", "1|3"),
        ("control", "abcd\te&#13;\n"),
        ("empty", ""),
    ]
    body = "".join(
        f"<Answer><QuestionIdentifier>{name}</QuestionIdentifier><FreeText>{value}</FreeText></Answer>"
        for name, value in fields
    )
    written = answer(mturk, assignment_id)
    assert written == f"{OPENING}{body}</QuestionFormAnswers>"
    assert [
        node.text for node in ElementTree.fromstring(written).iter() if node.tag.endswith("FreeText")
    ] == [
        'é < & " \u2028 \U0001f600',
        worker.worker.worker_id,
        "1|3",
        "abcd\te\r\n",
        None,
    ]


def test_get_is_understood_too(mturk, work):
    assert post({"assignmentId": work[1], "answer": "yes"}, "get") == (200, "SAMEORIGIN")
    assert "<FreeText>yes</FreeText>" in answer(mturk, work[1])


def test_a_worker_id_is_field_enough(mturk, work):
    form = {"assignmentId": work[1], "hitId": work[0], "workerId": work[2].worker.worker_id}
    assert post(form) == (200, "SAMEORIGIN")


def test_a_hit_id_is_ignored_and_an_empty_worker_id_is_none(mturk, work):
    form = {"assignmentId": work[1], "hitId": "3OTHER", "workerId": "", "answer": "yes"}
    assert post(form) == (200, "SAMEORIGIN")
    assert "3OTHER" not in answer(mturk, work[1])


REFUSED = [
    ("no field besides the assignment", lambda hit, own: {"assignmentId": own, "hitId": hit}),
    ("a preview", lambda hit, own: {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "answer": "yes"}),
    ("no assignment", lambda hit, own: {"answer": "yes"}),
    ("an unknown assignment", lambda hit, own: {"assignmentId": "3NOSUCH", "answer": "yes"}),
    ("another worker", lambda hit, own: {"assignmentId": own, "workerId": "AOTHER", "answer": "yes"}),
    ("too much", lambda hit, own: {"assignmentId": own, "answer": "y" * 3_000_000}),
    ("too many fields", lambda hit, own: {"assignmentId": own} | {f"f{n}": "" for n in range(5001)}),
]


@pytest.mark.parametrize("form", [row[1] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_what_is_refused_is_said_in_the_frame_and_not_recorded(work, form):
    assert post(form(work[0], work[1])) == (400, "SAMEORIGIN")
    assert Assignment.objects.get().status == "Open"


def test_the_second_submission_is_refused_and_changes_nothing(mturk, work):
    post({"assignmentId": work[1], "answer": "first"})
    before = answer(mturk, work[1])
    assert post({"assignmentId": work[1], "answer": "second"}) == (400, "SAMEORIGIN")
    assert answer(mturk, work[1]) == before


def test_returned_work_cannot_be_submitted(work):
    work[2].give_back(work[1])
    assert post({"assignmentId": work[1], "answer": "yes"}) == (400, "SAMEORIGIN")


def test_a_tab_left_open_submits_nothing_for_the_next_holder_of_its_number(mturk, work, new_worker):
    hit_id, assignment_id, first = work
    first.give_back(assignment_id)
    second = new_worker()
    assert second.accept(mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"]) == assignment_id
    form = {"assignmentId": assignment_id, "answer": "stale"}
    assert first.client.post("/mturk/externalSubmit", form).status_code == 400
    assert Assignment.objects.get(worker=second.worker).status == "Open"
    assert second.client.post("/mturk/externalSubmit", form | {"answer": "mine"}).status_code == 200
    assert "mine" in answer(mturk, assignment_id)


def test_late_work_is_refused(work, later):
    later(seconds=3601)
    assert post({"assignmentId": work[1], "answer": "yes"}) == (400, "SAMEORIGIN")
    assert Assignment.objects.get().status == "Abandoned"


def test_no_cookie_and_no_token_is_needed_from_another_site(work):
    client = Client(headers={"host": "localhost", "origin": "http://127.0.0.1"}, enforce_csrf_checks=True)
    response = client.post("/mturk/externalSubmit", {"assignmentId": work[1], "answer": "yes"})
    assert (response.status_code, dict(client.cookies)) == (200, {})


def test_a_page_is_bound_to_whoever_is_signed_in_whatever_it_says(mturk, work, new_worker):
    """Somebody else's session submits nothing, also under the right workerId."""
    _, assignment_id, first = work
    form = {"assignmentId": assignment_id, "workerId": first.worker.worker_id, "answer": "mine"}
    assert new_worker().client.post("/mturk/externalSubmit", form).status_code == 400
    assert Assignment.objects.get().status == "Open"
    assert first.client.post("/mturk/externalSubmit", form).status_code == 200


def test_a_page_of_another_worker_is_refused_whoever_is_signed_in(work, new_worker):
    form = {"assignmentId": work[1], "workerId": new_worker().worker.worker_id, "answer": "stale"}
    assert work[2].client.post("/mturk/externalSubmit", form).status_code == 400


@pytest.fixture
def recycled(mturk, work, new_worker):
    """An AssignmentId that its first worker has given back and the second holds now: (id, first, second)."""
    hit_id, assignment_id, first = work
    first.give_back(assignment_id)
    second = new_worker()
    assert second.accept(mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"]) == assignment_id
    return assignment_id, first, second


def in_a_frame(browser):
    """What a browser sends from a frame of another site: no session, which is SameSite=Lax."""
    frame = Client(headers={"host": "localhost"})
    frame.cookies[FRAME_COOKIE] = browser.client.cookies[FRAME_COOKIE].value
    return frame


def test_a_frame_left_open_submits_nothing_for_the_next_holder_of_its_number(mturk, recycled):
    assignment_id, first, second = recycled
    form = {"assignmentId": assignment_id, "answer": "stale"}
    for more in ({}, {"workerId": first.worker.worker_id}, {"workerId": second.worker.worker_id}):
        assert in_a_frame(first).post("/mturk/externalSubmit", form | more).status_code == 400
    assert Assignment.objects.get(worker=second.worker).status == "Open"
    assert in_a_frame(second).post("/mturk/externalSubmit", form | {"answer": "mine"}).status_code == 200
    assert "mine" in answer(mturk, assignment_id)


def test_a_program_without_a_session_goes_by_the_number_or_by_whom_it_names(mturk, recycled):
    assignment_id, first, _ = recycled
    form = {"assignmentId": assignment_id, "answer": "by a script"}
    assert post(form | {"workerId": first.worker.worker_id}) == (400, "SAMEORIGIN")
    assert post(form) == (200, "SAMEORIGIN")


def test_a_cookie_of_the_frame_that_we_did_not_sign_is_none(work):
    frame = Client(headers={"host": "localhost"})
    frame.cookies[FRAME_COOKIE] = "AINVENTED:x:y"
    form = {"assignmentId": work[1], "answer": "yes"}
    assert frame.post("/mturk/externalSubmit", form).status_code == 200


def test_the_frames_cookie_goes_only_where_frames_post_and_outlives_the_session(recycled):
    """Who signed out and left the tab open is still not the next holder."""
    assignment_id, first, second = recycled
    cookie = first.client.cookies[FRAME_COOKIE]
    assert (cookie["path"], cookie["samesite"]) == ("/mturk/externalSubmit", "None")
    assert (cookie["secure"], cookie["httponly"]) == (True, True)
    first.client.post("/sign-out")
    form = {"assignmentId": assignment_id, "answer": "stale"}
    assert first.client.post("/mturk/externalSubmit", form).status_code == 400
    assert Assignment.objects.get(worker=second.worker).status == "Open"
