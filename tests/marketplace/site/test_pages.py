"""The worker site without JavaScript: finding, accepting, doing and returning HITs."""

import html
import re
from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from marketplace.accounts import keys
from marketplace.models import HIT, Assignment, Message, Worker
from tests.marketplace.question_documents import external_question


@pytest.fixture
def visitor():
    return Client(headers={"host": "localhost"}, enforce_csrf_checks=True)


@pytest.fixture
def kind(mturk, new_hit):
    """The HITTypeId of three published HITs of two assignments each."""
    hits = [new_hit(MaxAssignments=2) for _ in range(3)]
    return mturk.get_hit(HITId=hits[0])["HIT"]["HITTypeId"]


def text(response):
    return response.content.decode()


def frame(response):
    """Return (address without query, query pairs, attributes) of the task's frame."""
    tag = re.search(r'<iframe id="task"[^>]*>', text(response)).group()
    address = html.unescape(re.search(r'src="([^"]*)"', tag).group(1))
    return address.partition("?")[0], parse_qsl(urlsplit(address).query), tag


def post_form(client, page, address, data=None):
    """Post with the page's own CSRF token."""
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', text(page)).group(1)
    return client.post(address, {"csrfmiddlewaretoken": token, **(data or {})}, follow=True)


def available(response):
    found = re.findall(r'data-hit-type="(\w+)".*?class="available">(\d+)<', text(response), re.S)
    return {type_id: int(number) for type_id, number in found}


def test_a_visitor_joins_accepts_works_and_goes_on(visitor, kind, settings):
    page = visitor.get(f"/sign-in?next=/projects/{kind}/tasks")
    joined = post_form(visitor, page, "/join", {"next": f"/projects/{kind}/tasks"})
    worker_id = re.search(r'id="new-worker-id">(A[A-Z0-9]{13})<', text(joined)).group(1)
    code = re.search(r'id="new-access-code">([A-Z0-9]{16})<', text(joined)).group(1)
    assert joined["Cache-Control"] == "no-store"

    preview = visitor.get(f"/projects/{kind}/tasks")
    work = post_form(visitor, preview, f"/projects/{kind}/tasks/accept_random")
    address, query, tag = frame(work)
    assignment_id = re.search(r'data-assignment-id="(\w+)"', tag).group(1)
    hit_id = dict(query)["hitId"]
    assert address == "https://lab.example/hits/7"
    assert query == [
        ("lang", "en"),
        ("v", "2"),
        ("assignmentId", assignment_id),
        ("hitId", hit_id),
        ("workerId", worker_id),
        ("turkSubmitTo", "http://localhost"),
    ]
    assert 'sandbox="allow-scripts allow-same-origin allow-forms allow-popups allow-modals"' in tag
    assert 'title="Task: Look at a picture"' in tag

    visitor.post("/mturk/externalSubmit", {"assignmentId": assignment_id, "answer": "yes"})
    after = visitor.get(f"/assignments/{assignment_id}")
    assert 'id="submitted"' in text(after)
    assert (
        post_form(visitor, after, f"/projects/{kind}/tasks/accept_random").redirect_chain[0][0]
        != work.request["PATH_INFO"]
    )
    other = Client(headers={"host": "localhost"})
    signed_in = other.post(
        "/sign-in", {"worker_id": f" {worker_id.lower()} ", "access_code": code, "next": "/work"}
    )
    assert (signed_in.status_code, signed_in["Location"]) == (302, "/work")


def test_a_preview_names_no_worker(new_worker, kind):
    _, query, _ = frame(new_worker().client.get(f"/projects/{kind}/tasks"))
    assert dict(query)["assignmentId"] == "ASSIGNMENT_ID_NOT_AVAILABLE"
    assert [name for name, _ in query] == ["lang", "v", "assignmentId", "hitId"]


