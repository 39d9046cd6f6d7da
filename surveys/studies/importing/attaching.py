"""Pictures for items that were imported without: from a ZIP, or from an address, which takes the worker a while."""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from surveys.models import Survey
from surveys.studies.importing.fetching import fetch_pictures
from surveys.studies.importing.pictures import PictureError
from surveys.studies.importing.staging import Staged, StagedGone, Wish, discard, load, stage
from surveys.studies.importing.writing import ImportRefused, attach_pictures, waiting_kinds

FETCHED = 90  # percent, once all pictures are here


@dataclass(frozen=True, slots=True)
class Brought:
    """What became of pictures that were to be brought: with a `problem`, none was attached."""

    n_attached: int = 0
    n_missing: int = 0
    problem: str = ""


def ask(survey: Survey, *, address: str) -> Staged:
    """Keep what a survey's pictures are to be fetched from, until a worker does it."""
    wish = Wish(
        filename=survey.name,
        survey_id=survey.pk,
        name=survey.name,
        slug=survey.slug,
        definition_key=survey.definition_key,
        system="",
        layout="",
        allow_missing=True,
        address=address,
    )
    return stage(wish, items=b"", archive=None)


def bring(name: str, *, tell: Callable[[int], object]) -> Brought:
    """Fetch the pictures that a folder asks for and attach them; done again, it attaches what is still missing."""
    try:
        staged = load(name)
        survey = Survey.objects.get(pk=staged.wish.survey_id or 0)
    except (StagedGone, Survey.DoesNotExist):
        return Brought(problem="The study is not there any more, or this was asked for more than a day ago.")
    try:
        brought = _fetched(survey, address=staged.wish.address, tell=tell)
    except (PictureError, ImportRefused) as error:
        brought = Brought(problem=str(error))
    discard(staged)
    return brought


def _fetched(survey: Survey, *, address: str, tell: Callable[[int], object]) -> Brought:
    kinds = waiting_kinds(survey)
    with tempfile.TemporaryDirectory() as folder:
        pictures = fetch_pictures(
            kinds.keys(),
            prefix=address,
            into=Path(folder),
            kinds=kinds,
            tell=lambda share: tell(int(FETCHED * share)),
        )
        attached = attach_pictures(survey, pictures=pictures)
    return Brought(attached.n_attached, len(attached.missing))
