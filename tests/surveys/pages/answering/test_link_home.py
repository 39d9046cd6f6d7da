"""The list of a person who came by link, the end, and what all their pages have in common."""

import re
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from annotators.crowds.links import work as link_work
from annotators.models import Assignment, Worker
from surveys.models import Appeal, Batch, Decision
from surveys.pages.answering import link_home
from surveys.pages.answering.styles import style_sources
from surveys.protocols.registry import get_definition
from surveys.review import appeal_codes
from surveys.studies import consent
from tests.link_pages import listed, target, text
from tests.link_people import from_prolific, invite_one, make_panel, run_out
from tests.link_study import Visitor, make_link_batch, path_of
from tests.policy_data import policy_of

SECRETS = ("secret", "glocnet", "human", "model_correct")
HEADERS = ["DENY", "no-referrer", "no-store"]


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


def test_a_long_list_has_pages(ada: Visitor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_home, "SHOWN_PER_PAGE", 2)
    for number in (1, 2):
        ada.answer(number)
    assert 'class="pages"' in ada.open().content.decode()  # the third is open
    assert [[name for name, _ in listed(ada.open(page=page))] for page in ("1", "2", "9", "x")] == [
        ["Annotation 1", "Annotation 2"],
        ["Annotation 3"],
        ["Annotation 3"],
        ["Annotation 1", "Annotation 2"],
    ]
    pages = [re.findall(r'<a rel="(\w+)" href="([^"]+)"', ada.open(page=n).content.decode()) for n in "12"]
    assert pages == [[("next", "?page=2#mine")], [("prev", "?page=1#mine")]]
    monkeypatch.setattr(link_home, "SHOWN_PER_PAGE", 3)
    assert 'class="pages"' not in ada.open().content.decode()


def test_what_was_not_accepted_comes_first_and_what_was_just_saved_is_shown(
    ada: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_home, "SHOWN_PER_PAGE", 1)
    for number in (1, 2):
        ada.answer(number)
    Assignment.objects.filter(annotation_slot__number=2).update(status="Rejected", rejected_at=timezone.now())
    pages = [listed(ada.open(page=page)) for page in ("1", "2", "3")]
    assert pages == [
        [("Annotation 2", "not accepted")],
        [("Annotation 1", "answered")],
        [("Annotation 3", "open")],
    ]
    assert listed(ada.open(saved="1")) == pages[1]
    assert listed(ada.open(saved="1", page="3")) == pages[2]


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


def test_home_says_what_was_not_accepted(ada: Visitor) -> None:
    ada.answer(1)
    link_work.reject(Assignment.objects.get(saved_at__isnull=False), feedback="No.")
    assert "Annotation 1 not accepted" in text(ada.open())


def test_a_rejection_that_was_taken_back_unasked_leads_to_its_reason(ada: Visitor) -> None:
    ada.answer(1)
    assignment = Assignment.objects.get(saved_at__isnull=False)
    Appeal.objects.create(assignment=assignment, code="abcde-fghij")
    link_work.approve(assignment, feedback="")
    assert "/appeals/" not in ada.open().content.decode()  # a message that never went out
    decision = {"verdict": "reject", "reason": "No.", "decided_at": timezone.now()}
    Decision.objects.create(
        assignment=assignment, **decision, overturned_at=timezone.now(), overturn_reason="Sorry."
    )
    assert "accepted after all" in text(ada.open())


def accept(*numbers: int) -> None:
    for assignment in Assignment.objects.filter(annotation_slot__number__in=numbers):
        link_work.approve(assignment, feedback="")


def test_home_says_what_was_accepted_and_what_it_earned(ada: Visitor) -> None:
    for number in (1, 2, 3):
        ada.answer(number)
    assert "accepted" not in text(ada.open())
    accept(1, 2)
    assert [state for _, state in listed(ada.open())] == ["accepted", "accepted", "answered"]
    assert "2 accepted: $0.76" in text(ada.open())
    assert "2 accepted: $0.76" in text(ada.client.get(ada.path + "end"))
    Batch.objects.update(reward=0)
    assert "2 accepted:" not in text(ada.open())


