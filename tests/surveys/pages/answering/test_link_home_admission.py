"""Who may come by link, by name and code, or from a panel."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotators.models import Assignment, Worker
from surveys.answering.invitations import renew_key, revoke
from surveys.models import Batch, PanelVisit, Response
from tests.factories import open_for
from tests.link_pages import listed, target, text
from tests.link_people import from_prolific, invite_one, make_panel, run_out
from tests.link_study import Visitor, make_link_batch, path_of

# -- Who may come -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("token", ["x", "i" + "0" * 32, "i" + "0" * 32 + ".x", "%00", "é", "x" * 4000])
def test_a_forged_link_is_turned_away(db, token: str) -> None:
    page = Client().get(f"/links/{token}/")
    assert page.status_code == 404
    assert "This link is not valid" in text(page)


def test_a_changed_link_is_turned_away(ada: Visitor) -> None:
    changed = ada.path[:8] + ("0" if ada.path[8] != "0" else "1") + ada.path[9:]
    assert Client().get(changed).status_code == 404


def test_refused_links_say_what_to_do(link_batch: Batch) -> None:
    now = timezone.now()
    expired = invite_one(link_batch, "A", expires_at=now - timedelta(seconds=1))
    revoked, renewed = invite_one(link_batch, "B"), invite_one(link_batch, "C")
    revoke(revoked.invitation)
    renew_key(renewed.invitation)
    pages = [Client().get(path_of(invited)) for invited in (expired, revoked, renewed)]
    assert [page.status_code for page in pages] == [403, 403, 403]
    assert [text(page) for page in pages] == [
        "This link has expired This invitation has expired. Please ask whoever sent it to you. "
        "What is kept about you",
        "This link was withdrawn This invitation was taken back. Please ask whoever sent it to you.",
        "This link was withdrawn This address is not in use any more: a newer one took its place, or what leads to "
        "its person was deleted. If you got a newer one, please use that.",
    ]


def test_a_study_that_is_over_lets_only_those_in_who_worked_on_it(ada: Visitor, bob: Visitor) -> None:
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


def test_a_marketplaces_worker_who_comes_by_link_too_sees_nothing_twice(db, own_pictures) -> None:
    batch = make_link_batch(n_items=2, endpoint="embedded")
    open_for(batch.questionnaires.first(), worker="AWORKER")
    Response.objects.update(is_claim=False)  # the marketplace has named them
    ada = Visitor(path_of(invite_one(batch, "Ada", worker_id="AWORKER")))
    assert listed(ada.open()) == []
    assert "0 of 1 done" in text(ada.open())
    assert ada.open(1).status_code == 404
    assert target(ada.answer(2)) == (303, "/end?saved=2")
    assert listed(ada.open()) == [("Annotation 2", "answered")]


# -- Name and access code ---------------------------------------------------------------------------------------------


def test_sign_in_by_name_and_code_leads_to_the_same_list(link_batch: Batch) -> None:
    invited = invite_one(link_batch, "Ada Lovelace")
    client = Client(enforce_csrf_checks=True)
    url = f"/links/sign-in/{link_batch.pk}/"
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
def test_sign_in_refused(link_batch: Batch, given: dict[str, str], status: int, sentence: str) -> None:
    invite_one(link_batch, "Ada")
    page = Client().post(f"/links/sign-in/{link_batch.pk}/", given)
    assert page.status_code == status
    assert sentence in page.content.decode()


def test_sign_in_never_shows_the_code_again(link_batch: Batch) -> None:
    page = Client().post(f"/links/sign-in/{link_batch.pk}/", {"name": "Ada", "access_code": "typed-in-vain"})
    assert 'value="Ada"' in page.content.decode()
    assert "typed-in-vain" not in page.content.decode()


def test_sign_in_is_held_up_after_five_wrong_codes(link_batch: Batch, settings) -> None:
    settings.CACHES = {
        "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": "guess"}
    }
    invited = invite_one(link_batch, "Guessed")
    url = f"/links/sign-in/{link_batch.pk}/"
    for _ in range(5):
        Client().post(url, {"name": "Guessed", "access_code": "x"})
    page = Client().post(url, {"name": "Guessed", "access_code": invited.access_code})
    assert page.status_code == 429
    assert "Please wait a quarter of an hour." in text(page)


# -- Panels -----------------------------------------------------------------------------------------------------------


def test_panel_person_comes_works_and_goes_back_with_the_code(link_batch: Batch) -> None:
    panel = make_panel(link_batch)
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


def test_panel_person_who_comes_twice_is_the_same(link_batch: Batch) -> None:
    panel = make_panel(link_batch)
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
def test_panel_without_an_id_is_told_so(link_batch: Batch, params: dict[str, str]) -> None:
    page = Client().get(f"/panel/{make_panel(link_batch).code}/", params)
    assert page.status_code == 404
    assert "Please start again" in text(page)
    assert PanelVisit.objects.count() == 0


def test_panel_that_is_none_or_full(link_batch: Batch, bob: Visitor) -> None:
    assert Client().get("/panel/none/", from_prolific()).status_code == 404
    for number in (1, 2, 3):
        bob.answer(number)
    page = Client().get(f"/panel/{make_panel(link_batch).code}/", from_prolific())
    assert page.status_code == 403
    assert "All places in this study are taken." in text(page)


def test_panel_place_that_ran_out_and_was_taken_is_not_shown_again(link_batch: Batch, bob: Visitor) -> None:
    panel = make_panel(link_batch)
    visitor = Visitor(Client().get(f"/panel/{panel.code}/", from_prolific()).headers["Location"])
    visitor.open(1)
    run_out(Assignment.objects.get())
    assert bob.open(1).status_code == 200
    [(moved, state)] = listed(visitor.open())
    assert (moved, state) == ("Annotation 4", "open")
    assert target(visitor.open(1)) == (303, "/4/")
