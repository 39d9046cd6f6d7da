"""Template batches through the back office's pages, as a researcher of one requester."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from marketplace.accounts import keys
from marketplace.models import HIT, Assignment, BatchRow, Requester, TemplateBatch
from marketplace.questions import answer_documents
from tests.marketplace.admin.researchers import researcher_of
from tests.marketplace.batches.batches_made import TABLE, TEMPLATE, draft, hits, published, work

LIST = "/admin/marketplace/templatebatch/"
TERMS = {
    "title": "Look at pictures",
    "description": "Short questions.",
    "reward": "0.38",
    "max_assignments": "5",
    "minutes": "60",
    "lifetime_days": "1",
    "approval_hours": "72",
    "frame_height": "0",
}


@pytest.fixture
def researcher(requester, settings):
    """The client of a researcher who runs Vision Lab, and no other requester."""
    settings.APP_HOST = "127.0.0.1"
    return researcher_of(requester)


def text(response):
    return response.content.decode()


def upload(client, requester, *, template=TEMPLATE, table=TABLE, address=f"{LIST}add/", **values):
    form = {**TERMS, "requester": requester.pk, "template": template, **values}
    if table is not None:
        form["table"] = SimpleUploadedFile("rows.csv", table)
    return client.post(address, form)


def errors(response):
    return re.findall(r'<p class="bad"[^>]*>(.*?)</p>', text(response))


def test_a_researcher_uploads_looks_and_publishes(researcher, requester):
    made = upload(researcher, requester)
    batch = TemplateBatch.objects.get()
    assert (made.status_code, made["Location"]) == (302, f"{LIST}{batch.pk}/change/")
    page = text(researcher.get(made["Location"]))
    assert re.search(r'id="total">(.*?)<', page).group(1) == "$4.60"
    assert (page.count("<iframe"), HIT.objects.count()) == (2, 0)
    row = researcher.get(f"{LIST}{batch.pk}/rows/2/")
    assert "<p>&lt;b&gt;Why?&lt;/b&gt;</p>" in text(row)
    assert row["Content-Security-Policy"].startswith(
        "sandbox allow-scripts allow-forms allow-popups allow-modals;"
    )
    published_page = text(researcher.post(f"{LIST}{batch.pk}/publish/", follow=True))
    assert "0 of 10 assignments submitted, 0 of 2 HITs complete" in published_page
    assert HIT.objects.count() == 2


def test_without_money_nothing_is_published(researcher, requester):
    upload(researcher, requester, reward="100.00")
    batch = TemplateBatch.objects.get()
    page = text(researcher.get(f"{LIST}{batch.pk}/change/"))
    assert re.search(r'id="lacking">(.*?)<', page).group(1) == (
        "The account lacks $200.00. An administrator can make a deposit."
    )
    answer = text(researcher.post(f"{LIST}{batch.pk}/publish/", follow=True))
    assert "Nothing was published. Your account does not have enough money for this operation." in answer
    assert HIT.objects.count() == 0


BAD = {
    "missing column": ({"table": b"picture\n1.jpg\n"}, "The template asks for ${question} on line 1; "
                       "the file has no such column."),
    "empty cell": ({"table": b"picture,question\n1.jpg,\n"}, "Row 1, column “question”, is empty."),
    "short row": ({"table": b"picture,question\n1.jpg\n"}, "Row 1 ends before the column “question”."),
    "not UTF-8": ({"table": b"picture,question\n1,\xff\n"}, "Line 2 is not UTF-8. Save the file as CSV in UTF-8."),
    "empty file": ({"table": b""}, "The submitted file is empty."),
    "no file": ({"table": None}, "A CSV is needed."),
    "no template": ({"template": " "}, "A template is needed: choose a file or paste the HTML."),
    "too dear": ({"reward": "10000.01"}, "Ensure this value is less than or equal to 10000."),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), BAD.values(), ids=BAD)
def test_what_is_wrong_is_said_and_nothing_stored(researcher, requester, changes, message):
    answer = upload(researcher, requester, **changes)
    assert (answer.status_code, errors(answer)) == (422, [message])
    assert (TemplateBatch.objects.count(), BatchRow.objects.count()) == (0, 0)


def test_a_template_can_be_a_file(researcher, requester):
    file = SimpleUploadedFile("t.html", b"\xef\xbb\xbf<p>${question}")
    upload(researcher, requester, template="", template_file=file)
    assert TemplateBatch.objects.get().template == "<p>${question}"


def test_files_that_are_too_large_are_refused(researcher, requester, settings):
    settings.UPLOAD_MAX_BYTES = 2048
    big = SimpleUploadedFile("t.html", b"x" * 65_536)
    answer = upload(researcher, requester, template="", template_file=big, table=b"a\n" + b"x" * 2048)
    assert errors(answer) == ["The file is larger than 63 kB.", "The file is larger than 2 kB."]


def test_a_batch_is_the_start_of_another(researcher, requester):
    first = draft(requester)
    page = text(researcher.get(f"{LIST}add/?again={first.pk}"))
    assert "${question}&lt;/p&gt;" in page
    upload(researcher, requester, table=None, address=f"{LIST}add/?again={first.pk}", title="Again")
    second = TemplateBatch.objects.get(title="Again")
    assert list(second.rows.values_list("values", flat=True)) == list(
        first.rows.values_list("values", flat=True)
    )


def test_a_draft_can_be_discarded_and_a_published_batch_not(researcher, requester):
    gone, stays = draft(requester), published(requester)
    researcher.post(f"{LIST}{gone.pk}/discard/")
    answer = text(researcher.post(f"{LIST}{stays.pk}/discard/", follow=True))
    assert "This batch is published; it stays." in answer
    assert list(TemplateBatch.objects.all()) == [stays]


def test_results_are_downloaded_and_uploaded_again(researcher, requester):
    batch = published(requester)
    row = work(hits(batch)[0], worker=keys.create_worker()[0], answer=answer_documents.document({"a": "1"}))
    response = researcher.get(f"{LIST}{batch.pk}/results.csv")
    assert response["Content-Disposition"] == f'attachment; filename="Batch_{batch.pk}_batch_results.csv"'
    raw = b"".join(response.streaming_content) + b',"x",""'
    file = SimpleUploadedFile("results.csv", raw)
    page = text(researcher.post(f"{LIST}{batch.pk}/decide/", {"results": file}, follow=True))
    assert "Approved: 1. Rejected: 0." in page
    assert Assignment.objects.get(pk=row.pk).status == "Approved"


def test_a_bad_decision_file_is_explained(researcher, requester):
    batch = published(requester)
    file = SimpleUploadedFile("results.csv", b"AssignmentId,Approve,Reject\n3NOBODY,x,\n")
    answer = researcher.post(f"{LIST}{batch.pk}/decide/", {"results": file})
    assert answer.status_code == 422
    assert "<li>Row 1: this batch has no assignment 3NOBODY.</li>" in text(answer)


def test_a_draft_has_no_results(researcher, requester):
    assert researcher.get(f"{LIST}{draft(requester).pk}/results.csv").status_code == 404


@pytest.mark.parametrize(
    ("method", "page"),
    [
        ("get", "change/"),
        ("get", "results.csv"),
        ("get", "rows/1/"),
        ("post", "publish/"),
        ("post", "discard/"),
        ("post", "decide/"),
    ],
)
def test_another_requesters_batch_does_not_exist_for_a_researcher(researcher, method, page, db):
    batch = draft(Requester.objects.create(name="Other Lab"))
    assert getattr(researcher, method)(f"{LIST}{batch.pk}/{page}").status_code == 404
    assert text(researcher.get(LIST)).count("Look at pictures") == 0
    assert researcher.get(f"{LIST}add/?again={batch.pk}").status_code == 404


def test_a_batch_is_not_made_for_another_requester(researcher):
    other = Requester.objects.create(name="Other Lab")
    answer = upload(researcher, other)
    assert errors(answer) == ["Select a valid choice. That choice is not one of the available choices."]


def test_staff_without_the_permission_are_refused(requester):
    client = researcher_of(requester, role="")
    batch = draft(requester)
    paths = [f"{LIST}{batch.pk}/change/", f"{LIST}add/", f"{LIST}{batch.pk}/rows/1/"]
    assert [client.get(path).status_code for path in paths] == [403, 403, 403]


@pytest.mark.parametrize("number", ["0", "²", "x", "9" * 18, "9" * 40])
def test_a_strange_number_is_no_batch(researcher, number):
    assert researcher.get(f"{LIST}add/?again={number}").status_code == 404
    assert researcher.get(f"{LIST}{number}/change/").status_code == 404
    assert researcher.get(f"{LIST}{number}/rows/{number}/").status_code in {302, 404}
