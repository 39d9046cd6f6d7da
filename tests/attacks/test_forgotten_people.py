"""Somebody is purged or deletes themselves: nothing of them is left in database, media, logs, exports or a new backup.

Nobody deletes or reads what is somebody else's: an id that is only claimed proves nothing.
"""

import io
import json
import logging
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment, Call, Worker
from annotators.people.names import pseudonym
from config.logs import JsonFormatter, PlainFormatter
from surveys.answering.invitations import Invited
from surveys.models import AnnotationSlot, Appeal, AuditEntry, Batch, Invitation, Rating, Response
from surveys.operations import own_data
from surveys.operations.backups.making import backup
from surveys.results.files.layouts import LAYOUTS
from tests import link_people
from tests.link_people import from_prolific, invite_one, make_panel
from tests.link_study import path_of
from tests.market_site import no_market
from tests.people import client_of
from tests.surveys.operations.purge_study import ANN, a_finished_study, a_year_ago, name_everywhere

__all__ = ["no_market"]
NAME, EMAIL = "Ada Quillfeather", "ada@quillfeather.example"


class Traces:
    """Everything that is kept, as text: where any of these words stands."""

    def __init__(self, *words: str, folder: Path, log: io.StringIO) -> None:
        self.words = [word.lower() for word in words]
        self.folder, self.log = folder, log

    def found(self) -> set[str]:
        return {place for place, text in self._places() if any(word in text.lower() for word in self.words)}

    def _places(self) -> Iterator[tuple[str, str]]:
        yield "log", self.log.getvalue()
        for model in apps.get_models():
            yield model._meta.db_table, _rows(model._meta.db_table)
        for path in Path(settings.MEDIA_ROOT).rglob("*"):
            yield f"media {path.name}", path.read_bytes().decode("latin-1") if path.is_file() else path.name
        for batch in Batch.objects.all():
            for name, layout in LAYOUTS.items():
                stream = io.StringIO(newline="")
                layout.write(batch, stream)
                yield f"export {name}", stream.getvalue()
        yield from self._backup()

    def _backup(self) -> Iterator[tuple[str, str]]:
        path = self.folder / "new.zip"
        path.unlink(missing_ok=True)
        backup(path)
        with zipfile.ZipFile(path) as file:
            for name in file.namelist():
                yield f"backup {name}", name + file.read(name).decode("latin-1")


