"""Coming in by link, by name and code or from a panel; the list; the end."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotators.models import Assignment, Worker
from surveys.inviting import renew_key, revoke
from surveys.models import Batch, PanelVisit
from tests.link_people import from_prolific, invite_one, make_panel, run_out
from tests.link_study import Visitor, make_link_batch, path_of

SECRETS = ("secret", "glocnet", "human", "model_correct")
HEADERS = ["DENY", "no-referrer", "no-store"]


@pytest.fixture
def batch(db) -> Batch:
    return make_link_batch()


@pytest.fixture
def ada(batch: Batch) -> Visitor:
    return Visitor(path_of(invite_one(batch, "Ada")))


@pytest.fixture
def bob(batch: Batch) -> Visitor:
    return Visitor(path_of(invite_one(batch, "Bob")))


def text(response) -> str:
    """What a person reads on a page, without markup."""
    body = response.content.decode().partition("<body>")[2]
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


def target(response) -> tuple[int, str]:
    """Where an answer leads, without the token."""
    return response.status_code, re.sub(r"^/links/[^/]+/", "/", response.headers["Location"])


def listed(response) -> list[tuple[str, str]]:
    return re.findall(r'>(Annotation \d+)</a> <span class="mark \w+">(\w+)<', response.content.decode())


# -- The list ---------------------------------------------------------------------------------------------------------


def test_home_says_what_it_is_and_offers_the_first_annotation(ada: Visitor) -> None:
    page = ada.open()
    assert page.status_code == 200
    assert "For Ada" in text(page)
    assert "0 of 3 done" in text(page)
    assert "$0.38 for each annotation" in text(page)
    assert "You have 30 minutes for each annotation." in text(page)
    assert 'name="number" value="1"' in page.content.decode()
    assert listed(page) == []
    assert Assignment.objects.count() == 0


def test_home_lists_what_is_done_and_offers_the_next(ada: Visitor) -> None:
    ada.answer(1)
    ada.skip(2)
    page = ada.open()
    assert listed(page) == [
        ("Annotation 1", "answered"),
        ("Annotation 2", "skipped"),
        ("Annotation 3", "open"),
    ]
    assert "2 of 3 done" in text(page)
    assert 'name="number" value="3"' in page.content.decode()


def test_a_limit_is_all_there_is_to_do(batch: Batch) -> None:
    ada = Visitor(path_of(invite_one(batch, "Ada", max_assignments=2)))
    assert "0 of 2 done" in text(ada.open())
    ada.answer(1)
    assert target(ada.answer(2)) == (303, "/end?saved=2")
    assert "There is nothing more for you to do here." in text(ada.open())
    assert ada.open(3).status_code == 403
    assert Assignment.objects.count() == 2


@pytest.mark.parametrize(("number", "where"), [("", "/1/"), ("1", "/1/"), (" 3 ", "/3/")])
def test_start_leads_to_the_annotation(ada: Visitor, number: str, where: str) -> None:
    assert target(ada.start(number)) == (303, where)


def test_start_goes_on_where_the_offered_one_was_taken_meanwhile(ada: Visitor, bob: Visitor) -> None:
    ada.open()
    bob.start()
    assert target(ada.client.post(ada.path, {"number": "1", "suggested": "1"})) == (303, "/2/")


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", "2147483648", "9" * 400, "1\x00", "<b>"])
def test_start_with_what_is_no_id_is_told_so(ada: Visitor, number: str) -> None:
    page = ada.start(number)
    assert page.status_code == 422
    assert "An annotation id is a whole number from 1." in text(page)
    assert "<b>" not in page.content.decode()
    assert Assignment.objects.count() == 0


def test_start_when_everything_is_taken_leads_to_the_end(ada: Visitor, bob: Visitor) -> None:
    for number in (1, 2, 3):
        bob.answer(number)
    assert target(ada.start()) == (303, "/end")
    assert "There is nothing left for you to do here." in text(ada.client.get(ada.path + "end"))


def test_the_end_thanks_and_leads_back(ada: Visitor) -> None:
    for number in (1, 2, 3):
        last = ada.answer(number)
    assert target(last) == (303, "/end?saved=3")
    page = ada.client.get(last.headers["Location"])
    assert "3 annotations of yours are saved." in text(page)
    assert "Annotation 3 is saved." in text(page)
    assert "completion code" not in text(page)


def test_what_the_address_says_was_saved_is_believed_only_where_it_was(ada: Visitor) -> None:
    ada.answer(1)
    assert "Annotation 1 is saved" in text(ada.open(saved="1"))
    for said in ("2", "99", "<script>", ""):
        assert "is saved" not in text(ada.open(saved=said))


# -- Who may come -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", ["x", "i" + "0" * 32, "i" + "0" * 32 + ".x", "%00", "é", "x" * 4000])
def test_a_forged_link_is_turned_away(db, token: str) -> None:
    page = Client().get(f"/links/{token}/")
    assert page.status_code == 404
    assert "This link is not valid" in text(page)


def test_a_changed_link_is_turned_away(ada: Visitor) -> None:
    changed = ada.path[:8] + ("0" if ada.path[8] != "0" else "1") + ada.path[9:]
    assert Client().get(changed).status_code == 404


def test_refused_links_say_what_to_do(batch: Batch) -> None:
    now = timezone.now()
    expired = invite_one(batch, "A", expires_at=now - timedelta(seconds=1))
    revoked, renewed = invite_one(batch, "B"), invite_one(batch, "C")
    revoke(revoked.invitation)
    renew_key(renewed.invitation)
    pages = [Client().get(path_of(invited)) for invited in (expired, revoked, renewed)]
    assert [page.status_code for page in pages] == [403, 403, 403]
    assert [text(page) for page in pages] == [
        "This link has expired This invitation has expired. Please ask whoever sent it to you.",
        "This link was withdrawn This invitation was taken back. Please ask whoever sent it to you.",
        "This link was withdrawn This address was replaced by a newer one. Please use the newest you got.",
    ]


def test_a_study_that_is_over_lets_only_those_in_who_worked_on_it(
    batch: Batch, ada: Visitor, bob: Visitor
) -> None:
    ada.answer(1)
    Batch.objects.update(status="stopped")
    assert bob.open().status_code == 403
    assert "This study is over." in text(bob.open())
    assert listed(ada.open()) == [("Annotation 1", "answered"), ("Annotation 2", "open")]
    assert target(ada.start("3")) == (303, "/3/")
    assert ada.open(3).status_code == 403


def test_an_excluded_person_is_turned_away(ada: Visitor) -> None:
    ada.open()
    Worker.objects.update(standing="excluded")
    assert ada.open().status_code == 403


# -- Name and access code ---------------------------------------------------------------------------------------------


def test_sign_in_by_name_and_code_leads_to_the_same_list(batch: Batch) -> None:
    invited = invite_one(batch, "Ada Lovelace")
    client = Client(enforce_csrf_checks=True)
    url = f"/links/sign-in/{batch.pk}/"
    assert client.get(url).status_code == 200
    given = {"name": " ada  lovelace ", "access_code": invited.access_code.upper()}
    answer = client.post(url, given)
    assert (answer.status_code, answer.headers["Location"]) == (303, path_of(invited))


@pytest.mark.parametrize(
    ("given", "status", "sentence"),
    [
        ({}, 422, "Give your name."),
        ({"name": "Ada"}, 422, "Give your access code."),
        ({"name": "Ada", "access_code": "x"}, 403, "don&#x27;t belong together"),
        ({"name": "Nobody", "access_code": "x"}, 403, "don&#x27;t belong together"),
        ({"name": "A\x00da", "access_code": "x"}, 422, "Null characters are not allowed."),
        ({"name": "A" * 201, "access_code": "x"}, 422, "at most 200 characters"),
    ],
)
def test_sign_in_refused(batch: Batch, given: dict[str, str], status: int, sentence: str) -> None:
    invite_one(batch, "Ada")
    page = Client().post(f"/links/sign-in/{batch.pk}/", given)
    assert page.status_code == status
    assert sentence in page.content.decode()


def test_sign_in_never_shows_the_code_again(batch: Batch) -> None:
    page = Client().post(f"/links/sign-in/{batch.pk}/", {"name": "Ada", "access_code": "typed-in-vain"})
    assert 'value="Ada"' in page.content.decode()
    assert "typed-in-vain" not in page.content.decode()


def test_sign_in_is_held_up_after_five_wrong_codes(batch: Batch, settings) -> None:
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "guess"}
    }
    invited = invite_one(batch, "Guessed")
    url = f"/links/sign-in/{batch.pk}/"
    for _ in range(5):
        Client().post(url, {"name": "Guessed", "access_code": "x"})
    page = Client().post(url, {"name": "Guessed", "access_code": invited.access_code})
    assert page.status_code == 429
    assert "Please wait a quarter of an hour." in text(page)


# -- Panels -----------------------------------------------------------------------------------------------------------


def test_panel_person_comes_works_and_goes_back_with_the_code(batch: Batch) -> None:
    panel = make_panel(batch)
    entry = Client().get(f"/panel/{panel.code}/", from_prolific())
    assert entry.status_code == 303
    visitor = Visitor(entry.headers["Location"])
    assert "0 of 1 done" in text(visitor.open())
    assert "Your panel pays you" in text(visitor.open())
    assert "C1A2B3" not in visitor.client.get(visitor.path + "end").content.decode()
    assert target(visitor.answer(1)) == (303, "/end?saved=1")
    html = visitor.client.get(visitor.path + "end").content.decode()
    assert '<output id="code" aria-labelledby="code-label">C1A2B3</output>' in html
    assert 'href="https://app.prolific.com/submissions/complete?cc=C1A2B3"' in html
    assert PanelVisit.objects.get().completed_at is not None
    assert Assignment.objects.get().channel == "panel"


def test_panel_person_who_comes_twice_is_the_same(batch: Batch) -> None:
    panel = make_panel(batch)
    places = [Client().get(f"/panel/{panel.code}/", from_prolific()).headers["Location"] for _ in range(2)]
    assert places[0] == places[1]
    assert PanelVisit.objects.count() == 1


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"PROLIFIC_PID": ""},
        {"PROLIFIC_PID": "a\x00b"},
        {"PROLIFIC_PID": "<b>"},
        {"PROLIFIC_PID": "x" * 65},
    ],
)
def test_panel_without_an_id_is_told_so(batch: Batch, params: dict[str, str]) -> None:
    page = Client().get(f"/panel/{make_panel(batch).code}/", params)
    assert page.status_code == 404
    assert "Please start again" in text(page)
    assert PanelVisit.objects.count() == 0


def test_panel_that_is_none_or_full(batch: Batch, bob: Visitor) -> None:
    assert Client().get("/panel/none/", from_prolific()).status_code == 404
    for number in (1, 2, 3):
        bob.answer(number)
    page = Client().get(f"/panel/{make_panel(batch).code}/", from_prolific())
    assert page.status_code == 403
    assert "All places in this study are taken." in text(page)


def test_panel_place_that_ran_out_and_was_taken_is_not_shown_again(batch: Batch, bob: Visitor) -> None:
    panel = make_panel(batch)
    visitor = Visitor(Client().get(f"/panel/{panel.code}/", from_prolific()).headers["Location"])
    visitor.open(1)
    run_out(Assignment.objects.get())
    assert bob.open(1).status_code == 200
    [(moved, state)] = listed(visitor.open())
    assert (moved, state) == ("Annotation 4", "open")
    assert target(visitor.open(1)) == (303, "/4/")


# -- What all pages have in common ------------------------------------------------------------------------------------


def test_no_page_sets_a_cookie_can_be_framed_or_kept(batch: Batch, ada: Visitor) -> None:
    panel = make_panel(batch)
    pages = {
        "home": ada.open(),
        "start": ada.start(),
        "work": ada.open(1),
        "wrong": ada.client.post(ada.at(1), {"token": "x"}),
        "done": ada.answer(1),
        "end": ada.client.get(ada.path + "end"),
        "not theirs": ada.open(99),
        "forged": ada.client.get("/links/x/"),
        "sign in": ada.client.get(f"/links/sign-in/{batch.pk}/"),
        "panel": ada.client.get(f"/panel/{panel.code}/", from_prolific()),
        "draft": ada.client.post(ada.at(2) + "draft", "{}", content_type="text/plain"),
        "method": ada.client.put(ada.path),
    }
    names = ("X-Frame-Options", "Referrer-Policy", "Cache-Control")
    found = {name: [page.headers[header] for header in names] for name, page in pages.items()}
    assert found == dict.fromkeys(pages, HEADERS)
    policies = {page.headers["Content-Security-Policy"] for page in pages.values()}
    assert policies == {
        "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    }
    assert [name for name, page in pages.items() if page.cookies] == []
    assert [
        name
        for name, page in pages.items()
        if re.search(r" on\w+=|style=|<style|<script>", page.content.decode())
    ] == []


def test_no_page_tells_items_or_systems(ada: Visitor) -> None:
    pages = [ada.open(), ada.open(1), ada.answer(1), ada.skip(2), ada.open(1), ada.open(2)]
    assert [word for page in pages for word in SECRETS if word in page.content.decode()] == []


def test_a_fault_of_ours_is_told_and_recorded(ada: Visitor, monkeypatch, caplog) -> None:
    monkeypatch.setattr("surveys.views.links.surroundings", lambda *args, **kwargs: 1 / 0)
    ada.client.raise_request_exception = False
    page = ada.open()
    assert page.status_code == 500
    assert "The fault is ours" in text(page)
    assert "Page home failed" in caplog.text
