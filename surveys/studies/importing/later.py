"""Large imports, written by the worker while whoever confirmed them does something else.

Each is written once: its end is marked in the transaction that writes its items. A worker that dies leaves nothing, and
its turn is over after LEASE.
"""

from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from surveys import notes
from surveys.models import Importing, Survey
from surveys.studies.importing import uploads
from surveys.studies.importing.pictures import PictureError
from surveys.studies.importing.plan import Plan
from surveys.studies.importing.staging import Staged, StagedGone, discard, load
from surveys.studies.importing.writing import ImportRefused, write_items
from surveys.teams import Person

LARGE_FILE = 512 * 1024  # bytes: about a thousand items, which take a second
LARGE_PICTURES = 50 * 1024 * 1024
LEASE = timedelta(minutes=10)
READ = 50  # percent, once the file and its pictures are checked
GONE = "The uploaded file is not here any more. Upload it again."


def is_large(staged: Staged) -> bool:
    """Tell whether nobody should wait for an import in their browser."""
    archive = staged.folder / "pictures.zip"
    pictures = archive.stat().st_size if archive.exists() else _size_of(staged)
    return (staged.folder / "items").stat().st_size > LARGE_FILE or pictures > LARGE_PICTURES


def _size_of(staged: Staged) -> int:
    return sum(path.stat().st_size for path in staged.pictures_folder.glob("*"))


def ask(staged: Staged, *, by: Person, accept_warnings: bool) -> Importing:
    """Have an upload imported, once however often it is asked."""
    asked, _ = Importing.objects.get_or_create(
        folder=staged.folder.name,
        defaults={
            "filename": staged.wish.filename[:255],
            "asked_by": User.objects.get(pk=by.pk or 0),
            "accepts_warnings": accept_warnings,
        },
    )
    return asked


def run(import_pk: int) -> bool:
    """Write an import that waits. False where there is nothing to write, or another worker is at it."""
    now = timezone.now()
    free = Importing.objects.filter(
        Q(leased_until=None) | Q(leased_until__lt=now), pk=import_pk, ended_at=None
    )
    if not free.update(leased_until=now + LEASE, percent=1):
        return False
    asked = Importing.objects.select_related("asked_by").get(pk=import_pk)
    try:
        staged = load(asked.folder)
        _import(asked, staged)
        discard(staged)
    except StagedGone:
        _end(asked, problem=GONE)
    except (ImportRefused, PictureError) as error:
        _end(asked, problem=str(error))
    return True


def _import(asked: Importing, staged: Staged) -> None:
    survey = uploads.survey_of(staged, person=asked.asked_by)
    with staged.pictures() as pictures:
        plan = uploads.checked(staged, survey=survey, pictures=pictures)
        Importing.objects.filter(pk=asked.pk).update(percent=READ)
        with transaction.atomic():
            still_open = Importing.objects.select_for_update(no_key=True).filter(pk=asked.pk, ended_at=None)
            if not still_open.exists():
                return
            write_items(
                plan,
                survey=survey,
                pictures=pictures,
                accept_warnings=asked.accepts_warnings,
                founder=asked.asked_by,
            )
            _end(asked, plan=plan, survey=survey)


def _end(
    asked: Importing, *, plan: Plan | None = None, survey: Survey | None = None, problem: str = ""
) -> None:
    values = {"survey": survey, "n_items": len(plan.items) if plan else 0, "problem": problem, "percent": 100}
    still_open = Importing.objects.filter(pk=asked.pk, ended_at=None)
    if not still_open.update(**values, ended_at=timezone.now()):
        return
    n = f"{values['n_items']:,}"
    text = f"Imported {n} items into {survey}." if survey else f"{asked} was not imported. {problem}"
    url = reverse("study", args=[survey.slug]) if survey else reverse("import_job", args=[asked.pk])
    notes.tell(asked.asked_by_id, about=about(asked), text=text, url=url)


def about(asked: Importing) -> str:
    """Return what the note about an import is about."""
    return f"import:{asked.pk}"