@pytest.mark.parametrize("which", ["HITTypeId", "HITGroupId"])
def test_the_addresses_tools_print_lead_to_the_preview(mturk, kind, visitor, which):
    identifier = mturk.list_hits()["HITs"][0][which]
    page = visitor.get(f"/mturk/preview?groupId={identifier}", follow=True)
    assert (page.status_code, page.redirect_chain) == (200, [(f"/projects/{identifier}/tasks", 302)])


def test_the_list_counts_what_is_left_for_this_worker(kind, new_worker, visitor):
    first, second, third = new_worker(), new_worker(), new_worker()
    assert available(visitor.get("/")) == {kind: 3}
    first.accept(kind)
    assert available(first.client.get("/")) == {kind: 2}
    second.accept(kind)
    assert available(third.client.get("/")) == {kind: 2}


def test_a_worker_gets_each_hit_once_and_then_no_more(kind, new_worker):
    worker = new_worker()
    held = [worker.accept(kind) for _ in range(4)]
    assert (len(set(held[:3])), held[3]) == (3, None)
    assert available(worker.client.get("/")) == {}
    queue = text(worker.client.get("/work"))
    assert queue.count('name="csrfmiddlewaretoken"') == 4
    worker.submit(held[0])
    assert worker.accept(kind) is None


def test_who_asks_for_a_taken_hit_gets_the_next_one(mturk, kind, new_worker):
    hits = sorted(row["HITId"] for row in mturk.list_hits()["HITs"])
    workers = [new_worker() for _ in range(3)]
    for worker in workers:
        worker.accept(kind, hits[0])
    taken = {row["HITId"]: row["NumberOfAssignmentsPending"] for row in mturk.list_hits()["HITs"]}
    assert (taken.pop(hits[0]), sorted(taken.values())) == (2, [0, 1])


def test_the_list_is_searched(new_hit, mturk, visitor):
    new_hit(Title="Describe a street")
    new_hit(Title="Count the birds", Keywords="nature")
    for search, titles in [
        ("birds", ["Count the birds"]),
        ("NATURE count", ["Count the birds"]),
        ("zebra", []),
    ]:
        assert re.findall(r"tasks\">([^<]+)</a>", text(visitor.get("/", {"q": search}))) == titles
    assert len(re.findall(r"tasks\">([^<]+)</a>", text(visitor.get("/", {"q": "vision lab"})))) == 2


def test_my_work_shows_decisions_and_earnings(mturk, kind, new_worker):
    worker = new_worker()
    good, bad, waiting = [worker.accept(kind) for _ in range(3)]
    for assignment_id in (good, bad, waiting):
        worker.submit(assignment_id)
    mturk.approve_assignment(AssignmentId=good)
    mturk.reject_assignment(AssignmentId=bad, RequesterFeedback="Only 2 of 5 <were> right.")
    page = text(worker.client.get("/work"))
    totals = {
        name: re.search(rf'id="{name}">([^<]+)<', page).group(1)
        for name in ("earned", "approved", "rejected", "waiting", "rate")
    }
    assert totals == {"earned": "$0.38", "approved": "1", "rejected": "1", "waiting": "1", "rate": "50 %"}
    assert "Only 2 of 5 &lt;were&gt; right." in page


def test_my_work_shows_what_was_returned_or_ran_out_of_time(kind, new_worker, later):
    worker, stranger = new_worker(), new_worker()
    returned, late = worker.accept(kind), worker.accept(kind)
    worker.give_back(returned)
    later(seconds=7200)
    page = text(worker.client.get("/work"))
    rows = re.findall(r'data-assignment-id="(\w+)">.*?class="status">([^<]+)<', page, re.DOTALL)
    assert rows == [(late, "Time ran out"), (returned, "Returned")]
    assert 'id="queue"' not in page
    assert 'id="given-up"' not in text(stranger.client.get("/work"))


