"""Everything is lost in the middle of a batch on the marketplace, and the batch is finished from the backup."""

from pathlib import Path
from typing import Any

import pytest

from annotators.models import Assignment, Call
from marketplace.money import audit
from surveys.models import Questionnaire, Replacement
from surveys.operations import reconciling
from surveys.operations.backups.making import backup
from surveys.operations.backups.restoring import restore
from tests.factories import answer, open_for
from tests.market_site import Site
from tests.market_study import again, max_assignments, open_study, statuses, sync_study, work
from tests.surveys.operations.backup_state import destroy, everything, without_hold

pytestmark = pytest.mark.django_db(transaction=True)


def begin(site: Site) -> Questionnaire:
    """One approved, one rejected and replaced, one submitted and not fetched, one half answered."""
    questionnaire = open_study(site, assignments_per_hit=3)
    work(site, questionnaire)
    work(site, questionnaire, n_correct=0)
    sync_study(site, questionnaire)
    work(site, questionnaire)
    return again(questionnaire)


def finish(site: Site, questionnaire: Questionnaire) -> None:
    work(site, questionnaire)
    sync_study(site, questionnaire)
    sync_study(site, questionnaire)


def go_on() -> None:
    """What a person does after a restore: the books are of one moment and agree, but for what is not fetched yet."""
    assert {row["kind"] for row in reconciling.compare()} <= {"work"}
    assert reconciling.release(by="ada")


def outcome(site: Site, questionnaire: Questionnaire) -> tuple[Any, ...]:
    calls = sorted(Call.objects.values_list("operation", "state", "amount"))
    return (
        audit.report(),
        site.held(),
        site.spent(),
        statuses(questionnaire),
        calls,
        Replacement.objects.count(),
    )


def test_a_batch_goes_on_from_its_backup(site: Site, tmp_path: Path) -> None:
    questionnaire = begin(site)
    middle = everything()
    backup(tmp_path / "all.zip")
    finish(site, questionnaire)
    without_loss = outcome(site, questionnaire)
    destroy()
    restore(tmp_path / "all.zip")
    assert without_hold(everything()) == without_hold(middle)
    go_on()
    finish(site, questionnaire)
    assert outcome(site, questionnaire) == without_loss
    assert statuses(questionnaire) == ["Approved"] * 3 + ["Rejected"]
    assert (max_assignments(questionnaire), site.held(), audit.report()["is_sound"]) == (4, 0, True)


def test_answers_of_a_half_done_questionnaire_stay(site: Site, tmp_path: Path) -> None:
    questionnaire = open_study(site)
    assert questionnaire.hit is not None
    accepted = site.accept(questionnaire.hit)
    opened = open_for(questionnaire, worker=accepted.worker.worker_id, assignment=accepted.assignment_id)
    backup(tmp_path / "all.zip")
    destroy()
    restore(tmp_path / "all.zip")
    go_on()
    answer(Assignment.objects.get(pk=opened.pk), n_correct=5)
    assert site.submit(accepted, nonce=str(opened.nonce)).status == "Submitted"
    sync_study(site, questionnaire)
    assert statuses(questionnaire) == ["Approved"]


def test_a_lost_answer_is_settled_by_reading_after_a_restore(site: Site, tmp_path: Path) -> None:
    """The call was carried out and its answer lost before the backup: it is not made again after."""
    questionnaire = open_study(site)
    work(site, questionnaire)
    site.wire.lose.add("ApproveAssignment")
    sync_study(site, questionnaire)
    assert list(Call.objects.filter(operation="ApproveAssignment").values_list("state", flat=True)) == [
        "unknown"
    ]
    backup(tmp_path / "all.zip")
    destroy()
    restore(tmp_path / "all.zip")
    go_on()
    site.wire.heal()
    sync_study(site, questionnaire)
    assert statuses(questionnaire) == ["Approved"]
    assert audit.report()["is_sound"]
