"""A new study: what it may be called, and whose it is."""

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from surveys.models import Survey
from surveys.studies.protocols import new_survey
from surveys.teams import Person

TAKEN = "This name is taken. Take another one, or choose the survey above if it is there."


class NameTaken(ValueError):
    """There is a study of this short name."""


def slug_of(name: str) -> str:
    return slugify(name)[:50]


def name_problem(slug: str) -> str:
    """Return why a new study can't have this short name; "" if it can."""
    if not slug:
        return "Give the new survey a name."
    return TAKEN if Survey.objects.filter(slug=slug).exists() else ""


def save_new(survey: Survey, *, founder: Person | None) -> None:
    """Save a new study: its founder's, or shared. Raises NameTaken."""
    survey.is_shared = founder is None
    try:
        with transaction.atomic():
            survey.save()
            if founder and founder.pk:
                survey.team.add(founder.pk)
    except IntegrityError:
        survey.pk = None
        raise NameTaken(f'A survey with the short name "{survey.slug}" exists already.') from None


def found(person: Person, *, name: str, key: str) -> Survey:
    """Make a study without items. KeyError if they see no type of that key; NameTaken."""
    survey = new_survey(person, key=key, name=name, slug=slug_of(name))
    if problem := name_problem(survey.slug):
        raise NameTaken(problem)
    save_new(survey, founder=person)
    return survey