@pytest.mark.parametrize(("n", "has_more"), [(25, False), (26, True)])
def test_of_many_my_work_shows_the_last_and_the_way_to_all(
    mturk, new_hit, new_worker, requester, n, has_more
):
    worker, hit = new_worker(), HIT.objects.get(hit_id=new_hit())
    for number in range(n):
        row = Assignment(hit=hit, worker=worker.worker, assignment_id=f"3GIVENUP{number}", status="Returned")
        row.accepted_at = row.deadline = timezone.now()
        row.save()
        Message.objects.create(
            requester=requester,
            worker=worker.worker,
            subject=f"No. {number}.",
            text="",
            sent_at=timezone.now(),
        )
    page = text(worker.client.get("/work"))
    assert (page.count("3GIVENUP"), len(re.findall(r"No\. \d+\.", page))) == (25, 25)
    assert ("/work/given-up" in page, "/work/messages" in page) == (has_more, has_more)
    for path, name in (("given-up", r"3GIVENUP(\d+)"), ("messages", r"No\. (\d+)\.")):
        shown = [
            number
            for which in (1, 2)
            for number in re.findall(name, text(worker.client.get(f"/work/{path}?page={which}")))
        ]
        assert shown[:n] == [str(number) for number in reversed(range(n))]
        assert re.findall(name, text(new_worker().client.get(f"/work/{path}"))) == []


def test_a_stranger_sees_and_returns_nothing_of_anothers_work(kind, new_worker):
    owner, stranger = new_worker(), new_worker()
    assignment_id = owner.accept(kind)
    assert stranger.client.get(f"/assignments/{assignment_id}").status_code == 404
    stranger.give_back(assignment_id)
    assert 'id="queue"' in text(owner.client.get("/work"))


def test_after_recycling_each_worker_sees_the_own_end_of_it(kind, mturk, new_hit, new_worker):
    type_id = mturk.get_hit(HITId=new_hit(MaxAssignments=1, Title="One only"))["HIT"]["HITTypeId"]
    first, second = new_worker(), new_worker()
    assignment_id = first.accept(type_id)
    first.give_back(assignment_id)
    second.accept(type_id)
    assert "<h1>Returned</h1>" in text(first.client.get(f"/assignments/{assignment_id}"))
    assert "<h1>Not submitted yet</h1>" in text(second.client.get(f"/assignments/{assignment_id}"))


def test_returning_is_asked_about_first(visitor, kind, new_worker):
    worker = new_worker()
    path = f"/assignments/{worker.accept(kind)}/return"
    visitor.cookies = worker.client.cookies
    queue = visitor.get("/work")
    asked = post_form(visitor, queue, path, {"ask": "1"})
    assert "<h1>Return this HIT?</h1>" in text(asked)
    assert Assignment.objects.get().status == "Open"
    assert 'name="ask"' not in text(asked)
    post_form(visitor, asked, path, {})
    assert Assignment.objects.get().status == "Returned"


def test_more_time_is_given_once(visitor, kind, new_worker):
    worker = new_worker()
    path = f"/assignments/{worker.accept(kind)}/more-time"
    visitor.cookies = worker.client.cookies
    deadline = Assignment.objects.get().deadline
    work = visitor.get(
        re.search(r'href="(/projects/\w+/tasks/\w+\?[^"]+)"', text(visitor.get("/work"))).group(1)
    )
    assert ">30 minutes more</button>" in text(work)
    again = post_form(visitor, work, path)
    assert Assignment.objects.get().deadline == deadline + timedelta(minutes=30)
    assert 'id="more-time"' not in text(again)
    refused = post_form(visitor, again, path)
    assert "There is no more time for this HIT." in text(refused)
    assert Assignment.objects.get().deadline == deadline + timedelta(minutes=30)


