"""Reviewing one after the other: the order of the list, who stands beside whom, and on to the next."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotators.models import Assignment
from surveys.models import Appeal, Batch, Decision, Item, Picture, Questionnaire, Survey
from surveys.pages.review.decision_forms import FIRST, FilterForm
from surveys.pages.review.listing import ORDERS, THUMBS, Place, place_of, thumbnails
from tests.factories import make_published, submitted
from tests.surveys.pages.pages import detail_url, list_url, queries_of, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def three(published: Questionnaire) -> list[Assignment]:
    """Handed in one hour after the other, with 5, 1 and 3 right answers, in 10, 30 and 20 minutes."""
    found = [submitted(published, n_correct=n) for n in (5, 1, 3)]
    first = timezone.now() - timedelta(hours=9)
    for n, (one, minutes) in enumerate(zip(found, (10, 30, 20), strict=True)):
        at = first + timedelta(hours=n)
        times = {"submitted_at": at, "accepted_at": at - timedelta(minutes=minutes)}
        Assignment.objects.filter(pk=one.pk).update(**times, auto_approval_at=at + timedelta(days=3))
    return found


def test_every_order_has_a_name() -> None:
    assert list(ORDERS) == list(FIRST)


@pytest.mark.parametrize(
    ("sort", "order"),
    [("", (0, 1, 2)), ("newest", (2, 1, 0)), ("oldest", (0, 1, 2)), ("fewest_right", (1, 2, 0)),
     ("quickest", (0, 2, 1)), ("hit", (0, 1, 2)), ("nonsense", (0, 1, 2))],
)  # fmt: skip
def test_the_list_has_the_order_that_is_asked_for(
    assistant: Client, published: Questionnaire, three: list[Assignment], sort: str, order: tuple[int, ...]
) -> None:
    page = assistant.get(list_url(published, f"?sort={sort}"))
    assert list(page.context["page"]) == [three[n] for n in order]


def test_one_stands_between_its_neighbours_of_the_list(
    three: list[Assignment], published: Questionnaire
) -> None:
    form = FilterForm({"sort": "newest"})
    reader = User.objects.create_user("ada")
    places = [place_of(one, batch=published.batch, form=form, reader=reader) for one in three]
    first, second, third = (one.pk for one in three)
    assert places == [Place(3, 3, second, None), Place(2, 3, third, first), Place(1, 3, None, second)]
    assert (
        place_of(three[0], batch=published.batch, form=FilterForm({"status": "Approved"}), reader=reader)
        is None
    )


def test_the_way_on_keeps_the_filter(
    assistant: Client, published: Questionnaire, three: list[Assignment]
) -> None:
    page = assistant.get(detail_url(published, three[1]) + "?sort=newest").content.decode()
    found = [f'href="{detail_url(published, one)}?sort=newest"' in page for one in (three[0], three[2])]
    assert (found, f'href="{list_url(published)}?sort=newest"' in page) == ([True, True], True)


@pytest.mark.parametrize(("then", "leads"), [(2, 2), ("", 1), ("x", 1), ("9" * 30, 1), ("stranger", 1)])
def test_a_decision_leads_on_to_the_next_where_that_is_asked_for(
    assistant: Client, published: Questionnaire, three: list[Assignment], then: object, leads: int
) -> None:
    stranger = submitted(make_published()).pk
    pk = {2: three[2].pk, "stranger": stranger}.get(then, then)
    url = detail_url(published, three[1], "decide") + "?sort=newest"
    answer = assistant.post(url, {"action": "approve", "then": str(pk)})
    assert answer["Location"] == detail_url(published, three[leads]) + "?sort=newest"
    assert Decision.objects.get().assignment == three[1]


def test_only_who_has_a_next_one_can_go_on(
    assistant: Client, published: Questionnaire, three: list[Assignment]
) -> None:
    pages = [text_of(assistant.get(detail_url(published, one) + "?sort=oldest")) for one in three]
    assert ["Approve, then the next" in page for page in pages] == [True, True, False]


def test_pictures_of_a_hit_stand_in_the_list_in_one_query(
    assistant: Client, published: Questionnaire, three: list[Assignment]
) -> None:
    before = queries_of(assistant, list_url(published))
    for item in Item.objects.all():
        Picture.objects.create(item=item, name="a.png", file="pictures/a.png", content_type="image/png")
        Picture.objects.create(
            item=item, position=2, name="b.mp3", file="pictures/b.mp3", content_type="audio/mpeg"
        )
    shown = thumbnails(Assignment.objects.select_related("hit__questionnaire"))
    firsts = Picture.objects.filter(position=1).order_by("item__position")[:THUMBS]
    assert shown == {published.pk: [picture.get_absolute_url() for picture in firsts]}
    assert assistant.get(list_url(published)).content.decode().count('class="thumb"') == 3 * THUMBS
    assert queries_of(assistant, list_url(published)) == before


def test_the_menu_says_what_waits_and_nothing_where_nothing_does(
    assistant: Client, published: Questionnaire, three: list[Assignment]
) -> None:
    def menu() -> str:
        return text_of(assistant.get(list_url(published))).partition("Skip to main content")[2][:80]

    assert menu().startswith(" Assent Studies Workers Appeals ")
    Decision.objects.create(assignment=three[0], verdict="flag", decided_at=timezone.now())
    Appeal.objects.create(assignment=three[1], code="x", text="Why?", made_at=timezone.now())
    Batch.objects.update(error="The marketplace does not answer.")
    assert menu().startswith(" Assent Studies 1 to decide 1 at a stand Workers Appeals 1 open ")
    Survey.objects.update(is_shared=False)
    assert (
        text_of(assistant.get("/admin/"))
        .partition("Skip")[2]
        .startswith(" to main content Assent Studies Workers")
    )


def test_the_menu_counts_what_is_about_to_be_approved_without_a_decision(assistant, published):
    assignment = submitted(published)
    assert "about to be approved" not in text_of(assistant.get(list_url(published)))
    soon = timezone.now() + timedelta(minutes=5)
    Assignment.objects.filter(pk=assignment.pk).update(auto_approval_at=soon)
    assert " 1 about to be approved without a decision " in text_of(assistant.get(list_url(published)))
