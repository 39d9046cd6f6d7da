"""A study is a place: one head on all its pages, with the one next step; its batches and its items."""

from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from surveys.models import Batch, Decision, Output, Survey
from surveys.pages.study.studies import BATCHES_PER_PAGE, NO_PAGE_OF_THEIR_OWN, STUDIES_PER_PAGE, listed
from surveys.studies import protocols, scoring
from surveys.studies.packages import Package
from tests.factories import make_batch, make_draft, make_item, make_published, make_survey, submitted
from tests.people import client_of
from tests.surveys.pages.pages import text_of
from tests.surveys.protocols.test_blocks import DOCUMENT as TYPE

pytestmark = pytest.mark.django_db


@pytest.fixture
def researcher() -> Client:
    return client_of("Researcher")


def study_page(client: Client, survey: Survey) -> str:
    return text_of(client.get(reverse("study", args=[survey.slug])))


def step(client: Client, batch: Batch, page: str = "batch") -> tuple[str, str]:
    """The next step in the head of a page of the batch."""
    found = client.get(reverse(page, args=[batch.pk])).context["study"].step
    return found.text, found.url


def test_the_next_step_follows_the_batch(researcher: Client) -> None:
    survey = make_survey()
    assert "Import items" in study_page(researcher, survey)
    make_item(survey)
    assert "Plan a batch" in study_page(researcher, survey)
    draft = make_draft(survey, reward=Decimal("1.00"), assignments_per_hit=5, items_per_hit=1)
    assert step(researcher, draft) == ("Publish for $6.00", f"/batches/{draft.pk}/#publish")


def test_what_waits_for_a_person_comes_before_anything_else(researcher: Client) -> None:
    questionnaire = make_published()
    batch = questionnaire.batch
    waiting = submitted(questionnaire)
    assert step(researcher, batch) == ("1 of 5 assignments are in", "")
    Decision.objects.create(
        assignment=waiting, verdict="flag", reason="Too quick.", decided_at=timezone.now()
    )
    for page in ("batch", "batch_results", "batch_files", "assignments"):
        assert step(researcher, batch, page) == (
            "1 waits for you",
            f"/batches/{batch.pk}/assignments/?status=Submitted",
        )
    assert researcher.get(f"/batches/{batch.pk}/").context["study"].tabs[5].n == 1


def test_a_new_draft_hides_neither_work_nor_who_waits(researcher: Client) -> None:
    questionnaire = make_published()
    batch = questionnaire.batch
    draft = make_draft(batch.survey)
    study = reverse("study", args=[batch.survey.slug])
    assert researcher.get(study).context["study"].step.url == f"/batches/{draft.pk}/#publish"
    now = timezone.now()
    Decision.objects.create(
        assignment=submitted(questionnaire), verdict="flag", reason="Too quick.", decided_at=now
    )
    head = researcher.get(study).context["study"]
    assert head.step.text == "1 waits for you"
    for page in (study, draft.get_absolute_url()):
        tabs = {tab.label: (tab.url, tab.n) for tab in researcher.get(page).context["study"].tabs}
        assert tabs["Launch"] == (draft.get_absolute_url(), 0)
        whole = page == study
        assert tabs["Review"] == (f"{study}review/" if whole else f"/batches/{batch.pk}/assignments/", 1)
        assert tabs["Results"] == (f"{study}results/" if whole else f"/batches/{batch.pk}/results/", 0)


def test_a_finished_batch_leads_to_its_results(researcher: Client) -> None:
    batch = make_published(status="complete").batch
    assert step(researcher, batch) == ("See the results", f"/batches/{batch.pk}/results/")


def test_who_sees_the_results_is_not_told_to_see_them(researcher: Client) -> None:
    batch = make_published(status="complete").batch
    assert step(researcher, batch, "batch_results") == ("", "")


def test_a_new_batch_is_not_called_simulated(researcher: Client) -> None:
    batch = make_published(
        status="complete", is_simulated=True, endpoint="link", takes_links=True, reward=0
    ).batch
    shown = [
        researcher.get(reverse(name, args=[batch.survey.slug])).context["study"].is_simulated
        for name in ("study", "launch")
    ]
    assert shown == [True, False]


def test_tabs_lead_to_what_somebody_may_see() -> None:
    batch = make_published().batch
    address = reverse("batch_results", args=[batch.pk])
    tabs = [tab.label for tab in client_of("Assistant").get(address).context["study"].tabs]
    assert tabs == ["Batches", "Items", "Design", "Launch", "People", "Review", "Results", "Files"]
    (here,) = (tab for tab in client_of("Researcher").get(address).context["study"].tabs if tab.is_here)
    assert (here.label, here.url) == ("Results", address)