def test_no_more_time_once_it_is_over(visitor, kind, new_worker, later):
    worker = new_worker()
    path = f"/assignments/{worker.accept(kind)}/more-time"
    later(seconds=3600)
    told = worker.client.post(path, headers={"Accept": "application/json"})
    assert (told.json(), Assignment.objects.get().status) == ({"seconds": 0}, "Abandoned")


def test_who_signs_out_leaves_no_answers_in_the_browser(new_worker):
    response = new_worker().client.post("/sign-out")
    assert (response.status_code, response.headers["Clear-Site-Data"]) == (302, '"storage"')


@pytest.mark.parametrize("address", ["accept_random", "return", "sign-out"])
def test_state_changes_need_the_token_and_a_post(visitor, kind, new_worker, address):
    worker = new_worker()
    assignment_id = worker.accept(kind)
    full = {
        "accept_random": f"/projects/{kind}/tasks/accept_random",
        "return": f"/assignments/{assignment_id}/return",
    }.get(address, f"/{address}")
    visitor.cookies = worker.client.cookies
    assert (visitor.get(full).status_code, visitor.post(full).status_code) == (405, 403)
    assert 'id="queue"' in text(worker.client.get("/work"))


def test_an_assignments_page_says_what_became_of_it(kind, new_worker, mturk):
    paid, unpaid = new_worker(), new_worker()
    for worker, decide in ((paid, mturk.approve_assignment), (unpaid, mturk.reject_assignment)):
        worker.assignment_id = worker.accept(kind)
        worker.submit(worker.assignment_id)
        decide(AssignmentId=worker.assignment_id, RequesterFeedback="See https://lab.example/appeals/1")
    pages = [text(worker.client.get(f"/assignments/{worker.assignment_id}")) for worker in (paid, unpaid)]
    assert [re.search(r"<h1>([^<]+)", page)[1] for page in pages] == ["Approved", "Rejected"]
    assert ["once it is approved" in page for page in pages] == [False, False]
    assert 'href="https://lab.example/appeals/1"' in pages[1]


def test_joining_needs_the_token_and_a_post_and_makes_nobody_twice(visitor, db):
    assert (visitor.get("/join")["Location"], visitor.post("/join").status_code) == ("/sign-in", 403)
    page = visitor.get("/sign-in")
    first, again = post_form(visitor, page, "/join"), post_form(visitor, page, "/join", {"next": "/work"})
    (worker,) = Worker.objects.all()
    assert worker.worker_id in text(first)
    assert again.redirect_chain == [("/work", 302)]
    assert f"You are signed in already, as {worker.worker_id}." in text(again)


@pytest.mark.parametrize(
    ("worker_id", "code"), [("A1", "right"), ("ANOBODY", "right"), ("A1", ""), ("", "RIGHT")], ids=str
)
def test_a_wrong_id_or_code_is_refused_alike(visitor, db, worker_id, code):
    Worker.objects.create(worker_id="A1", code_digest=keys.code_digest("LEFT"))
    page = visitor.get("/sign-in")
    answer = post_form(visitor, page, "/sign-in", {"worker_id": worker_id, "access_code": code})
    assert answer.status_code == 422
    assert "do not belong together" in text(answer)


def test_a_closed_account_is_signed_out(new_worker):
    worker = new_worker()
    Worker.objects.update(is_active=False)
    assert worker.client.get("/work")["Location"] == "/sign-in?next=%2Fwork"


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_signing_in_leads_to_no_other_site(visitor, db, back):
    Worker.objects.create(worker_id="A1", code_digest=keys.code_digest("RIGHT"))
    page = visitor.get("/sign-in")
    form = {"worker_id": "A1", "access_code": "RIGHT", "next": back}
    assert post_form(visitor, page, "/sign-in", form).redirect_chain == [("/", 302)]


def test_nobody_joins_when_joining_is_closed(visitor, db, settings):
    settings.MARKETPLACE_OPEN_SIGNUP = False
    page = visitor.get("/sign-in")
    assert 'id="join"' not in text(page)
    assert post_form(visitor, page, "/join").status_code == 404
    assert Worker.objects.count() == 0


