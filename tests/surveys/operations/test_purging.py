"""What a purge erases, what stays as it was, and that it can be broken off anywhere."""

import io
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from annotators.models import Assignment, Worker
from annotators.people.names import pseudonym
from surveys.models import AnswerRevision, AuditEntry, Batch, Invitation, PanelVisit, Response
from surveys.operations import purging
from surveys.results.files.layouts import LAYOUTS
from tests import factories, link_people
from tests.surveys.operations.purge_study import (
    ANN,
    a_finished_study,
    a_year_ago,
    cells_with,
    name_everywhere,
)

pytestmark = pytest.mark.django_db


def yesterday() -> datetime:
    return timezone.now() - timedelta(days=1)


def written(batch: Batch, layout: str) -> str:
    stream = io.StringIO(newline="")
    LAYOUTS[layout].write(batch, stream)
    return stream.getvalue()


def purged_entries() -> list[int | None]:
    return sorted(AuditEntry.objects.filter(kind="purge").values_list("worker", flat=True))


def test_nothing_of_the_id_is_left_in_any_text_of_the_database() -> None:
    name_everywhere(a_finished_study())
    assert len(cells_with(ANN)) == 18
    purging.purge(yesterday())
    assert cells_with(ANN) == []


def test_the_audit_trail_never_had_it() -> None:
    name_everywhere(a_finished_study())
    entry = AuditEntry.objects.get(kind="standing")
    name = f"pseudonym:{pseudonym(ANN)}"
    assert entry.reason == f"I am {name}; {name} too"
    assert entry.details == {"of": entry.reason}


def test_files_keep_numbers_and_names() -> None:
    batch = a_finished_study().hit.questionnaire.batch
    before = {name: written(batch, name) for name in ("processed", "tidy", "summary")}
    purging.purge(yesterday())
    assert {name: written(batch, name) for name in before} == before
    assert pseudonym(ANN) in before["tidy"]


def test_answers_orders_and_comments_stay() -> None:
    assignment = a_finished_study()
    Assignment.objects.update(comment="Mine looked like a cat.")
    before = list(Response.objects.values_list("item", "shown", "answer", "draft", "ratings__value"))
    purging.purge(yesterday())
    assignment.refresh_from_db()
    assert list(Response.objects.values_list("item", "shown", "answer", "draft", "ratings__value")) == before
    assert (assignment.comment, assignment.status) == ("Mine looked like a cat.", "Approved")


def test_comments_go_when_asked_for() -> None:
    assignment = a_finished_study()
    Assignment.objects.update(comment="Call me on 555.")
    AnswerRevision.objects.create(assignment=assignment, data={"answers": [1], "comment": "Call me on 556."})
    purging.purge(yesterday(), comments=True)
    assert Assignment.objects.get().comment == ""
    assert AnswerRevision.objects.get().data == {"answers": [1], "comment": ""}


def test_the_marketplaces_copy_stays_where_it_is_the_only_one() -> None:
    assignment = a_finished_study()
    Assignment.objects.update(answer_xml=f"<a>{ANN}</a>", saved_at=None)
    purging.purge(yesterday())
    assignment.refresh_from_db()
    assert assignment.answer_xml == f"<a>pseudonym:{pseudonym(ANN)}</a>"


def test_a_draft_that_was_never_handed_in_goes() -> None:
    questionnaire = factories.make_published(status="stopped")
    assignment = factories.open_for(questionnaire, worker=ANN)
    Response.objects.update(draft={"i1-answer": "yes"})
    a_year_ago()
    purging.purge(yesterday())
    assert list(assignment.responses.values_list("draft", flat=True)) == [{}] * 5


def test_an_id_within_another_word_is_none() -> None:
    a_finished_study()
    Assignment.objects.update(comment=f"{ANN}7 is my sister, X{ANN} my car, ({ANN}) me")
    purging.purge(yesterday())
    left = f"{ANN}7 is my sister, X{ANN} my car, (pseudonym:{pseudonym(ANN)}) me"
    assert Assignment.objects.get().comment == left