def test_who_is_paid_by_a_panel_is_told_no_sum(link_batch: Batch) -> None:
    page = Client().get(f"/panel/{make_panel(link_batch).code}/", from_prolific())
    visitor = Visitor(page.headers["Location"])
    visitor.answer(1)
    accept(1)
    assert [state for _, state in listed(visitor.open())] == ["accepted"]
    assert "$" not in text(visitor.open())


@pytest.mark.parametrize(
    ("n_rejected", "said"),
    [
        (0, "You can still change your answers until the study closes."),
        (2, "Some of your answers can still be changed until the study closes."),
        (3, ""),
    ],
)
def test_only_what_can_be_changed_is_said_to_be(ada: Visitor, n_rejected: int, said: str) -> None:
    for number in (1, 2, 3):
        ada.answer(number)
    for assignment in Assignment.objects.all()[:n_rejected]:
        link_work.reject(assignment, feedback="No.")
    for page in (ada.open(), ada.client.get(ada.path + "end")):
        found = re.findall(r"(?:You can|Some of)[^.]+until the study closes\.", text(page))
        assert found == ([said] if said else [])


def test_who_came_too_late_is_not_told_to_change_anything(ada: Visitor, bob: Visitor) -> None:
    for number in (1, 2, 3):
        bob.answer(number)
    page = text(ada.open())
    assert ("There is nothing more for you to do here." in page, "until the study closes" in page) == (
        True,
        False,
    )


def test_a_limit_is_all_there_is_to_do(link_batch: Batch) -> None:
    ada = Visitor(path_of(invite_one(link_batch, "Ada", max_assignments=2)))
    assert "0 of 2 done" in text(ada.open())
    ada.answer(1)
    assert target(ada.answer(2)) == (303, "/end?saved=2")
    assert reasons(ada) == [DONE, DONE]
    assert ada.open(3).status_code == 403
    assert Assignment.objects.count() == 2


DONE = "You have done all that was meant for you."
LATER = "There is nothing to do here at the moment."
BEFORE = "You have taken part in this study before."
NOT_OPEN = "This study is not open to you."
CLOSED = "This study takes no more annotations."
REASONS = (DONE, LATER, BEFORE, NOT_OPEN, CLOSED)
GENERAL = ("nothing more for you", "nothing left for you", "others have taken", "is more for you to do")


def reasons(visitor: Visitor) -> list[str]:
    """What the list and the end say of why nothing is offered; neither of them offers anything."""
    pages = [visitor.open(), visitor.client.get(visitor.path + "end")]
    assert 'class="start"' not in pages[0].content.decode()
    assert [word for word in GENERAL for page in pages if word in text(page)] == []
    return [reason for page in pages for reason in REASONS if reason in text(page)]


@pytest.mark.django_db
@pytest.mark.parametrize("is_panel", [False, True])
def test_who_took_part_before_is_told_so(is_panel: bool) -> None:
    first, second = make_link_batch(), make_link_batch()
    if is_panel:
        addresses = [f"/panel/{make_panel(one).code}/" for one in (first, second)]
        Visitor(Client().get(addresses[0], from_prolific()).headers["Location"]).start()
        ada = Visitor(Client().get(addresses[1], from_prolific()).headers["Location"])
    else:
        Visitor(path_of(invite_one(first, "Ada", worker_id="AWORKER"))).start()
        ada = Visitor(path_of(invite_one(second, "Ada", worker_id="AWORKER")))
    Batch.objects.filter(pk=second.pk).update(follows=first)
    assert target(ada.start()) == (303, "/end")
    assert reasons(ada) == [BEFORE, BEFORE]


def test_who_can_be_given_nothing_is_told_so_before_being_asked_for_consent(link_batch: Batch) -> None:
    first = make_link_batch()
    Visitor(path_of(invite_one(first, "Ada", worker_id="AWORKER"))).start()
    ada = Visitor(path_of(invite_one(link_batch, "Ada", worker_id="AWORKER")))
    consent.write(link_batch.survey, "We keep your answers.", translations={}, by=None)
    assert target(ada.start()) == (303, "/consent")
    Batch.objects.filter(pk=link_batch.pk).update(follows=first)
    assert target(ada.start()) == (303, "/end")
    assert reasons(ada) == [BEFORE, BEFORE]


