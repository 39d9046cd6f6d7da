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

NEXT = " \\\n  "  # a command goes on in the next line
CURL = f'curl -H "Authorization: Bearer $ASSENT_TOKEN"{NEXT}'
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
    """Return the steps from items to results, with this study's name and its newest batch's number in them."""
    newest = survey.batches.order_by("-pk").first()
    slug, batch = survey.slug, newest.pk if newest else "BATCH"
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
            "Publish it at that price, once",
            f"""{CURL}{JSON}-H "Idempotency-Key: publish-{batch}"{NEXT}"""
            f"""-d '{{"total": {{"amount": "{_total(newest)}"}}}}'{NEXT}"{one}/publish\"""",
            "batch = draft.publish()" if newest is None else f"batch = client.batch({batch}).publish()",
        ),
        ScriptStep("See how far it is", f'{CURL}"{one}/progress"', "batch.wait(show=print)"),
        ScriptStep(
            "Take the results",
            f'{CURL}"{one}/report"\n{CURL}-o tidy.csv "{one}/files/tidy"',
            'report = batch.report()\nbatch.save("tidy", "tidy.csv")',
        ),
    ]


def _total(batch: Batch | None) -> str:
    """Return the price of a draft; of no batch yet, one as an example."""
    return f"{pricing.quote(batch).total:.2f}" if batch else "9.60"
