"""Addresses and forms of signed-in people, filled in with what no database takes. Nothing may break."""

import pytest
from django.test import Client
from django.urls import reverse

from surveys.publishing.terms.batch_form import BatchForm
from tests.factories import make_published, make_survey, submitted
from tests.made_once import made_once
from tests.surveys.pages.publishing.test_batch_form import data_for

pytestmark = pytest.mark.django_db
TEN_MB = "x" * (10 * 2**20)
BYTES = ["%00", "%ED%A0%80", "%FF", "%F0%9F", "'%22%3Cb%3E", "x" * 5000, "99999999999999999999", "-1", "1e9"]
LISTS = [
    "surveys_survey", "surveys_item", "surveys_batch", "surveys_questionnaire", "surveys_decision",
    "annotators_worker", "annotators_hittype", "annotators_hit", "annotators_assignment", "annotators_call",
]  # fmt: skip


study = made_once(lambda: submitted(make_published()).hit.questionnaire.batch_id, autouse=True)


@pytest.mark.parametrize("raw", BYTES)
def test_pages_of_a_batch(researcher: Client, study: int, raw: str) -> None:
    names = ("status", "verdict", "worker", "hit", "page", "kind", "visits", "against", "sort")
    query = "&".join(f"{name}={raw}" for name in names)
    for name in ("batch", "assignments", "batch_trail"):
        assert researcher.get(f"{reverse(name, args=[study])}?{query}").status_code == 200, name


@pytest.mark.parametrize("raw", ["%00", "%ED%A0%80", "99999999999999999999", "-1"])
@pytest.mark.parametrize("name", LISTS)
def test_lists_of_the_admin(researcher: Client, name: str, raw: str) -> None:
    """What is searched and filtered by is each list's own; pages and orders are Django's."""
    address = reverse(f"admin:{name}_changelist")
    own, shared = (f"q={raw}", f"status__exact={raw}", f"id={raw}"), (f"p={raw}", f"o={raw}", f"all={raw}")
    for query in (*own, *(shared if name == LISTS[0] else ())):
        answer = researcher.get(f"{address}?{query}")
        assert answer.status_code in (200, 302, 400), query


@pytest.mark.parametrize("raw", BYTES)
def test_rows_of_the_admin(researcher: Client, raw: str) -> None:
    for name in LISTS:
        answer = researcher.get(reverse(f"admin:{name}_change", args=["X"]).replace("X", raw[:200]))
        assert answer.status_code in (302, 400, 403, 404), name


@pytest.mark.parametrize("text", ["a\0b", "\x1b", "x" * 100_000, "<script>alert(1)</script>"])
def test_the_batch_form(researcher: Client, text: str) -> None:
    """Each field by itself where the others are right; then all of them on the page."""
    survey = make_survey(n_items=5)
    data = data_for(survey)
    for field in data:
        form = BatchForm(data | {field: text})
        if form.is_valid():
            form.save()
        assert "<script>alert" not in str(form.errors), field
    answer = researcher.post(reverse("admin:surveys_batch_add"), dict.fromkeys(data, text))
    assert answer.status_code == 200
    assert b"<script>alert" not in answer.content


@pytest.mark.parametrize("text", ["a\0b", "9" * 400, "NaN", "<script>alert(1)</script>"])
def test_the_launch_screen(researcher: Client, text: str) -> None:
    survey = make_survey(n_items=5)
    address = reverse("launch_price", args=[survey.slug])
    for field in (*data_for(survey), "do", "draft"):
        answer = researcher.post(address, data_for(survey) | {field: text})
        assert answer.status_code == 200, field
        assert b"<script>alert" not in answer.content


@pytest.mark.parametrize(
    ("action", "chosen"),
    [
        *(("delete_selected", chosen) for chosen in ["x", "-1", "999999999999999999999", "a\0b", ""]),
        *((action, "x") for action in ["no_such_action", "a\0b"]),
    ],
)
def test_actions_on_rows_that_are_none(researcher: Client, action: str, chosen: str) -> None:
    for name in LISTS:
        data = {
            "action": action,
            "_selected_action": chosen,
            "post": "yes",
            "index": "0",
            "select_across": "0",
        }
        answer = researcher.post(reverse(f"admin:{name}_changelist"), data)
        assert answer.status_code in (200, 302, 400, 403), name


@pytest.mark.parametrize("raw", ["%00", "%2e%2e", "%2e%2e%2f%2e%2e", "..%5c", "%ED%A0%80"])
def test_names_in_paths_lead_nowhere(researcher: Client, raw: str) -> None:
    for path in (
        f"/import/{raw}/",
        f"/pictures/{raw}",
        f"/links/{raw}/",
        f"/panel/{raw}/",
        f"/appeals/{raw}/",
    ):
        assert researcher.get(path).status_code in (302, 400, 403, 404, 410), path


@pytest.mark.parametrize("name", ["decide_many", "batch_stop", "batch_sync", "import_items"])
def test_ten_megabytes_of_form(researcher: Client, study: int, name: str) -> None:
    address = reverse(name, args=[study] if name != "import_items" else [])
    answer = researcher.post(address, TEN_MB, content_type="application/x-www-form-urlencoded")
    assert answer.status_code in (302, 400, 413, 422)


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "127.0.0.1:80@evil.example", "[::1"]
)
def test_a_host_we_are_not(host: str) -> None:
    assert Client().get("/admin/login/", headers={"host": host}).status_code == 400


@pytest.mark.parametrize(
    "address", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:x"]
)
def test_the_login_sends_nobody_elsewhere(address: str, django_user_model) -> None:
    django_user_model.objects.create_user("ada", password="a long password", is_staff=True)
    login = {"username": "ada", "password": "a long password", "next": address}
    answer = Client().post(f"/admin/login/?next={address}", login)
    assert (answer.status_code, answer["Location"]) == (302, "/accounts/profile/") or "evil" not in answer[
        "Location"
    ]