def test_a_draft_has_neither_results_nor_files(researcher: Client) -> None:
    draft = make_draft(make_survey(n_items=1))
    for name in ("batch_results", "batch_files"):
        answer = researcher.get(reverse(name, args=[draft.pk]))
        assert (answer.status_code, answer.url) == (302, f"/batches/{draft.pk}/")
    study = f"/studies/{draft.survey.slug}"
    assert [
        (tab.label, tab.url) for tab in researcher.get(f"/batches/{draft.pk}/").context["study"].tabs
    ] == [
        ("Batches", f"{study}/"),
        ("Items", f"{study}/items/"),
        ("Design", f"{study}/design/"),
        ("Launch", f"/batches/{draft.pk}/"),
        ("People", ""),
        ("Review", ""),
        ("Results", ""),
        ("Files", ""),
        ("Settings", f"{study}/settings/"),
    ]


def test_the_design_says_what_is_asked_compared_and_drawn(researcher: Client) -> None:
    batch = make_published().batch
    text = text_of(researcher.get(reverse("study_design", args=[batch.survey.slug])))
    for criterion in batch.definition.criteria:
        assert criterion.label in text
    assert "5 items, 2 outputs on each." in text
    assert "ground_truth the reference 5" in text
    assert f"{batch.name} : HITs and items in the order of the file." in text


def test_settings_name_a_study_and_shut_nobody_out_by_ending_its_sharing(researcher: Client) -> None:
    survey = make_survey(slug="cats")
    address = reverse("study_settings", args=[survey.slug])
    researcher.post(address, {"name": "Renamed", "slug": "other", "definition_key": "xai"})
    survey.refresh_from_db()
    assert (survey.name, survey.slug, survey.is_shared) == ("Renamed", "cats", False)
    assert {person.username for person in survey.team.all()} == {"researcher"}
    assert researcher.post(address, {"name": ""}).status_code == 422
    assert Survey.objects.get().name == "Renamed"


def test_items_are_found_by_what_systems_said_of_them(researcher: Client) -> None:
    survey = make_survey(n_items=3)
    item = survey.items.last()
    Output.objects.filter(item=item).update(text="Снег на <b>крыше</b>")
    url = reverse("study_items", args=[survey.slug])
    assert len(researcher.get(url).context["items"]) == 3
    page = researcher.get(url, {"q": "крыше"})
    assert [found.pk for found, _, _ in page.context["items"]] == [item.pk]
    assert "Снег на &lt;b&gt;крыше&lt;/b&gt;" in page.content.decode()
    assert "Nothing is found." in text_of(researcher.get(url, {"q": "nowhere"}))


def test_items_take_as_many_queries_however_many_there_are(researcher: Client) -> None:
    survey = make_survey(n_items=1)
    url = reverse("study_items", args=[survey.slug])
    researcher.get(url)
    with CaptureQueriesContext(connection) as few:
        researcher.get(url)
    for n in range(3, 43):
        make_item(survey, position=n)
    with CaptureQueriesContext(connection) as many:
        assert len(researcher.get(url).context["items"]) == 6
    assert len(many) == len(few)


def test_a_search_for_what_no_text_holds_finds_nothing_of_it(researcher: Client) -> None:
    survey = make_survey(n_items=1)
    url = reverse("study_items", args=[survey.slug])
    assert len(researcher.get(url, {"q": "\0"}).context["items"]) == 1


def replies(person: User) -> Survey:
    """A study of a type with texts of its items, and one item."""
    protocols.keep(Package("protocol.yaml", TYPE.encode()), by=person)
    survey = protocols.new_survey(person, key="replies", name="Replies", slug="replies")
    survey.is_shared = True
    survey.save()
    payload = {
        "question": "",
        "blocks": {"source": "Answer: skateboarding", "target": "", "chat": "", "facts": ""},
    }
    make_item(survey, systems=("secret-model",), payload=payload, choices=())
    return survey


def test_items_show_all_that_annotators_see_of_them(researcher: Client) -> None:
    survey = replies(User.objects.get())
    page = text_of(researcher.get(reverse("study_items", args=[survey.slug])))
    assert ("Source Answer: skateboarding" in page, "Reference" in page) == (True, False)
    own = make_survey(n_items=1)
    page = text_of(researcher.get(reverse("study_items", args=[own.slug])))
    assert "Answers: Maybe / No / Yes" in page


def test_an_item_can_be_looked_at_as_annotators_see_it(researcher: Client) -> None:
    survey = replies(User.objects.get())
    make_draft(survey, title="Rate these", reward=Decimal("0.35"))
    item = survey.items.get()
    response = researcher.get(reverse("item_page", args=[survey.slug, item.pk]))
    page = text_of(response)
    assert "Nothing you answer here is kept or sent." in page
    for shown in (
        "Rate these",
        "$0.35",
        "Answer: skateboarding",
        "Does the reply help?",
        item.outputs.get().text,
    ):
        assert shown in page
    assert "secret-model" not in response.content.decode()
    policy = response["Content-Security-Policy"]
    assert ("sandbox allow-scripts" in policy, "form-action 'none'" in policy) == (True, True)


