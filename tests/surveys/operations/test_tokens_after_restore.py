"""After a restore keys are dealt out anew. What was bought before is found again, and what was not is bought."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotators.models import HIT, Assignment, Call
from annotators.outbox import market
from annotators.outbox.journal import SHOWN_WITHIN, find_out
from marketplace import models as marketplace
from marketplace.money import audit
from surveys.models import Questionnaire, Replacement
from surveys.operations.backups.making import backup
from surveys.publishing import bonuses
from surveys.review import replacements
from tests.market_site import Site
from tests.market_study import again, max_assignments, open_study, publish, sync_study, work
from tests.surveys.operations.restored_alone import restore_alone

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def archive(tmp_path: Path) -> Callable[[], Path]:
    def make() -> Path:
        backup(tmp_path / "all.zip")
        return tmp_path / "all.zip"

    return make


def places(*questionnaires: Questionnaire) -> list[int]:
    """How many assignments their HITs have on the marketplace."""
    hit_ids = [again(questionnaire).hit.hit_id for questionnaire in questionnaires]  # type: ignore[union-attr]
    of_id = dict(marketplace.HIT.objects.values_list("hit_id", "max_assignments"))
    return [of_id[hit_id] for hit_id in hit_ids]


def ask_again(site: Site, questionnaire: Questionnaire) -> None:
    """Everything that is to be replaced, as the next sweeps do."""
    for assignment in replacements.to_replace(again(questionnaire).hit):  # type: ignore[arg-type]
        replacements.replace(assignment, questionnaire=again(questionnaire), gateway=site.gateway)


def test_a_replacement_is_neither_bought_twice_nor_lost(site: Site, archive: Callable[[], Path]) -> None:
    """The first HIT's replacement was bought after the backup. Then the other HIT is looked at first."""
    first, other = open_study(site, assignments_per_hit=3), open_study(site, assignments_per_hit=3)
    made = archive()
    work(site, first, n_correct=0)
    sync_study(site, first)
    assert places(first, other) == [4, 3]
    restore_alone(made)
    work(site, other, n_correct=0)
    for questionnaire in (other, first, other, first):
        sync_study(site, questionnaire)
    assert places(first, other) == [4, 4]
    assert [max_assignments(first), max_assignments(other)] == [4, 4]
    assert Replacement.objects.filter(opened_at__isnull=False).count() == 2
    assert set(Call.objects.values_list("state", flat=True)) == {"done"}
    assert audit.report()["is_sound"]


def test_a_replacement_made_days_after_the_backup_is_not_bought_again(
    site: Site, archive: Callable[[], Path]
) -> None:
    """The marketplace forgets a token in a day; the restored books know nothing of the call."""
    questionnaire = open_study(site, assignments_per_hit=3)
    made = archive()
    work(site, questionnaire, n_correct=0)
    sync_study(site, questionnaire)
    marketplace.Token.objects.all().delete()
    restore_alone(made)
    for _ in range(2):
        sync_study(site, questionnaire)
    assert places(questionnaire) == [4]
    assert Replacement.objects.get().opened_at is not None
    work(site, questionnaire, n_correct=0)
    sync_study(site, questionnaire)
    assert (places(questionnaire), max_assignments(questionnaire)) == ([5], 5)


def test_two_replacements_of_one_hit_are_found_again(site: Site, archive: Callable[[], Path]) -> None:
    questionnaire = open_study(site, assignments_per_hit=3)
    made = archive()
    for _ in range(2):
        work(site, questionnaire, n_correct=0)
        sync_study(site, questionnaire)
    restore_alone(made)
    sync_study(site, questionnaire)
    sync_study(site, questionnaire)
    assert (places(questionnaire), max_assignments(questionnaire)) == ([5], 5)
    assert Call.objects.filter(operation=Call.Operation.EXTEND, state="done").count() == 2


def test_the_last_room_of_a_hit_is_found_again_and_no_sibling_made(
    site: Site, archive: Callable[[], Path]
) -> None:
    questionnaire = open_study(site, assignments_per_hit=8)
    made = archive()
    work(site, questionnaire, n_correct=0)
    sync_study(site, questionnaire)
    restore_alone(made)
    sync_study(site, questionnaire)
    assert (places(questionnaire), Questionnaire.objects.count()) == ([9], 1)
    assert Replacement.objects.get().opened_at is not None


def test_a_sibling_made_after_the_backup_is_found_again(site: Site, archive: Callable[[], Path]) -> None:
    questionnaire = open_study(site, assignments_per_hit=9)
    made = archive()
    work(site, questionnaire, n_correct=0)
    sync_study(site, questionnaire)
    publish(Questionnaire.objects.get(sibling_of=questionnaire), site)
    restore_alone(made)
    sync_study(site, questionnaire)
    sibling = Questionnaire.objects.get(sibling_of=questionnaire)
    assert publish(sibling, site).state == "done"
    assert marketplace.HIT.objects.count() == HIT.objects.count() == 2


def with_used_token(site: Site, *, of: HIT, on: HIT) -> Call:
    """Ask for one assignment more on `on` under a token that was used for `of`."""
    site.gateway.extend(of.hit_id, n=1, token="replace:1")
    return market.extend(on, token="replace:1", gateway=site.gateway)


