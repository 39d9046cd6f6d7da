"""HTMLQuestion: what is taken, and how the document is served."""

import re

import pytest

from marketplace.questions import hit_questions
from tests.marketplace.question_documents import html_question
from tests.marketplace.refusals import refusal

PAGE = (
    "<!DOCTYPE html><html><head><title>T</title></head><body>"
    '<form method="post" action="https://www.mturk.com/mturk/externalSubmit">'
    '<input type="hidden" name="assignmentId" value=""><input name="answer"></form></body></html>'
)


@pytest.fixture
def hit(mturk, new_hit):
    return mturk.get_hit(HITId=new_hit(Question=html_question(PAGE)))["HIT"]


def test_the_document_is_read_whole():
    assert hit_questions.parse(html_question(PAGE, height="450")) == hit_questions.HTMLQuestion(PAGE, 450)


BAD = [
    html_question(" "),
    html_question(PAGE, height="tall"),
    "<!-- <![CDATA[ --><!DOCTYPE a [<!ENTITY b 'c'>]><!-- ]]> -->"
    + html_question("x").replace("<![CDATA[x]]>", "&b;"),
    '<!DOCTYPE HTMLQuestion [<!ENTITY b "c">]>' + html_question(PAGE),
    html_question(PAGE).replace("2011-11-11", "2012-01-01"),
]


@pytest.mark.parametrize("document", BAD, ids=range(len(BAD)))
def test_bad_documents_are_refused(mturk, values, document):
    assert refusal(mturk.create_hit, **values | {"Question": document})[2] == "XMLParseError"


def test_the_requester_reads_the_question_as_it_was_sent(hit):
    assert hit["Question"] == html_question(PAGE)


def test_strict_frames_open_no_window_and_show_no_alert(hit, new_worker, settings):
    settings.MARKETPLACE_STRICT_FRAMES = True
    worker = new_worker().client
    document = worker.get(f"/frames/{hit['HITId']}")
    assert document["Content-Security-Policy"] == "sandbox allow-scripts allow-forms; frame-ancestors 'self'"
    page = worker.get(f"/projects/{hit['HITTypeId']}/tasks").content.decode()
    assert re.findall(r'sandbox="([^"]+)"', page) == ["allow-scripts allow-same-origin allow-forms"]


def test_the_document_is_of_no_origin_and_posts_here(hit, new_worker):
    response = new_worker().client.get(f"/frames/{hit['HITId']}")
    assert (
        response["Content-Security-Policy"]
        == "sandbox allow-scripts allow-forms allow-popups allow-modals; frame-ancestors 'self'"
    )
    assert (response["X-Frame-Options"], response["Cache-Control"]) == ("SAMEORIGIN", "no-store")
    page = response.content.decode()
    assert 'action="/mturk/externalSubmit"' in page
    assert re.search(
        r'<!DOCTYPE html><html><head><script src="[^"]+task_frame[^"]*\.js"></script><script ', page
    )


@pytest.mark.parametrize(
    ("html", "beginning"),
    [("<!doctype html><p>x</p>", "<!doctype html><script "), ("<crowd-form></crowd-form>", "<script ")],
)
def test_our_script_comes_first_in_fragments_too(mturk, new_hit, new_worker, html, beginning):
    page = new_worker().client.get(f"/frames/{new_hit(Question=html_question(html))}").content.decode()
    assert page.startswith(beginning)


def test_the_frame_has_the_parameters_an_external_question_has(hit, new_worker):
    browser = new_worker()
    preview = browser.client.get(f"/projects/{hit['HITTypeId']}/tasks").content.decode()
    frame = f"/frames/{hit['HITId']}?assignmentId="
    assert f'src="{frame}ASSIGNMENT_ID_NOT_AVAILABLE&amp;hitId={hit["HITId"]}"' in preview
    assignment_id = browser.accept(hit["HITTypeId"])
    work = browser.client.get(f"/projects/{hit['HITTypeId']}/tasks/{hit['HITId']}").content.decode()
    assert f'src="{frame}{assignment_id}&amp;hitId={hit["HITId"]}&amp;workerId=A' in work


def test_the_document_is_kept_from_who_may_not_preview_it(mturk, new_hit, new_worker, client):
    guard = {
        "QualificationTypeId": "00000000000000000040",
        "Comparator": "GreaterThan",
        "IntegerValues": [0],
        "ActionsGuarded": "PreviewAndAccept",
    }
    hit_id = new_hit(Question=html_question(PAGE), QualificationRequirements=[guard])
    assert new_worker().client.get(f"/frames/{hit_id}").status_code == 404
    assert client.get(f"/frames/{hit_id}", headers={"host": "localhost"}).status_code == 404


def test_there_is_no_document_of_an_external_question(new_hit, new_worker):
    assert new_worker().client.get(f"/frames/{new_hit()}").status_code == 404
