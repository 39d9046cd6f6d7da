"""What a policy would do: whom it hits, what that costs, how the scores move."""

import io
import json
from decimal import Decimal
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from annotators.models import Assignment
from surveys.models import Batch, Questionnaire
from surveys.protocols.policy import parse
from surveys.results.dry_run import dry_run
from surveys.review import decisions
from tests.factories import make_published
from tests.judged import handed_in, verdicts
from tests.policy_data import THREE_OF_FIVE, at_least, policy_of
from tests.protocols import ESNLIVE
from tests.surveys.results.published import load_published

pytestmark = pytest.mark.django_db
STRAIGHT = policy_of({"kind": "straight_lining", "at_least": 10}, reject_at=None)


def test_whom_it_hits_and_what_that_costs(cautious: Questionnaire) -> None:
    worst, poor, good = (handed_in(cautious, n_correct=n) for n in (1, 2, 5))
    run = dry_run(cautious.batch, policy=parse(at_least(2, 5)))
    assert (run.n, run.n_open) == (3, 3)
    assert [(hit.pk, hit.is_rejected, hit.is_open) for hit in run.hits] == [(worst.pk, True, True)]
    assert run.hits[0].flags[0].sentence == "You answered 1 of 5 questions correctly; at least 2 are needed."
    assert (run.n_unpaid, run.each, run.unpaid) == (
        1,
        Decimal("0.46"),
        Decimal("0.46"),
    )  # 0.38 and 20 % of it
    everybody = dry_run(cautious.batch, policy=parse(at_least(5, 5)))
    assert {hit.pk for hit in everybody.hits} == {worst.pk, poor.pk}
    assert [(one.n, one.n_flagged, one.n_rejected, one.kinds) for one in everybody.workers] == [
        (1, 1, 1, (("minimum_correct", 1),))
    ] * 2
    assert good.pk not in {hit.pk for hit in everybody.hits}
    assert verdicts() == ["propose", "propose", "approve"]


def test_what_is_decided_already_is_not_open(cautious: Questionnaire, person: User) -> None:
    poor = handed_in(cautious, n_correct=1)
    decisions.approve(poor, by=person)
    run = dry_run(cautious.batch, policy=parse(THREE_OF_FIVE))
    assert (len(run.rejected), run.n_unpaid, run.n_decided_rejected) == (1, 0, 1)


def test_scores_move_by_what_is_left_out(cautious: Questionnaire) -> None:
    handed_in(cautious, n_correct=1)
    handed_in(cautious, n_correct=5)
    run = dry_run(cautious.batch, policy=parse(THREE_OF_FIVE))
    assert {name: selection.responses for name, selection in run.scores.items()} == {
        "used now": 10,
        "without rejections": 5,
        "without flagged": 5,
    }
    assert dry_run(cautious.batch, policy=parse(THREE_OF_FIVE), scores=False).scores == {}


def test_a_batch_without_answers() -> None:
    run = dry_run(make_published().batch, policy=parse(THREE_OF_FIVE))
    assert (run.n, run.hits, run.workers, run.scores) == (0, (), (), {})


def test_published_scores_with_and_without_the_rule(shared: Path) -> None:
    batch = load_published(shared / "data/ofax/esnlive_unifiedresults_raw.csv", definition=ESNLIVE)
    Assignment.objects.filter(status="Rejected").update(status="Submitted", rejected_at=None)
    run = dry_run(batch, policy=parse(THREE_OF_FIVE))
    means = {
        name: [round(system.criterion("justifies").score.rating_mean, 4) for system in selection.systems]
        for name, selection in run.scores.items()
    }
    assert (run.n, len(run.rejected)) == (123, 22)
    assert means["without rejections"] == [0.7923, 0.8313]
    assert means["used now"] != means["without rejections"]


# -- The command


def said(*arguments: object) -> list[str]:
    stream = io.StringIO()
    call_command("dry_run_policy", *map(str, arguments), stdout=stream)
    return stream.getvalue().splitlines()


def test_the_command_says_what_would_happen(cautious: Questionnaire, tmp_path: Path) -> None:
    handed_in(cautious, n_correct=1)
    handed_in(cautious, n_correct=5)
    path = tmp_path / "policy.json"
    path.write_text(json.dumps(at_least(2, 5)))
    lines = said(cautious.batch.name, "--policy", path)
    assert lines[:4] == [
        "Proposed for rejection: fewer than 2 of 5 answers right.",
        "2 handed in, 2 not decided for good; 1 flagged, of these 1 proposed for rejection; 1 workers flagged.",
        "Unpaid: 1 ($0.46). Replacements: $0.46.",
        "minimum_correct: 1",
    ]
    assert lines[-1].endswith("propose: You answered 1 of 5 questions correctly; at least 2 are needed.")
    assert "1 handed in" not in said(cautious.batch_id)[1]
    assert (Batch.objects.get().review_policy, verdicts()) == (THREE_OF_FIVE, ["propose", "approve"])


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"rules": [{"kind": "x"}], "reject_at": 2}'])
def test_the_command_refuses_what_is_no_policy(cautious: Questionnaire, tmp_path: Path, text: str) -> None:
    path = tmp_path / "policy.json"
    path.write_text(text)
    with pytest.raises(CommandError):
        said(cautious.batch_id, "--policy", path)
    with pytest.raises(CommandError, match="No such file"):
        said(cautious.batch_id, "--policy", tmp_path / "none.json")
    with pytest.raises(CommandError, match="There is no batch 'nope'"):
        said("nope")
