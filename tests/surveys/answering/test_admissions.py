"""Who gets in: by address, by name and code, from a panel; and what a panel's people take back."""

import uuid
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from annotators.crowds.links import addresses
from annotators.models import Worker
from surveys.answering.admissions import (
    NotAdmitted,
    admit,
    admit_by_code,
    admit_panel,
)
from surveys.answering.completions import Completion
from surveys.answering.invitations import revoke
from surveys.models import Batch, Invitation, PanelVisit
from surveys.review.panels import completion
from tests.link_people import answered, from_prolific, invite_one, make_batch, make_panel, take

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_attempts():
    cache.clear()


def token(invited) -> str:
    return invited.address.rstrip("/").rsplit("/", 1)[1]


def refused(call, *args, **kwargs) -> tuple[str, str]:
    with pytest.raises(NotAdmitted) as error:
        call(*args, **kwargs)
    return error.value.kind, str(error.value)


def test_an_address_admits_its_holder() -> None:
    batch = make_batch()
    invited = invite_one(batch, max_assignments=2)
    admission = admit(token(invited))
    found = (admission.batch, admission.worker, admission.channel, admission.limit, admission.name)
    assert found == (batch, invited.invitation.worker, "link", 2, "Ann")
    assert (admission.token, admission.visit) == (token(invited), None)


def test_the_first_use_is_written_down() -> None:
    invited = invite_one(make_batch())
    admit(token(invited))
    first = Invitation.objects.get().opened_at
    admit(token(invited))
    assert first is not None
    assert Invitation.objects.get().opened_at == first


def test_what_we_never_gave_admits_nobody() -> None:
    assert refused(admit, "nonsense")[0] == "unknown"
    assert refused(admit, addresses.issue(addresses.Holder("visit", uuid.uuid4())))[0] == "unknown"
    assert refused(admit, addresses.issue(addresses.Holder("invitation", uuid.uuid4())))[0] == "revoked"


@pytest.mark.parametrize("status", ["draft", "publishing", "stopped", "complete"])
def test_a_batch_that_is_not_open_admits_nobody_new(status) -> None:
    invited = invite_one(make_batch())
    Batch.objects.update(status=status)
    assert refused(admit, token(invited))[0] == "closed"


@pytest.mark.parametrize("status", ["stopped", "complete"])
def test_who_has_worked_can_come_back_when_it_is_over(status) -> None:
    batch = make_batch()
    invited = invite_one(batch)
    take(batch, invited.invitation.worker)
    Batch.objects.update(status=status)
    assert admit(token(invited)).name == "Ann"


def test_the_excluded_are_not_admitted() -> None:
    invited = invite_one(make_batch())
    Worker.objects.update(standing="excluded")
    assert refused(admit, token(invited)) == ("closed", "This study is not open to you.")


def test_name_and_code_admit_as_the_address_does() -> None:
    batch = make_batch()
    invited = invite_one(batch, "Ann Other")
    admission = admit_by_code(batch.pk, name="  ann  other ", access_code=invited.access_code.upper())
    assert admission == admit(token(invited))


def test_a_code_is_for_one_name_and_one_batch() -> None:
    batch, other = make_batch(), make_batch()
    ann, bob = invite_one(batch, "Ann"), invite_one(batch, "Bob")
    wrong = "The name and the access code don't belong together."
    attempts = [
        (batch.pk, "Ann", bob.access_code),
        (other.pk, "Ann", ann.access_code),
        (batch.pk, "Eve", ann.access_code),
        ("x", "Ann", ann.access_code),
        (batch.pk, "Ann", ""),
    ]
    for code, name, access_code in attempts:
        assert refused(admit_by_code, code, name=name, access_code=access_code) == ("unknown", wrong)


def test_guessing_is_stopped_for_that_name_only() -> None:
    batch = make_batch()
    ann, bob = invite_one(batch, "Ann"), invite_one(batch, "Bob")
    for _ in range(5):
        assert refused(admit_by_code, batch.pk, name="Ann", access_code="guess")[0] == "unknown"
    assert refused(admit_by_code, batch.pk, name=" ANN", access_code=ann.access_code)[0] == "throttled"
    assert admit_by_code(batch.pk, name="Bob", access_code=bob.access_code).name == "Bob"
    assert admit(token(ann)).name == "Ann"