@pytest.mark.parametrize("address", ["/projects/3NO/tasks", "/mturk/preview", "/projects/3NO/tasks/3NO"])
def test_unknown_addresses_are_not_found(new_worker, address):
    assert new_worker().client.get(address, follow=True).status_code == 404


REQUIREMENT = {
    "QualificationTypeId": "00000000000000000040",
    "Comparator": "GreaterThan",
    "IntegerValues": [0],
}


@pytest.mark.parametrize(
    ("guard", "listed", "framed"),
    [
        ({}, 1, True),
        ({"ActionsGuarded": "Accept"}, 1, True),
        ({"ActionsGuarded": "PreviewAndAccept"}, 1, False),
        ({"RequiredToPreview": True}, 1, False),
        ({"ActionsGuarded": "DiscoverPreviewAndAccept"}, 0, False),
    ],
)
def test_requirements_guard_finding_previewing_and_accepting(
    mturk, new_hit, new_worker, guard, listed, framed
):
    hit_id = new_hit(Title="For the experienced", QualificationRequirements=[REQUIREMENT | guard])
    type_id = mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"]
    worker = new_worker()
    page = worker.client.get(f"/projects/{type_id}/tasks")
    assert (len(available(worker.client.get("/"))), '<iframe id="task"' in text(page)) == (listed, framed)
    assert worker.accept(type_id) is None


def test_experience_opens_what_requires_it(mturk, new_hit, new_worker):
    worker = new_worker()
    types = [
        mturk.get_hit(HITId=new_hit(Title=title, QualificationRequirements=requirements))["HIT"]["HITTypeId"]
        for title, requirements in [("First", []), ("Then", [REQUIREMENT])]
    ]
    assignment_id = worker.accept(types[0])
    worker.submit(assignment_id)
    assert worker.accept(types[1]) is None
    mturk.approve_assignment(AssignmentId=assignment_id)
    assert worker.accept(types[1]) is not None


def test_a_given_frame_height_is_kept(mturk, new_hit, visitor):
    new_hit(Question=external_question("https://lab.example/#top", height="450"))
    type_id = mturk.list_hits()["HITs"][0]["HITTypeId"]
    response = visitor.get(f"/projects/{type_id}/tasks")
    address = html.unescape(re.search(r'src="(https[^"]*)"', text(response)).group(1))
    assert re.fullmatch(
        r"https://lab\.example/\?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=\w+#top", address
    )
    assert 'height="450"' in frame(response)[2]


def test_no_page_may_be_framed_by_others(visitor, db):
    assert visitor.get("/")["X-Frame-Options"] == "DENY"


def test_a_page_that_is_not_there_signs_nobody_out(new_worker):
    worker = new_worker()
    response = worker.client.get("/nowhere")
    assert response.status_code == 404
    assert f'<span id="worker-id">{worker.worker.worker_id}</span>' in text(response)


def test_earnings_by_day_add_up_to_what_is_paid(mturk, kind, new_worker, later):
    worker, other = new_worker(), new_worker()
    first, second, third = [worker.accept(kind) for _ in range(3)]
    for assignment_id in (first, second, third):
        worker.submit(assignment_id)
    mturk.approve_assignment(AssignmentId=first)
    mturk.send_bonus(
        WorkerId=worker.worker.worker_id,
        AssignmentId=first,
        BonusAmount="0.10",
        Reason="Thanks",
        UniqueRequestToken="b",
    )
    today = later(seconds=86_400)
    mturk.approve_assignment(AssignmentId=second)
    page = text(worker.client.get("/work/earnings"))
    rows = re.findall(r'<tr><th scope="row"><time datetime="([^"]+)">.*?</tr>', page)
    cells = [
        re.findall(r"<td[^>]*>([^<]+)</td>", row) for row in re.findall(r'<tr><th scope="row">.*?</tr>', page)
    ]
    assert rows[0] == f"{today:%Y-%m-%d}"
    assert cells == [["1", "$0.38", "$0.00", "$0.38"], ["1", "$0.38", "$0.10", "$0.48"]]
    assert re.findall(r'id="(earned|pending)">([^<]+)<', page) == [("earned", "$0.86"), ("pending", "$0.38")]
    assert "Nothing was paid out yet." in text(other.client.get("/work/earnings"))