def _rows(table: str) -> str:
    """Every column of every row, whatever its type."""
    with connection.cursor() as cursor:
        cursor.execute(f'SELECT * FROM "{table}"')
        return "\n".join(str(row) for row in cursor.fetchall())


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What the app logs meanwhile, in both formats and with its access log."""
    stream, root, access = io.StringIO(), logging.getLogger(), logging.getLogger("assent.access")
    handlers = [logging.StreamHandler(stream), logging.StreamHandler(stream)]
    handlers[0].setFormatter(PlainFormatter("%(asctime)s %(levelname)s %(name)s %(message)s"))
    handlers[1].setFormatter(JsonFormatter())
    level = access.level
    access.setLevel(logging.INFO)
    for handler in handlers:
        root.addHandler(handler)
    yield stream
    for handler in handlers:
        root.removeHandler(handler)
    access.setLevel(level)


@pytest.fixture
def link_batch(db: None, own_folders: Path) -> Batch:
    return link_people.make_batch()


@pytest.fixture
def invited(link_batch: Batch) -> Invited:
    return invite_one(link_batch, NAME, email=EMAIL)


def own(invited: Invited, page: str = "own_data") -> str:
    return reverse(page, args=[path_of(invited).rstrip("/").rpartition("/")[2]])


def answered(link_batch: Batch, invited: Invited) -> Assignment:
    """Work of theirs, with what they wrote in their own words."""
    assignment = link_people.answered(link_people.take(link_batch, invited.invitation.worker))
    Assignment.objects.filter(pk=assignment.pk).update(
        status="Approved",
        approved_at=timezone.now(),
        comment=f"Yours, {NAME}",
        user_agent=f"Browser of {NAME}",
    )
    Response.objects.filter(assignment=assignment).update(draft={"remark": f"I, {EMAIL}"})
    return Assignment.objects.get(pk=assignment.pk)


def look_around(invited: Invited) -> None:
    """Leave lines in the log: pages that answer, that refuse and that are not there."""
    home = path_of(invited)
    assert [Client().get(home + page).status_code for page in ("", "my-data", "99/")] == [200, 200, 404]
    sign_in = reverse("link_sign_in", args=[invited.invitation.batch_id])
    assert Client().post(sign_in, {"name": NAME, "access_code": "no"}).status_code == 403


def of_person(invited: Invited, *, folder: Path, log: io.StringIO) -> Traces:
    """Where anything stands that names an invited person or lets somebody in as them."""
    kept, address = Invitation.objects.get(pk=invited.invitation.pk), path_of(invited)
    token = address.rstrip("/").rpartition("/")[2]
    codes = [invited.access_code, kept.access_code, kept.key.hex, str(kept.key), token]
    return Traces(NAME, EMAIL, kept.worker.worker_id, *codes, folder=folder, log=log)


# -- Purged by the calendar ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_market")
@pytest.mark.django_db(transaction=True)
def test_a_purged_worker_is_found_nowhere(own_folders: Path, log: io.StringIO) -> None:
    settings.MEDIA_ROOT.mkdir()
    name_everywhere(a_finished_study())
    traces = Traces(ANN, folder=own_folders, log=log)
    before = traces.found()
    assert {"annotators_worker", "annotators_assignment", "backup database/annotators_worker.jsonl"} <= before
    call_command("purge_workers", "--before", timezone.localdate().isoformat(), stdout=io.StringIO())
    assert traces.found() == set()


@pytest.mark.django_db(transaction=True)
def test_an_invited_person_and_their_codes_are_found_nowhere(
    own_folders: Path, log: io.StringIO, link_batch: Batch, invited: Invited
) -> None:
    settings.MEDIA_ROOT.mkdir(exist_ok=True)
    look_around(invited)
    answered(link_batch, invited)
    Response.objects.update(draft={})  # only ids are looked for in what somebody typed as an answer
    Batch.objects.update(status="complete")
    a_year_ago()
    traces = of_person(invited, folder=own_folders, log=log)
    assert "surveys_invitation" in traces.found()
    today = timezone.localdate().isoformat()
    call_command("purge_workers", "--before", today, "--comments", stdout=io.StringIO())
    assert traces.found() == set()
    assert len(log.getvalue().splitlines()) >= 8


# -- Deleted by themselves -----------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_who_deletes_themselves_is_found_nowhere(
    own_folders: Path, log: io.StringIO, link_batch: Batch, invited: Invited
) -> None:
    settings.MEDIA_ROOT.mkdir(exist_ok=True)
    look_around(invited)
    assignment = answered(link_batch, invited)
    traces = of_person(invited, folder=own_folders, log=log)
    traces.words.append(pseudonym(invited.invitation.worker.worker_id))
    ratings = list(
        Rating.objects.exclude(score=None).order_by("pk").values_list("criterion", "value", "score")
    )
    assert {
        "surveys_invitation",
        "annotators_assignment",
        "surveys_response",
        "export tidy",
    } <= traces.found()
    answer = Client().post(own(invited, "own_data_delete"), {"confirmed": "1"})
    assert (answer.status_code, "is deleted" in answer.content.decode()) == (200, True)
    assert traces.found() == set()
    assignment.refresh_from_db()
    assert (assignment.status, assignment.saved_at is None) == ("Approved", False)
    assert ratings
    assert (
        list(Rating.objects.exclude(score=None).order_by("pk").values_list("criterion", "value", "score"))
        == ratings
    )
    assert list(AuditEntry.objects.values_list("outcome", "worker")) == [("forget", assignment.worker_id)]


@pytest.mark.django_db
def test_their_link_and_code_lead_nowhere(link_batch: Batch, invited: Invited) -> None:
    answered(link_batch, invited)
    Client().post(own(invited, "own_data_delete"), {"confirmed": "1"})
    for page in ("own_data", "own_data_download"):
        assert Client().get(own(invited, page)).status_code == 403
    assert Client().get(path_of(invited)).status_code == 403
    sign_in = reverse("link_sign_in", args=[link_batch.pk])
    assert Client().post(sign_in, {"name": NAME, "access_code": invited.access_code}).status_code == 403


@pytest.mark.django_db
def test_what_they_had_begun_is_free_for_others(link_batch: Batch, invited: Invited) -> None:
    begun = link_people.take(link_batch, invited.invitation.worker)
    Response.objects.update(draft={"remark": NAME})
    assert own_data.forget(invited.invitation.worker) == []
    assert list(Response.objects.values_list("draft", flat=True)) == [{}]
    assert AnnotationSlot.objects.get(assignment=begun).leased_until <= timezone.now()


@pytest.mark.django_db
def test_once_is_asked(link_batch: Batch, invited: Invited) -> None:
    answer = Client().post(own(invited, "own_data_delete"))
    assert (answer.status_code, "Tick the box" in answer.content.decode()) == (422, True)
    assert Invitation.objects.get().name == NAME


@pytest.mark.django_db
def test_money_on_its_way_is_settled_first(invited: Invited) -> None:
    assignment = answered(invited.invitation.batch, invited)
    Call.objects.create(
        token="bonus:1", operation="SendBonus", endpoint="embedded", assignment=assignment, state="sent"
    )
    answer = Client().post(own(invited, "own_data_delete"), {"confirmed": "1"})
    assert (answer.status_code, "A payment to you is under way (1)." in answer.content.decode()) == (
        409,
        True,
    )
    assert Invitation.objects.get().name == NAME


@pytest.mark.django_db
def test_pay_that_nobody_decided_about_can_be_given_up(invited: Invited) -> None:
    Batch.objects.update(reward=Decimal("0.80"))
    assignment = link_people.answered(link_people.take(invited.invitation.batch, invited.invitation.worker))
    page = " ".join(Client().get(own(invited, "own_data")).content.decode().split())
    assert "about your pay for work you handed in (1; $0.80)." in page
    answer = Client().post(own(invited, "own_data_delete"), {"confirmed": "1"})
    assert (answer.status_code, "if you do without it" in answer.content.decode()) == (422, True)
    assert Invitation.objects.get().name == NAME
    answer = Client().post(own(invited, "own_data_delete"), {"confirmed": "1", "given_up": "1"})
    assert (answer.status_code, "is deleted" in answer.content.decode()) == (200, True)
    assignment.refresh_from_db()
    assert (assignment.status, assignment.saved_at is None) == ("Submitted", False)
    reason = "Gave up pay nobody had decided about: $0.80 for 1."
    assert list(AuditEntry.objects.values_list("outcome", "reason")) == [("forget", reason)]


@pytest.mark.django_db
def test_an_appeal_without_an_answer_is_withdrawn_by_who_does_without_one(invited: Invited) -> None:
    assignment = answered(invited.invitation.batch, invited)
    Assignment.objects.update(status="Rejected", approved_at=None, rejected_at=timezone.now())
    Appeal.objects.create(assignment=assignment, code="abc", text=f"I, {NAME}", made_at=timezone.now())
    assert len(own_data.forget(invited.invitation.worker)) == 1
    assert Appeal.objects.get().made_at is not None
    assert own_data.forget(invited.invitation.worker, giving_up=True) == []
    assert list(Appeal.objects.values_list("text", "made_at")) == [("", None)]


@pytest.mark.django_db
def test_a_payment_on_its_way_can_not_be_given_up(invited: Invited) -> None:
    assignment = answered(invited.invitation.batch, invited)
    Call.objects.create(
        token="bonus:1", operation="SendBonus", endpoint="embedded", assignment=assignment, state="sent"
    )
    assert len(own_data.forget(invited.invitation.worker, giving_up=True)) == 1
    assert Invitation.objects.get().name == NAME


@pytest.mark.django_db
def test_the_file_has_all_of_it(link_batch: Batch, invited: Invited) -> None:
    answered(link_batch, invited)
    answer = Client().get(own(invited, "own_data_download"))
    assert answer["Cache-Control"] == "no-store"
    kept = json.loads(answer.content)
    (work,) = kept["annotations"]
    assert [(row["name"], row["email"]) for row in kept["invitations"]] == [(NAME, EMAIL)]
    assert (work["your_remark"], work["browser"], work["status"]) == (
        f"Yours, {NAME}",
        f"Browser of {NAME}",
        "Approved",
    )
    assert [response["draft"] for response in work["answers"]] == [{"remark": f"I, {EMAIL}"}]
    assert len(work["answers"][0]["ratings"]) == Rating.objects.count() > 0


# -- Nobody else's -------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_panels_person_is_only_claimed(link_batch: Batch) -> None:
    """Whoever types an id into a panel's address is taken for that person, so the page is not shown to them."""
    panel = make_panel(link_batch)
    home = Client().get(reverse("panel", args=[panel.code]), from_prolific("5f2aVICTIM"))["Location"]
    token = home.rstrip("/").rpartition("/")[2]
    for page, method in (("own_data", "get"), ("own_data_download", "get"), ("own_data_delete", "post")):
        answer = getattr(Client(), method)(reverse(page, args=[token]), {"confirmed": "1"})
        assert (answer.status_code, "does not prove who you are" in answer.content.decode()) == (403, True)
    assert Worker.objects.get().purged_at is None