def test_a_revoked_invitation_admits_by_code_no_more() -> None:
    batch = make_batch()
    invited = invite_one(batch)
    revoke(invited.invitation)
    assert refused(admit_by_code, batch.pk, name="Ann", access_code=invited.access_code)[0] == "revoked"


def test_prolific_sends_somebody_and_the_same_again() -> None:
    panel = make_panel(make_batch(), assignments_per_worker=2)
    first = admit_panel(panel.code, from_prolific())
    assert (first.channel, first.limit, first.name) == ("panel", 2, "")
    assert (first.worker.source, first.worker.worker_id) == ("panel", "prolific:5f2a")
    assert admit_panel(panel.code, from_prolific(SESSION_ID="session2")) == first
    assert admit(first.token) == first
    visit = PanelVisit.objects.get()
    assert (visit.study, visit.session) == ("study1", "session1")


def test_the_same_id_of_two_panels_is_two_people() -> None:
    panels = [make_panel(make_batch(), provider=provider) for provider in ("prolific", "cloud")]
    first, second = (admit_panel(panel.code, from_prolific()).worker for panel in panels)
    assert first != second


def test_an_unknown_panel_or_person_is_refused() -> None:
    panel = make_panel(make_batch(), study_id="study1")
    assert refused(admit_panel, "nope", from_prolific())[0] == "unknown"
    assert refused(admit_panel, panel.code, {})[0] == "unknown"
    assert refused(admit_panel, panel.code, from_prolific(worker_id="{{%PROLIFIC_PID%}}"))[0] == "unknown"
    assert refused(admit_panel, panel.code, from_prolific(STUDY_ID="study2"))[0] == "unknown"
    assert PanelVisit.objects.count() == 0


def test_a_full_study_admits_nobody_new_from_the_panel() -> None:
    batch = make_batch(n_items=1)
    panel = make_panel(batch)
    first = admit_panel(panel.code, from_prolific())
    take(batch, first.worker, channel="panel")
    assert refused(admit_panel, panel.code, from_prolific("other"))[0] == "full"
    assert admit_panel(panel.code, from_prolific()) == first


def test_the_code_is_given_when_all_is_done() -> None:
    batch = make_batch(n_items=2)
    panel = make_panel(batch)
    admission = admit_panel(panel.code, from_prolific())
    assert completion(admission) is None
    mine = take(batch, admission.worker, channel="panel", limit=admission.limit)
    assert completion(admission) is None
    answered(mine)
    url = "https://app.prolific.com/submissions/complete?cc=C1A2B3"
    assert completion(admission) == Completion("C1A2B3", url)


def test_the_code_is_given_where_less_was_left_than_asked_for() -> None:
    batch = make_batch(n_items=1)
    admission = admit_panel(make_panel(batch, assignments_per_worker=5).code, from_prolific())
    answered(take(batch, admission.worker, channel="panel"))
    Batch.objects.update(status="complete")
    assert completion(admit(admission.token)).code == "C1A2B3"


@pytest.mark.parametrize(
    ("template", "url"),
    [
        ("https://p.example/?cc={code}&x=1", "https://p.example/?cc=a%26b%2F%3F%23%22&x=1"),
        ("https://p.example/done", "https://p.example/done"),
        ("http://p.example/?cc={code}", ""),
        ("javascript:alert(1)", ""),
        ("", ""),
    ],
)
def test_the_way_back_is_https_and_the_code_stays_a_value(template, url) -> None:
    batch = make_batch(n_items=1)
    panel = make_panel(batch, completion_url=template, completion_code='a&b/?#"')
    admission = admit_panel(panel.code, from_prolific())
    answered(take(batch, admission.worker, channel="panel"))
    assert completion(admission) == Completion('a&b/?#"', url)


def test_who_comes_by_a_personal_link_takes_no_code_back() -> None:
    batch = make_batch(n_items=1)
    make_panel(batch)
    admission = admit(token(invite_one(batch)))
    answered(take(batch, admission.worker))
    assert completion(admission) is None


def test_an_expired_invitation_says_so_even_by_code() -> None:
    batch = make_batch()
    invited = invite_one(batch, expires_at=timezone.now() - timedelta(seconds=1))
    assert refused(admit_by_code, batch.pk, name="Ann", access_code=invited.access_code)[0] == "expired"