def test_an_address_in_a_reason_is_a_link_and_markup_is_none(mturk, kind, new_worker):
    worker = new_worker()
    assignment_id = worker.accept(kind)
    worker.submit(assignment_id)
    reason = "<b>No.</b> Write to us at https://assent.example.org/appeals/abc/."
    mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback=reason)
    page = text(worker.client.get("/work"))
    assert '<a href="https://assent.example.org/appeals/abc/" rel="nofollow">' in page
    assert "<b>No.</b>" not in page


def test_what_is_written_later_about_a_rejection_stands_with_it(mturk, kind, new_worker):
    """By the address that both have, as of an appeal; what another address is about does not, nor an approval's."""
    worker = new_worker()
    ids = [worker.accept(kind) for _ in range(2)]
    for assignment_id in ids:
        worker.submit(assignment_id)
    about = "https://assent.example.org/appeals/{}/"
    for assignment_id, code in zip(ids, ("abc", "xyz"), strict=True):
        mturk.reject_assignment(AssignmentId=assignment_id, RequesterFeedback=f"No. {about.format(code)}.")
    for subject, code in (
        ("It is with us", "abc"),
        ("Something else", "def"),
        ("The rejection stays", "abc"),
    ):
        text_ = f"See {about.format(code)}"
        mturk.notify_workers(Subject=subject, MessageText=text_, WorkerIds=[worker.worker.worker_id])

    def followed() -> dict[str, list[str]]:
        rows = re.findall(
            r'<li data-assignment-id="(\w+)">(.*?)</li>', text(worker.client.get("/work")), re.DOTALL
        )
        return {
            name: re.findall(r'class="feedback followed">.*?<strong>(.*?)</strong>', row)
            for name, row in rows
        }

    assert followed() == {ids[0]: ["The rejection stays", "It is with us"], ids[1]: []}
    mturk.approve_assignment(AssignmentId=ids[0], RequesterFeedback="You are right.", OverrideRejection=True)
    assert followed() == {ids[0]: [], ids[1]: []}


def test_a_worker_sees_their_own_qualifications_and_the_tests_there_are(mturk, new_worker):
    worker, other = new_worker(), new_worker()
    free = mturk.create_qualification_type(Name="Careful", Description="x", QualificationTypeStatus="Active")
    asked = mturk.create_qualification_type(Name="Quick", Description="x", QualificationTypeStatus="Active")
    mturk.associate_qualification_with_worker(
        QualificationTypeId=free["QualificationType"]["QualificationTypeId"],
        WorkerId=worker.worker.worker_id,
        IntegerValue=7,
    )
    type_id = asked["QualificationType"]["QualificationTypeId"]
    post_form(worker.client, worker.client.get(f"/qualifications/{type_id}"), f"/qualifications/{type_id}")
    page = text(worker.client.get("/qualifications"))
    held, _, waiting = page.partition('id="asked"')
    assert ("Careful" in held, '<span class="money">7</span>' in held) == (True, True)
    assert ("Quick" in waiting, "waits for the requester" in waiting) == (True, True)
    assert "You hold none yet." in text(other.client.get("/qualifications"))


@pytest.mark.parametrize("path", ["/work/earnings", "/qualifications", "/work/given-up", "/work/messages"])
def test_own_pages_ask_who_is_there(visitor, path, db):
    assert visitor.get(path)["Location"].startswith("/sign-in?next=")