def test_a_token_used_for_another_hit_is_not_taken_as_done(site: Site) -> None:
    """Nothing is bought twice because of a marketplace that shows late, and in the end the call is refused."""
    first, other = open_study(site), open_study(site)
    assert first.hit is not None
    assert other.hit is not None
    call = with_used_token(site, of=first.hit, on=other.hit)
    assert (call.state, places(first, other)) == ("unknown", [6, 5])
    doubted = {**call.arguments, "doubted_at": (timezone.now() - SHOWN_WITHIN).isoformat()}
    Call.objects.filter(pk=call.pk).update(arguments=doubted)
    call = market.extend(other.hit, token="replace:1", gateway=site.gateway)
    assert (call.state, call.error.startswith("The marketplace has used this call's token")) == (
        "refused",
        True,
    )
    assert (places(first, other), max_assignments(other)) == ([6, 5], 5)


def test_the_sweep_gives_such_a_call_up_too(site: Site) -> None:
    first, other = open_study(site), open_study(site)
    assert first.hit is not None
    assert other.hit is not None
    call = with_used_token(site, of=first.hit, on=other.hit)
    assert find_out(call, gateway=site.gateway).state == "unknown"
    Call.objects.filter(pk=call.pk).update(sent_at=timezone.now() - SHOWN_WITHIN)
    assert find_out(Call.objects.get(pk=call.pk), gateway=site.gateway).state == "refused"


def test_a_replacement_whose_old_token_was_used_elsewhere_gets_a_sibling(site: Site) -> None:
    """A row of the version before, whose token is made of our key, is kept; its place is not lost."""
    first, other = open_study(site), open_study(site)
    assert first.hit is not None
    assert other.hit is not None
    work(site, other, n_correct=0)
    sync_study(site, other)
    bought = Call.objects.get(operation=Call.Operation.EXTEND)
    replaced = Assignment.objects.get(status="Rejected")
    site.gateway.extend(first.hit.hit_id, n=1, token=f"replace:{replaced.pk}")
    marketplace.HIT.objects.filter(hit_id=other.hit.hit_id).update(max_assignments=5)
    HIT.objects.filter(pk=other.hit.pk).update(max_assignments=5)
    old = {"token": f"replace:{replaced.pk}", "state": "planned", "arguments": {}, "sent_at": None}
    Call.objects.filter(pk=bought.pk).update(**old, attempts=0, finished_at=None)
    Replacement.objects.update(opened_at=None)
    ask_again(site, other)
    call = Call.objects.get(pk=bought.pk)
    assert (call.state, call.token) == ("unknown", f"replace:{replaced.pk}")
    Call.objects.filter(pk=call.pk).update(sent_at=timezone.now() - SHOWN_WITHIN)
    find_out(Call.objects.get(pk=call.pk), gateway=site.gateway)
    ask_again(site, other)
    assert Replacement.objects.get().opened_by == "create"
    assert Call.objects.filter(operation=Call.Operation.EXTEND).count() == 1


def test_what_an_older_version_wrote_down_is_not_written_again(site: Site) -> None:
    questionnaire = open_study(site, assignments_per_hit=3)
    work(site, questionnaire)
    work(site, questionnaire, n_correct=0)
    sync_study(site, questionnaire)
    kept = dict(Call.objects.values_list("operation", "pk"))
    approved, rejected = Assignment.objects.get(status="Approved"), Assignment.objects.get(status="Rejected")
    for operation, token in (
        ("ApproveAssignment", f"approve:{approved.pk}"),
        ("RejectAssignment", f"reject:{rejected.pk}"),
        ("CreateAdditionalAssignmentsForHIT", f"replace:{rejected.pk}"),
    ):
        Call.objects.filter(operation=operation).update(token=token)
    Replacement.objects.update(opened_at=None)
    for assignment, operation in ((approved, "APPROVE"), (rejected, "REJECT")):
        market.plan_decision(assignment, Call.Operation[operation], feedback="", endpoint="embedded")
    ask_again(site, questionnaire)
    assert dict(Call.objects.values_list("operation", "pk")) == kept
    assert site.wire.calls["CreateAdditionalAssignmentsForHIT"] == 1


def test_the_same_page_of_a_bonus_sent_after_a_restore_pays_nobody_twice(
    site: Site, archive: Callable[[], Path]
) -> None:
    questionnaire = open_study(site)
    person = User.objects.create(username="ada")
    made = archive()
    work(site, questionnaire)
    nonce = uuid.uuid4()

    def pay() -> Call:
        sync_study(site, questionnaire)
        paid: dict[str, Any] = {
            "amount": Decimal("0.50"),
            "reason": "Thank you.",
            "nonce": nonce,
            "by": person,
        }
        return market.settle(bonuses.give(Assignment.objects.get(), **paid), gateway=site.gateway)

    assert pay().state == "done"
    restore_alone(made)
    assert (pay().state, marketplace.Bonus.objects.count()) == ("done", 1)


def test_a_call_that_was_planned_in_the_backup_and_made_after_it_is_read_once_its_token_is_forgotten(
    site: Site, archive: Callable[[], Path]
) -> None:
    questionnaire = open_study(site)
    assert questionnaire.hit
    work(site, questionnaire)
    sync_study(site, questionnaire)
    bonus = market.plan_bonus(
        Assignment.objects.get(),
        amount=Decimal("0.50"),
        reason="Thanks.",
        token="bonus:1",
        endpoint="embedded",
    )
    made = archive()
    assert market.settle(bonus, gateway=site.gateway).state == "done"
    restore_alone(made)
    marketplace.Token.objects.all().delete()
    Call.objects.filter(state="planned").update(created_at=timezone.now() - timedelta(days=2))
    again_planned = Call.objects.get(token="bonus:1")
    assert again_planned.sent_at is not None
    assert market.settle(again_planned, gateway=site.gateway).state == "done"
    assert marketplace.Bonus.objects.count() == 1
