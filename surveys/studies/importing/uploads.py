"""An upload on its way in, for a page or the API: understood, fetched, checked and written."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from django.shortcuts import get_object_or_404

from surveys.models import Survey
from surveys.studies.importing.fetching import fetch_pictures
from surveys.studies.importing.pictures import PictureError, Pictures, check_pictures
from surveys.studies.importing.plan import Layout, Plan, Problem, Severity
from surveys.studies.importing.reading import read_head, read_items
from surveys.studies.importing.roles import is_understood as are_columns_understood
from surveys.studies.importing.roles import remembered
from surveys.studies.importing.staging import Staged, claimed
from surveys.studies.importing.writing import taken_ids, told_otherwise, write_items
from surveys.studies.protocols import new_survey
from surveys.teams import Person

FETCH_SECONDS = 60  # a script waits for it


@dataclass(frozen=True, slots=True)
class Written:
    """What was imported, and into which study."""

    plan: Plan
    survey: Survey


def is_understood(staged: Staged, *, person: Person) -> bool:
    """Tell whether nobody need be asked about the columns: they have our names, and nobody has chosen otherwise."""
    wish = staged.wish
    if wish.layout == Layout.BATCH:
        return True
    survey = survey_of(staged, person=person)
    table = read_head(staged.path, layout=Layout(wish.layout))
    is_known = are_columns_understood(table, definition=survey.definition)
    return is_known and not remembered(survey, header=table.header)


def fetch(
    staged: Staged,
    *,
    person: Person,
    seconds: float = FETCH_SECONDS,
    tell: Callable[[float], object] = lambda share: None,
) -> None:
    """Bring the pictures of an address here, where one is given; `tell` takes the share that is done."""
    prefix = staged.wish.address
    plan = read(staged, survey=survey_of(staged, person=person)) if prefix else Plan()
    if prefix and not plan.errors:
        kinds = plan.kinds
        fetch_pictures(
            kinds.keys(),
            prefix=prefix,
            into=staged.pictures_folder,
            seconds=seconds,
            kinds=kinds,
            tell=tell,
        )


def survey_of(staged: Staged, *, person: Person) -> Survey:
    """Return the survey to import into, not yet saved if it is new."""
    wish = staged.wish
    if wish.survey_id:
        return get_object_or_404(Survey, pk=wish.survey_id)
    return new_survey(person, key=wish.definition_key, name=wish.name, slug=wish.slug)


def read(staged: Staged, *, survey: Survey) -> Plan:
    wish = staged.wish
    plan = read_items(
        staged.items(),
        definition=survey.definition,
        system=wish.system,
        layout=Layout(wish.layout),
        taken=taken_ids(survey),
        columns=wish.columns,
        survey=survey,
    )
    return told_otherwise(plan, survey=survey)


def checked(staged: Staged, *, survey: Survey, pictures: Pictures | None) -> Plan:
    plan = read(staged, survey=survey)
    return check_pictures(plan, pictures=pictures, allow_missing=staged.wish.allow_missing)


def unopened(staged: Staged, *, survey: Survey, error: PictureError) -> Plan:
    """Return what the file would make whose pictures can't be opened."""
    problem = Problem(Severity.ERROR, str(error), column="pictures")
    return read(staged, survey=survey).with_problems([problem])


def plan_of(staged: Staged, *, person: Person) -> Plan:
    """Return what the file would make, and all that is wrong with it. Nothing is written."""
    survey = survey_of(staged, person=person)
    try:
        with staged.pictures() as pictures:
            return checked(staged, survey=survey, pictures=pictures)
    except PictureError as error:
        return unopened(staged, survey=survey, error=error)


def write(
    staged: Staged,
    *,
    by: Person,
    accept_warnings: bool = False,
    in_transaction: Callable[[Written], None] = lambda done: None,
) -> Written:
    """Write what is staged, once, and in the same transaction what is to be written with it.

    Raises StagedGone, ImportRefused and PictureError, with nothing written.
    """
    with claimed(staged) as ours, ours.pictures() as pictures:
        survey = survey_of(ours, person=by)
        done = Written(checked(ours, survey=survey, pictures=pictures), survey)
        write_items(
            done.plan,
            survey=survey,
            pictures=pictures,
            accept_warnings=accept_warnings,
            founder=by,
            in_transaction=partial(in_transaction, done),
        )
    return done
