"""Lists of people and a panel's settings, and what can't be in them."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from surveys.answering.invitations import Person
from surveys.models import Panel
from surveys.pages.people.people_forms import InviteForm, PanelForm
from tests.link_people import make_batch, make_panel, make_person

TOMORROW = (timezone.localtime() + timedelta(days=1)).strftime("%Y-%m-%d")


def filled(people: str = "", file: bytes | None = None, **values: str) -> InviteForm:
    files = {"file": SimpleUploadedFile("people.csv", file)} if file is not None else {}
    return InviteForm({"people": people, "expires_at": TOMORROW, **values}, files)


def people_of(form: InviteForm) -> list[Person]:
    assert form.errors == {}
    return form.cleaned_data["list"]


@pytest.mark.parametrize(
    "text",
    [
        "Ann,ann@example.org,A1\nBob",
        "name,email,worker_id\r\nAnn, ann@example.org , A1\r\n\r\nBob,,\r\n",
        "Name;Email;Worker_ID\nAnn;ann@example.org;A1\nBob",
        "Ann\tann@example.org\tA1\nBob\t",
        '"Ann","ann@example.org","A1"\n"Bob"',
    ],
)
def test_people_are_read_however_the_file_parts_them(text) -> None:
    expected = [Person("Ann", "ann@example.org", "A1"), Person("Bob")]
    assert people_of(filled(text)) == expected
    assert people_of(filled(file=b"\xef\xbb\xbf" + text.encode())) == expected


def test_a_name_may_hold_a_comma_and_letters_of_any_script() -> None:
    assert people_of(filled('"Other, Ann"\nЖеня')) == [Person("Other, Ann"), Person("Женя")]


def test_typed_and_uploaded_people_come_together() -> None:
    assert people_of(filled("Ann", file=b"Bob")) == [Person("Ann"), Person("Bob")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Name at least one person."),
        ("name,email", "Name at least one person."),
        ("Ann\n,bob@example.org", "Line 2: a name of 1 to 200 characters is needed."),
        ("Ann\n\nBob,nowhere", "Line 3: Enter a valid email address."),
        ("Ann,,A 1", "Line 1: A 1 is no worker id."),
        ("Ann,,A1,more", "Line 1: more than name, e-mail and worker id."),
        ("a" * 201, "Line 1: a name of 1 to 200 characters is needed."),
        ("A\x07nn", "Line 1: a name of 1 to 200 characters is needed."),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, problem) -> None:
    form = filled(text)
    assert problem in form.errors["people"] or problem in str(form.errors)


def test_a_file_that_is_no_text_or_too_large_is_refused() -> None:
    assert filled(file=b"\xff\xfe").errors["file"] == ["The file is not UTF-8 text."]
    assert filled(file=b"a" * (1024 * 1024 + 1)).errors["file"] == ["The file is larger than 1 MB."]
    form = filled("\n".join(f"P{n}" for n in range(1001)))
    assert form.errors["people"] == ["At most 1000 people at once."]


def test_a_link_is_valid_to_the_end_of_its_day_which_is_not_over() -> None:
    today = timezone.localtime()
    until = filled("Ann", expires_at=today.strftime("%Y-%m-%d"))
    assert until.errors == {}
    assert until.cleaned_data["expires_at"] == today.replace(hour=23, minute=59, second=59, microsecond=0)
    yesterday = (today - timedelta(days=1)).strftime("%Y-%m-%d")
    assert filled("Ann", expires_at=yesterday).errors["expires_at"] == ["This day is over."]


PROLIFIC = {
    "completion_code": "C1",
    "completion_url": "https://app.prolific.com/submissions/complete?cc={code}",
    "assignments_per_worker": "1",
    "study_id": "",
    "provider": "prolific",
    "worker_parameter": "PROLIFIC_PID",
    "study_parameter": "STUDY_ID",
    "session_parameter": "SESSION_ID",
}


@pytest.mark.django_db
def test_a_new_panel_is_prolifics() -> None:
    batch = make_batch()
    form = PanelForm(instance=Panel(batch=batch))
    assert {name: str(form[name].value() or "") for name in PROLIFIC} == {**PROLIFIC, "completion_code": ""}
    saved = PanelForm(PROLIFIC, instance=Panel(batch=batch)).save()
    assert (saved.completion_url, saved.worker_parameter) == (PROLIFIC["completion_url"], "PROLIFIC_PID")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"completion_url": "http://p.example/?cc={code}"}, "completion_url"),
        ({"completion_url": "javascript:alert(1)"}, "completion_url"),
        ({"completion_code": ""}, "completion_code"),
        ({"assignments_per_worker": "0"}, "assignments_per_worker"),
        ({"worker_parameter": ""}, "worker_parameter"),
        ({"worker_parameter": "a b"}, "worker_parameter"),
        ({"worker_parameter": "a&b=c"}, "worker_parameter"),
        ({"session_parameter": "STUDY_ID"}, "session_parameter"),
        ({"study_id": "<x>"}, "study_id"),
        ({"study_id": "s1", "study_parameter": ""}, "study_parameter"),
        ({"provider": "two words"}, "provider"),
    ],
)
def test_what_a_panel_cant_be(changes, field) -> None:
    form = PanelForm({**PROLIFIC, **changes}, instance=Panel(batch=make_batch()))
    assert field in form.errors


@pytest.mark.django_db
def test_a_panel_may_name_its_own_parameters_and_need_no_address() -> None:
    changes = {
        "worker_parameter": "pid",
        "study_parameter": "",
        "session_parameter": "",
        "completion_url": "",
    }
    form = PanelForm({**PROLIFIC, **changes, "provider": "cloud"}, instance=Panel(batch=make_batch()))
    assert form.errors == {}


@pytest.mark.django_db
def test_a_panels_name_stays_once_somebody_came() -> None:
    panel = make_panel(make_batch())
    panel.visits.create(worker=make_person("prolific:1", "panel"))
    assert PanelForm({**PROLIFIC, "provider": "cloud"}, instance=panel).save().provider == "prolific"