def test_who_was_excluded_is_told_so(ada: Visitor) -> None:
    page = ada.open(1)
    Worker.objects.update(standing="excluded")
    ada.answer(1, page)
    assert reasons(ada) == [NOT_OPEN, NOT_OPEN]


def test_at_the_end_of_a_study_that_was_closed_it_is_said(ada: Visitor) -> None:
    page = ada.open(1)
    Batch.objects.update(status="stopped")
    ada.answer(1, page)
    assert reasons(ada) == [CLOSED]
    assert "The study is closed. You can still look at your answers." in text(ada.open())


@pytest.mark.django_db
def test_where_the_budget_covers_no_more_it_is_said_and_nobody_goes_round_in_circles() -> None:
    batch = make_link_batch(n_items=1, reward=Decimal("0.38"), budget=Decimal("0.75"))
    ada, bob = (Visitor(path_of(invite_one(batch, name))) for name in ("Ada", "Bob"))
    ada.start()
    run_out(Assignment.objects.get())
    assert target(bob.start()) == (303, "/end")
    assert reasons(bob) == [LATER, LATER]
    Batch.objects.update(budget=Decimal("0.76"))
    assert 'name="number" value="1"' in bob.open().content.decode()
    assert target(bob.start()) == (303, "/1/")


@pytest.mark.django_db
def test_a_panels_person_for_whom_the_budget_covers_nothing_takes_the_code_of_nothing_left_back() -> None:
    batch = make_link_batch(n_items=1, reward=Decimal("0.38"), budget=Decimal("0.75"))
    Visitor(path_of(invite_one(batch, "Ada"))).start()
    run_out(Assignment.objects.get())
    panel = make_panel(batch)
    panel.codes.create(outcome="nothing_left", code="N0")
    bob = Visitor(Client().get(f"/panel/{panel.code}/", from_prolific()).headers["Location"])
    assert reasons(bob) == [LATER, LATER]
    assert (
        '<output id="code" aria-labelledby="code-label">N0</output>'
        in bob.client.get(bob.path + "end").content.decode()
    )


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
    page = ada.client.get(ada.path + "end")
    assert "There is nothing left for you to do here: others have taken what there was." in text(page)
    assert "Thank you" not in text(page)


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


# -- What all pages have in common ------------------------------------------------------------------------------------


def test_no_page_sets_a_cookie_can_be_framed_or_kept(link_batch: Batch, ada: Visitor) -> None:
    panel = make_panel(link_batch)
    pages = {
        "home": ada.open(),
        "start": ada.start(),
        "work": ada.open(1),
        "wrong": ada.client.post(ada.at(1), {"token": "x"}),
        "done": ada.answer(1),
        "end": ada.client.get(ada.path + "end"),
        "not theirs": ada.open(99),
        "forged": ada.client.get("/links/x/"),
        "sign in": ada.client.get(f"/links/sign-in/{link_batch.pk}/"),
        "panel": ada.client.get(f"/panel/{panel.code}/", from_prolific()),
        "draft": ada.client.post(ada.at(2) + "draft", "{}", content_type="text/plain"),
        "method": ada.client.put(ada.path),
    }
    names = ("X-Frame-Options", "Referrer-Policy", "Cache-Control")
    found = {name: [page.headers[header] for header in names] for name, page in pages.items()}
    assert found == dict.fromkeys(pages, HEADERS)
    policies = {page.headers["Content-Security-Policy"] for page in pages.values()}
    assert policies == {
        f"default-src 'self'; {style_sources()}; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    }
    assert [name for name, page in pages.items() if page.cookies] == []
    assert [
        name
        for name, page in pages.items()
        if re.search(r" on\w+=|style=|<style>|<script>", page.content.decode())
    ] == []


def test_no_page_tells_items_or_systems(ada: Visitor) -> None:
    pages = [ada.open(), ada.open(1), ada.answer(1), ada.skip(2), ada.open(1), ada.open(2)]
    assert [word for page in pages for word in SECRETS if word in page.content.decode()] == []


def test_a_fault_of_ours_is_told_and_recorded(ada: Visitor, monkeypatch, caplog) -> None:
    monkeypatch.setattr("surveys.pages.answering.link_home.surroundings", lambda *args, **kwargs: 1 / 0)
    ada.client.raise_request_exception = False
    page = ada.open()
    assert page.status_code == 500
    assert "The fault is ours" in text(page)
    assert "Page home failed" in caplog.text


@pytest.mark.django_db
def test_what_is_asked_twice_is_counted_and_told() -> None:
    twice = make_link_batch(n_items=4, items_per_hit=4, repeats_per_hit=2, definition=get_definition("xai"))
    home = text(Visitor(path_of(invite_one(twice, "Ada"))).open())
    assert "6 questions each" in home
    assert "Some questions come twice" in home


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("n_items", "again", "told"),
    [
        (10, 0, "5 questions each"),
        (12, 0, "Up to 5 questions each"),
        (3, 0, "3 questions each"),
        (12, 2, "Up to 7 questions each"),
    ],
)
def test_it_is_told_how_many_questions_there_are_also_where_the_last_hit_is_short(
    n_items: int, again: int, told: str
) -> None:
    batch = make_link_batch(n_items=n_items, items_per_hit=5, repeats_per_hit=again)
    assert f"$0.38 each {told} " in text(Visitor(path_of(invite_one(batch, "Ada"))).open())


