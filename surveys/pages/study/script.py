"""A study's steps as a script takes them: each as a command, and as Python."""

from dataclasses import dataclass

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from surveys.models import Batch, Survey
from surveys.pages.access import researcher, study_for
from surveys.publishing import pricing
from surveys.publishing.quota import has_slots

NEXT = " \\\n  "  # a command goes on in the next line
CURL = f'curl -H "Authorization: Bearer $ASSENT_TOKEN"{NEXT}'
IDS = '\'import json, sys; [print(one["id"]) for one in json.load(sys.stdin)["results"]]\''
JSON = f'-H "Content-Type: application/json"{NEXT}'


@dataclass(frozen=True, slots=True)
class ScriptStep:
    """One step, said twice."""

    title: str
    curl: str
    python: str


@require_safe
@researcher("surveys.view_batch")
def study_script(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how a script does what the pages of a study do."""
    survey = study_for(request, slug)
    context = {
        **admin.site.each_context(request),
        "title": f"{survey} from a script",
        "survey": survey,
        "address": settings.APP_URL,
        "steps": steps_of(survey),
    }
    return render(request, "study/script.html", context)


def steps_of(survey: Survey) -> list[ScriptStep]:
    """Return the steps from items to results, with this study's name and the number of its newest batch of people."""
    newest = survey.batches.order_by("is_simulated", "-pk").first()
    slug, batch = survey.slug, newest.pk if newest else "BATCH"
    found = f"client.batch({batch})" if newest else "draft"
    study, one = f"$ASSENT_URL/api/v1/studies/{slug}", f"$ASSENT_URL/api/v1/batches/{batch}"
    return [
        ScriptStep(
            "Look at the study",
            f'{CURL}"{study}"',
            "import os\nfrom assent_client import Client\n\n"
            'client = Client(os.environ["ASSENT_URL"], os.environ["ASSENT_TOKEN"])\n'
            f'study = client.study("{slug}")',
        ),
        ScriptStep(
            "Look at a file before it is imported",
            f'{CURL}-F items=@items.csv{NEXT}"{study}/items?dry_run=true"',
            'looked = study.import_items("items.csv", dry_run=True)\nprint(looked.problems)',
        ),
        ScriptStep(
            "Import it, with its pictures",
            f'{CURL}-F items=@items.csv -F archive=@pictures.zip{NEXT}"{study}/items"',
            'study.import_items("items.csv", pictures="pictures.zip")',
        ),
        ScriptStep(
            "Draft a batch; the answer has its price",
            f"""{CURL}{JSON}-d '{{"reward": {{"amount": "0.50"}}}}'{NEXT}"{study}/batches\"""",
            'draft = study.draft(reward="0.50")\nprint(draft.price, draft.problems)',
        ),
        ScriptStep(
            "Or a pilot first: only so many of the items",
            f"""{CURL}{JSON}-d '{{"pilot_items": 20, "reward": {{"amount": "0.50"}}}}'{NEXT}"{study}/batches\"""",
            'pilot = study.draft(pilot_items=20, reward="0.50")',
        ),
        ScriptStep(
            "Try it with simulated people: they answer a copy, and nobody is paid",
            f"""{CURL}{JSON}-d '{{"n_people": 12}}'{NEXT}"{one}/simulate\"""",
            f"tried = {found}.simulate(12)",
        ),
        ScriptStep(
            "Publish it at that price, once",
            f"""{CURL}{JSON}-H "Idempotency-Key: publish-{batch}"{NEXT}"""
            f"""-d '{{"total": {{"amount": "{_total(newest)}"}}}}'{NEXT}"{one}/publish\"""",
            f"batch = {found}.publish()",
        ),
        *_of_links(one, is_shown=newest is None or has_slots(newest)),
        ScriptStep("See how far it is", f'{CURL}"{one}/progress"', "batch.wait(show=print)"),
        ScriptStep(
            "Decide about work that waits",
            f'{CURL}"{one}/assignments?waiting=held"{NEXT}| python3 -c {IDS} |{NEXT}'
            f"""while read work; do {CURL}{JSON}-d '{{"action": "approve"}}'{NEXT}"""
            f"""\"{one}/assignments/$work/decision"; done""",
            "for work in batch.waiting():\n    print(work.worker, work.reason)\n    work.approve()",
        ),
        ScriptStep(
            "Draft the rest of a pilot, at a wage for the minutes it took",
            f"""{CURL}{JSON}-d '{{"wage": {{"amount": "12.00"}}}}'{NEXT}"{one}/rest\"""",
            'rest = batch.plan_rest(wage="12.00")',
        ),
        ScriptStep(
            "Take the results",
            f'{CURL}"{one}/report"\n{CURL}-o tidy.csv "{one}/files/tidy"',
            'report = batch.report()\nbatch.save("tidy", "tidy.csv")',
        ),
    ]


def _of_links(one: str, *, is_shown: bool) -> list[ScriptStep]:
    """Return the step that a batch has whose people come by link."""
    people = """'{"people": [{"name": "Ann"}, {"name": "Ben"}]}'"""
    step = ScriptStep(
        "Invite people; the list has their links",
        f'{CURL}{JSON}-d {people}{NEXT}"{one}/invitations"\n{CURL}"{one}/invitations"',
        'for person in batch.invite(["Ann", "Ben"]):\n    print(person.name, person.link)',
    )
    return [step] if is_shown else []


def _total(batch: Batch | None) -> str:
    """Return the price of a draft; of no batch yet, one as an example."""
    return f"{pricing.quote(batch).total:.2f}" if batch else "9.60"
