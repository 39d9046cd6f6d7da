"""Try a review policy out on what a batch has, before it is applied. Changes nothing."""

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from surveys.management.batches import find_batch
from surveys.models import Batch
from surveys.protocols.policy import Policy, in_words, read_policy
from surveys.protocols.rules import PolicyError
from surveys.results.dry_run import DryRun, dry_run


class Command(BaseCommand):
    help = "Tell whom a review policy would hit, what that would cost, and how the scores would move."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("batch", help="The batch’s name or number.")
        parser.add_argument(
            "--policy",
            type=Path,
            metavar="FILE",
            help="JSON as a batch stores it (default: the batch’s own).",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        batch = find_batch(options["batch"])
        policy = _read(batch, options["policy"])
        run = dry_run(batch, policy=policy)
        for line in (in_words(policy), *_figures(run), *_scores(run), *_hits(run)):
            self.stdout.write(line)


def _read(batch: Batch, path: Path | None) -> Policy:
    try:
        data = json.loads(path.read_text(encoding="utf-8")) if path else batch.review_policy
        return read_policy(data, items_per_hit=batch.items_per_hit)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    except (PolicyError, ValueError, TypeError) as error:
        raise CommandError(f"{path or batch}: {error}") from error


def _figures(run: DryRun) -> list[str]:
    return [
        f"{run.n} handed in, {run.n_open} not decided for good; {len(run.hits)} flagged, of these "
        f"{len(run.rejected)} proposed for rejection; {len(run.workers)} workers flagged.",
        f"Unpaid: {run.n_unpaid} (${run.unpaid:.2f}). Replacements: ${run.unpaid:.2f}.",
        *(f"{kind}: {n}" for kind, n in run.kinds),
    ]


def _scores(run: DryRun) -> list[str]:
    lines = []
    for name, selection in run.scores.items():
        for system in selection.systems:
            for criterion in system.criteria:
                if criterion.score and criterion.score.rating_mean is not None:
                    mean = f"{criterion.score.rating_mean:.4f} (n = {criterion.score.ratings})"
                    lines.append(f"{name}: {system.system}, {criterion.label}: {mean}")
    return lines


def _hits(run: DryRun) -> list[str]:
    return [
        f"{hit.assignment_id} by {hit.worker}: {'propose' if hit.is_rejected else 'flag'}: "
        + " ".join(flag.sentence for flag in hit.flags)
        for hit in run.hits
    ]