def test_nobody_by_a_personal_link_is_told_of_a_share(link_batch: Batch, ada: Visitor) -> None:
    capped = policy_of({"kind": "worker_cap", "share": 0.1}, reject_at=None)
    Batch.objects.filter(pk=link_batch.pk).update(review_policy=capped)
    home = text(ada.open())
    assert "Every complete assignment is paid." in home
    assert "at most" not in home


def test_the_list_leads_from_what_was_not_accepted_to_its_appeal_and_tells_its_state(ada: Visitor) -> None:
    ada.answer(1)
    assignment = Assignment.objects.get(saved_at__isnull=False)
    link_work.reject(assignment, feedback="No.")
    appeal = Appeal.objects.create(assignment=assignment, code="abcde-fghij")
    said = []
    for change in (
        {},
        {"text": "Please look again.", "made_at": timezone.now()},
        {"outcome": "upheld", "answer": "It stays.", "answered_at": timezone.now()},
    ):
        Appeal.objects.filter(pk=appeal.pk).update(**change)
        said += re.findall(r'href="/appeals/abcde-fghij/[^"]+">([^<]+)<', ada.open().content.decode())
    link_work.overturn(assignment, feedback="You were right.")
    for outcome in ("overturned", "upheld"):  # and taken back later all the same
        Appeal.objects.filter(pk=appeal.pk).update(outcome=outcome)
        said += re.findall(r'href="/appeals/abcde-fghij/[^"]+">([^<]+)<', ada.open().content.decode())
    assert said == [
        "Why, and how to appeal",
        "Your appeal is waiting for an answer",
        "Your appeal was answered: the decision stays",
        "Your appeal was granted",
        "This was accepted after all",
    ]


def test_the_appeal_names_its_annotation_and_leads_back_to_the_list_it_was_opened_from(
    ada: Visitor, bob: Visitor
) -> None:
    ada.answer(1)
    assignment = Assignment.objects.get(saved_at__isnull=False)
    link_work.reject(assignment, feedback=appeal_codes.with_code(assignment, "No."))
    code = Appeal.objects.get().code
    address = re.findall(rf'href="(/appeals/{code}/[^"]+)"', ada.open().content.decode())[0]
    page = ada.client.get(address)
    assert "Annotation 1" in text(page)
    assert f'href="{ada.path}"' in page.content.decode()
    sent = ada.client.post(address, {"text": "Please look again."})
    assert f'href="{ada.path}"' in ada.client.get(sent.headers["Location"]).content.decode()
    token = bob.path.rstrip("/").rpartition("/")[2]
    for query in ("", "?list=x", f"?list={token}"):
        assert 'href="/links/' not in ada.client.get(f"/appeals/{code}/{query}").content.decode()


def test_examples_are_promised_where_there_are_some(link_batch: Batch, ada: Visitor) -> None:
    snapshot = link_batch.definition.to_snapshot()
    for examples, name in (
        (snapshot["instructions"]["examples"], "Instructions and examples"),
        ([], "Instructions"),
    ):
        snapshot["instructions"]["examples"] = examples
        Batch.objects.update(snapshot=snapshot)
        for page in (ada.open(), ada.open(1)):
            assert f"<summary>{name}</summary>" in page.content.decode()