def test_a_short_id_rewrites_no_words() -> None:
    a_finished_study(worker="yes")
    Assignment.objects.update(comment="yes, yes")
    purging.purge(yesterday())
    assert (Assignment.objects.get().comment, Worker.objects.get().worker_id) == (
        "yes, yes",
        f"purged:{pseudonym('yes')}",
    )


def test_invited_people_lose_name_address_and_link() -> None:
    batch = link_people.make_batch()
    invited = link_people.invite_one(batch, email="ann@example.org")
    key, code = invited.invitation.key, invited.invitation.access_code
    link_people.answered(link_people.take(batch, invited.invitation.worker))
    Assignment.objects.update(status="Approved", approved_at=timezone.now())
    Batch.objects.update(status="complete")
    a_year_ago()
    purging.purge(yesterday())
    left = Invitation.objects.select_related("worker").get()
    assert (left.name, left.email, left.access_code) == (left.worker.worker_id, "", "")
    assert (left.key == key, code == "", left.revoked_at is None) == (False, False, False)
    assert cells_with("ann@example.org") == []


def test_a_panels_people_lose_study_and_session() -> None:
    batch = link_people.make_batch()
    panel = link_people.make_panel(batch)
    worker = link_people.make_person("prolific:5f2a0000aa11bb22cc33dd44", "panel")
    PanelVisit.objects.create(panel=panel, worker=worker, study="study-1", session="session-1")
    assignment = link_people.answered(link_people.take(batch, worker, channel="panel"))
    Assignment.objects.update(
        status="Approved", approved_at=timezone.now(), comment="5F2A0000AA11BB22CC33DD44 here"
    )
    Batch.objects.update(status="complete")
    a_year_ago()
    purging.purge(yesterday())
    visit = PanelVisit.objects.get()
    assert (visit.study, visit.session) == ("", "")
    assert cells_with("5f2a0000aa11bb22cc33dd44") == []
    assignment.refresh_from_db()
    assert assignment.comment == f"{assignment.worker.worker_id.replace('purged', 'pseudonym')} here"


def test_again_it_changes_nothing() -> None:
    worker = a_finished_study().worker
    first, second = purging.purge(yesterday()), purging.purge(yesterday())
    assert (first.n_purged, second.n_purged) == (1, 0)
    assert purged_entries() == [worker.pk]


def test_a_dry_run_changes_nothing() -> None:
    a_finished_study()
    assert purging.purge(yesterday(), dry_run=True).n_purged == 1
    assert (Worker.objects.get().worker_id, AuditEntry.objects.count()) == (ANN, 0)


def test_broken_off_between_chunks_it_is_finished_by_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    workers = [a_finished_study(worker=f"A1WORKER{n}").worker.pk for n in range(3)]
    erase, erased = purging.erase, []

    def dies_at_the_second(worker: Worker, *, comments: bool) -> None:
        erase(worker, comments=comments)
        erased.append(worker.pk)
        if len(erased) == 2:
            raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(purging, "CHUNK", 1)
        patch.setattr(purging, "erase", dies_at_the_second)
        with pytest.raises(SystemExit):
            purging.purge(yesterday())
    left = Worker.objects.filter(purged_at=None).order_by("pk").values_list("pk", flat=True)
    assert list(left) == workers[1:]
    assert cells_with("A1WORKER1") == ["Worker.worker_id"]
    assert purging.purge(yesterday()).n_purged == 2
    assert purged_entries() == workers


def test_the_trail_says_who_asked_for_what() -> None:
    a_finished_study()
    before = yesterday()
    purging.purge(before, comments=True, account="carla")
    entry = AuditEntry.objects.get()
    assert entry.details == {"before": before.isoformat(), "comments": True, "account": "carla"}
    assert (entry.kind, entry.outcome, entry.actor) == ("purge", "purge", None)
