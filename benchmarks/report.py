"""The report of a large batch, from a cold start: what reading it and making its numbers cost, beside plain Python.

Run `python benchmarks/report.py [--items 10000] [--raters 5] [--type xai] [--database URL]`. It fills an empty database
with one batch, then starts a process of its own for each of: Django and nothing else; the batch's rows fetched, one by
one, and their ratings added up, without a table or a test; the report, as the worker makes it. Printed are CPU
seconds and the most memory (VmHWM) of the whole process, and their ratios to fetching alone.
"""

import argparse
import os
import random
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

STEPS = ("start", "fetch", "report")
WORKERS, PER_HIT, AT_ONCE = 200, 5, 5000
Numbers = dict[str, tuple[float, float]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--raters", type=int, default=5)
    parser.add_argument("--type", default="xai", help="survey type")
    parser.add_argument("--systems", default="cst,ttnet")
    parser.add_argument("--database", default="", help="URL of an empty one (default: SQLite)")
    parser.add_argument("--step", choices=(*STEPS, "fill"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        sys.stdout.write(f"{run(options)}\n")
        return
    with TemporaryDirectory() as folder:
        url = options.database or f"sqlite:///{folder}/benchmark.sqlite3"
        environment = os.environ | {"DATABASE_URL": url, "ASSENT_DATA_DIR": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        child([*sys.argv[1:], "--step", "fill"], environment)
        found = {step: child([*sys.argv[1:], "--step", step], environment) for step in STEPS}
    told(found)


def child(
    arguments: list[str], environment: dict[str, str], *, script: str = __file__
) -> tuple[float, float]:
    """Run one step in a process of its own; return the CPU seconds and the megabytes it says it took.

    Modules are compiled before, as they are in an installation.
    """
    command = [sys.executable, script, *arguments]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True, cwd=ROOT)
    seconds, megabytes = done.stdout.split()[-2:]
    return float(seconds), float(megabytes)


def told(found: Numbers) -> None:
    seconds, megabytes = found["fetch"]
    for step, (cpu, peak) in found.items():
        sys.stdout.write(
            f"{step:<8} {cpu:6.2f} s CPU  {peak:6.0f} MB   x fetching {cpu / seconds:5.2f} {peak / megabytes:5.2f}\n"
        )


def run(options: argparse.Namespace) -> str:
    import django

    django.setup()
    STEP[options.step](options)
    return measured()


def measured() -> str:
    """Return the CPU seconds of this process since it began, and the most memory it has held, in MB."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    status = Path("/proc/self/status").read_text()
    peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return f"{used.ru_utime + used.ru_stime:.3f} {int(peak) / 1024:.1f}"


def start(options: argparse.Namespace) -> None:
    from surveys.models import Batch

    Batch.objects.get()


def fetch(options: argparse.Namespace) -> None:
    """Look at every row that the report is made of, and keep sums only."""
    from surveys.models import Rating, Response

    names = ("assignment__hit__hit_id", "assignment__status", "worker__worker_id", "item__subject", "answer")
    sum(1 for _ in Response.objects.order_by().values_list("pk", *names).iterator(AT_ONCE))
    sums: dict[tuple[int, str], float] = {}
    rows = Rating.objects.order_by().values_list("response", "output", "criterion", "score")
    for _, output, criterion, score in rows.iterator(AT_ONCE):
        sums[output, criterion] = sums.get((output, criterion), 0.0) + (score or 0.0)


def report(options: argparse.Namespace) -> None:
    from surveys.models import Batch
    from surveys.results.files.layouts import batch_report

    batch_report(Batch.objects.get())


def fill(options: argparse.Namespace) -> None:
    """Store a batch in which everybody has answered; every number is drawn from one seed."""
    from benchmarks.database import migrate

    migrate()
    chance = random.Random(7)
    batch, items = study(options)
    draw_answers(batch, list(items), options.raters, chance)


def study(options: argparse.Namespace):
    from datetime import timedelta

    from django.utils import timezone

    from surveys.models import Batch, Item, Output, Survey
    from surveys.protocols.registry import get_definition

    definition = get_definition(options.type)
    survey = Survey.objects.create(name="Benchmark", slug="benchmark", definition_key=definition.key)
    batch = Batch.objects.create(
        survey=survey, name="Benchmark", title="T", description="D", reward=1, status="open", seed=7,
        auto_approval_delay=timedelta(days=3), snapshot=definition.to_snapshot(), published_at=timezone.now(),
        items_per_hit=PER_HIT, assignments_per_hit=options.raters,
    )  # fmt: skip
    systems = options.systems.split(",")
    is_single = definition.is_single
    items = Item.objects.bulk_create(
        [
            Item(
                survey=survey, position=n, external_id=f"item-{n}", gold="yes" if definition.answer else "",
                subject=f"item-{n // len(systems) if is_single else n}", payload={"question": "Which?"},
                choices=[{"value": v, "label": v} for v in ("no", "yes")] if definition.answer else [],
            )
            for n in range(options.items)
        ],
        AT_ONCE,
    )  # fmt: skip
    shown = [
        [systems[n % len(systems)]] if is_single else [systems[0], "ground_truth"]
        for n in range(options.items)
    ]
    Output.objects.bulk_create(
        [
            Output(item=item, system=system, text=f"A sentence about item {n}, that says why.", answer="yes")
            for n, item in enumerate(items)
            for system in shown[n]
        ],
        AT_ONCE,
    )
    return batch, items


def draw_answers(batch, items: list, raters: int, chance: random.Random) -> None:
    from datetime import timedelta

    from django.utils import timezone

    from annotators.models import HIT, Assignment, HITType, Worker
    from surveys.models import Output, Questionnaire, QuestionnaireItem, Rating, Response

    now = timezone.now()
    kind = HITType.objects.create(
        endpoint="embedded", hit_type_id="T", title="T", description="D", reward=1,
        assignment_duration=timedelta(hours=1), auto_approval_delay=timedelta(days=3),
    )  # fmt: skip
    workers = Worker.objects.bulk_create(
        Worker(worker_id=f"AWORKER{n:06d}", source="embedded") for n in range(WORKERS)
    )
    blocks = [items[start : start + PER_HIT] for start in range(0, len(items), PER_HIT)]
    hits = HIT.objects.bulk_create(
        [
            HIT(hit_id=f"HIT{n:08d}", hit_type=kind, max_assignments=raters, created_at=now, expires_at=now)
            for n in range(len(blocks))
        ],
        AT_ONCE,
    )
    questionnaires = Questionnaire.objects.bulk_create(
        [
            Questionnaire(batch=batch, position=n, target_assignments=raters, hit=hit)
            for n, hit in enumerate(hits, 1)
        ],
        AT_ONCE,
    )
    QuestionnaireItem.objects.bulk_create(
        [
            QuestionnaireItem(questionnaire=q, item=item, position=n)
            for q, block in zip(questionnaires, blocks, strict=True)
            for n, item in enumerate(block, 1)
        ],
        AT_ONCE,
    )
    places = [(hit, worker) for hit in hits for worker in chance.sample(workers, raters)]
    assignments = Assignment.objects.bulk_create(
        [
            Assignment(
                hit=hit, worker=worker, assignment_id=f"ASSIGNMENT{n:08d}", status="Approved", channel="marketplace",
                accepted_at=now - timedelta(minutes=9), submitted_at=now + timedelta(seconds=n), approved_at=now,
                auto_approval_at=now + timedelta(days=3),
            )
            for n, (hit, worker) in enumerate(places)
        ],
        AT_ONCE,
    )  # fmt: skip
    outputs: dict[int, list[Output]] = {}
    for output in Output.objects.order_by("pk"):
        outputs.setdefault(output.item_id, []).append(output)
    of_hit = dict(zip((hit.pk for hit in hits), blocks, strict=True))
    responses = Response.objects.bulk_create(
        [
            Response(
                assignment=a, batch=batch, worker_id=a.worker_id, item=item, position=n, active_seconds=20.5,
                shown={"outputs": [o.pk for o in outputs[item.pk]], "choices": [], "place": n},
                answer="yes" if item.gold and chance.random() < 0.9 else "no" if item.gold else "",
                is_correct=None,
            )
            for a in assignments
            for n, item in enumerate(of_hit[a.hit_id], 1)
        ],
        AT_ONCE,
    )  # fmt: skip
    for response in responses:
        if response.item.gold:
            response.is_correct = response.answer == "yes"
    Response.objects.bulk_update(responses, ["is_correct"], AT_ONCE) if batch.definition.answer else None
    for start in range(0, len(responses), AT_ONCE):
        part = responses[start : start + AT_ONCE]
        Rating.objects.bulk_create(
            [r for response in part for r in ratings(batch, response, outputs, chance)], AT_ONCE
        )


def ratings(batch, response, outputs, chance: random.Random) -> Iterator:
    from surveys.models import Rating

    definition = batch.definition
    for output in outputs[response.item_id]:
        for criterion in definition.output_criteria:
            if criterion.is_scale:
                choice = chance.choice(criterion.choices)
                yield Rating(
                    response=response,
                    output=output,
                    criterion=criterion.key,
                    value=choice.value,
                    score=choice.score,
                )
            elif criterion.is_checklist:
                for value in criterion.values:
                    on = chance.random() < 0.1
                    yield Rating(
                        response=response, output=output, criterion=f"{criterion.key}.{value}",
                        value="selected" if on else "not_selected", score=float(on),
                    )  # fmt: skip
    if definition.preference:
        first = chance.randrange(2)
        for n, output in enumerate(outputs[response.item_id]):
            yield Rating(
                response=response, output=output, criterion=definition.preference.key,
                value="preferred" if n == first else "other", score=float(n == first),
            )  # fmt: skip


def prepare(options: argparse.Namespace) -> None:
    """Fill the database, and make the report once, so that every module is compiled before one is measured."""
    fill(options)
    report(options)


STEP = {"start": start, "fetch": fetch, "report": report, "fill": prepare}

if __name__ == "__main__":
    main()