@pytest.mark.django_db
def test_a_marketplaces_worker_was_only_named_by_who_invited_them() -> None:
    worker = a_finished_study().worker
    batch = link_people.make_batch(endpoint="embedded", takes_links=True, reward=Decimal("0.38"))
    invited = invite_one(batch, "Eve", worker_id=worker.worker_id)
    for page, method in (("own_data", "get"), ("own_data_download", "get"), ("own_data_delete", "post")):
        answer = getattr(Client(), method)(own(invited, page), {"confirmed": "1"})
        assert (answer.status_code, ANN in answer.content.decode()) == (403, False)
    assert Worker.objects.get(pk=worker.pk).worker_id == ANN


@pytest.mark.django_db
def test_another_persons_data_is_not_in_it(link_batch: Batch, invited: Invited) -> None:
    other = invite_one(link_batch, "Grace Other", email="grace@other.example")
    answered(link_batch, other)
    for page in ("own_data", "own_data_download"):
        assert "Grace Other" not in Client().get(own(invited, page)).content.decode()
    Client().post(own(invited, "own_data_delete"), {"confirmed": "1"})
    assert Invitation.objects.get(pk=other.invitation.pk).email == "grace@other.example"


@pytest.mark.django_db
@pytest.mark.parametrize("change", ["tampered", "revoked", "replaced"])
def test_a_link_that_is_no_more_shows_nothing(invited: Invited, change: str) -> None:
    address = own(invited)
    if change == "tampered":
        address = address.replace("my-data", "").rstrip("/")[:-3] + "xxx/my-data"
    elif change == "revoked":
        Invitation.objects.update(revoked_at=timezone.now())
    else:
        Invitation.objects.update(key="00000000-0000-4000-8000-000000000000")
    answer = Client().get(address)
    assert (answer.status_code in (403, 404), NAME in answer.content.decode()) == (True, False)


@pytest.mark.django_db
def test_an_expired_link_still_leads_to_ones_own_data(invited: Invited) -> None:
    Invitation.objects.update(expires_at=timezone.now() - timedelta(days=9))
    refused = Client().get(path_of(invited))
    assert (refused.status_code, own(invited) in refused.content.decode()) == (403, True)
    assert Client().get(own(invited)).status_code == 200


@pytest.mark.django_db
def test_researchers_see_a_name_and_no_person(link_batch: Batch, invited: Invited) -> None:
    answered(link_batch, invited)
    Client().post(own(invited, "own_data_delete"), {"confirmed": "1"})
    page = client_of("Researcher").get(reverse("people", args=[link_batch.pk]))
    assert (page.status_code, NAME in page.content.decode(), EMAIL in page.content.decode()) == (
        200,
        False,
        False,
    )