def test_an_item_of_others_can_not_be_looked_at(researcher: Client) -> None:
    mine, others = make_survey(n_items=1), make_survey(n_items=1, is_shared=False)
    (item,) = others.items.all()
    for survey in (mine, others):
        assert researcher.get(reverse("item_page", args=[survey.slug, item.pk])).status_code == 404


def test_the_list_takes_as_many_queries_however_many_studies_there_are() -> None:
    person = User.objects.create_superuser("head")
    protocols.keep(Package("protocol.yaml", TYPE.encode()), by=person)

    def queries() -> int:
        name = f"another-{Survey.objects.count()}"
        protocols.new_survey(person, key="replies", name=name, slug=name).save()
        with CaptureQueriesContext(connection) as captured:
            listed(person)
        return len(captured)

    assert [queries() for _ in range(3)] == [5, 5, 5]


def test_a_study_of_many_batches_shows_them_page_by_page(client: Client) -> None:
    person = User.objects.create_superuser("head")
    client.force_login(person)
    survey = make_survey(n_items=1)
    for _ in range(BATCHES_PER_PAGE + 1):
        make_draft(survey)
    address = reverse("study", args=[survey.slug])
    counts = [client.get(address, {"page": n}).content.decode().count('<li class="card') for n in (1, 2)]
    assert counts == [BATCHES_PER_PAGE, 1]


def test_the_studies_are_shown_page_by_page(client: Client) -> None:
    client.force_login(User.objects.create_superuser("head"))
    for _ in range(STUDIES_PER_PAGE + NO_PAGE_OF_THEIR_OWN):
        make_survey(n_items=1)
    front = client.get("/admin/")
    assert len(front.context["studies"]) == STUDIES_PER_PAGE + NO_PAGE_OF_THEIR_OWN
    assert "Pages of" not in front.content.decode()
    make_survey(n_items=1)
    assert [len(client.get("/admin/", {"page": n}).context["studies"]) for n in (1, 2)] == [
        STUDIES_PER_PAGE,
        NO_PAGE_OF_THEIR_OWN + 1,
    ]


def test_a_design_of_many_batches_is_told_page_by_page(researcher: Client) -> None:
    survey = make_survey(name="Dogs", slug="dogs")
    snapshot = make_published().batch.snapshot
    for n in range(7):
        draft = make_draft(survey, name=f"Dogs {n}")
        Batch.objects.filter(pk=draft.pk).update(status=Batch.Status.COMPLETE, snapshot=snapshot)
    url = reverse("study_design", args=[survey.slug])
    told = [[one.name for one, _ in researcher.get(f"{url}?page={n}").context["drawn"]] for n in (1, 2)]
    assert told == [["Dogs 6", "Dogs 5", "Dogs 4", "Dogs 3", "Dogs 2"], ["Dogs 1", "Dogs 0"]]


def test_the_admins_list_counts_items_and_batches_each_by_itself(admin_client: Client) -> None:
    survey = make_survey(n_items=3, name="Dogs", slug="dogs")
    for n in range(2):
        make_draft(survey, name=f"Dogs {n}")
    make_survey(n_items=0, name="Empty", slug="empty")
    with CaptureQueriesContext(connection) as queries:
        rows = admin_client.get(reverse("admin:surveys_survey_changelist")).context["cl"].result_list
    assert {row.name: (row.n_items, row.n_batches) for row in rows} == {"Dogs": (3, 2), "Empty": (0, 0)}
    assert [query["sql"] for query in queries if 'JOIN "surveys_item"' in query["sql"]] == []


def test_a_survey_type_that_is_gone_takes_no_page_from_other_studies(researcher: Client) -> None:
    """Before 0.1.0 a type could be a file of Python: what was published with it is known, what never was is named."""
    other = make_survey(n_items=1, name="As ever")
    published, never = (make_survey(n_items=1, name=name) for name in ("Published", "Never published"))
    make_batch(published)
    make_draft(never)
    Survey.objects.filter(pk__in=[published.pk, never.pk]).update(definition_key="haiku")
    for page, is_listed in (
        ("admin:index", True),
        ("admin:surveys_survey_changelist", True),
        ("new_batch", False),
    ):
        text = text_of(researcher.get(reverse(page)))
        assert [name in text for name in ("As ever", "Never published")] == [True, is_listed], page
        assert ("haiku (not installed)" in text) == is_listed
    assert "e-ViL: VQA-X" in study_page(researcher, published)
    assert {survey.pk for survey in scoring.unscored()} == {other.pk, published.pk}


@pytest.mark.parametrize("place", ["study", "study_items", "batch"])
def test_the_pages_of_a_study_without_a_type_say_so(researcher: Client, client: Client, place: str) -> None:
    survey = make_survey(n_items=1, name="Never published")
    draft = make_draft(survey)
    Survey.objects.filter(pk=survey.pk).update(definition_key="haiku")
    address = draft.get_absolute_url() if place == "batch" else reverse(place, args=[survey.slug])
    page = researcher.get(address)
    assert (page.status_code, "Unknown survey type &#x27;haiku&#x27;" in page.content.decode()) == (409, True)
    assert client.get(address).status_code == 302
