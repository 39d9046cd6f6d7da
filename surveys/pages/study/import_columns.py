"""What the page about a file's columns shows, and what was chosen on it; and a file to fill in."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from surveys.models import Survey
from surveys.pages.access import researcher
from surveys.protocols.definition import Definition
from surveys.studies.importing.plan import Layout
from surveys.studies.importing.reading import read_head
from surveys.studies.importing.roles import (
    Found,
    Role,
    found_columns,
    guessed,
    problems_of,
    remembered,
    roles_of,
    template_csv,
)
from surveys.studies.importing.staging import Staged
from surveys.studies.protocols import offered

GUESSED_FROM = 200  # rows whose values are looked at


@dataclass(frozen=True, slots=True)
class ColumnsPage:
    """The file's columns with their first values, the roles there are, and {role: column} as chosen or guessed.

    `is_remembered`: it begins with what was chosen for the last file of this survey with the same columns.
    """

    columns: list[Found]
    roles: tuple[Role, ...]
    chosen: dict[str, str]
    problems: list[str]
    is_remembered: bool

    @classmethod
    def of(cls, staged: Staged, *, survey: Survey, data: Mapping[str, str]) -> Self:
        """Return the page for a file: what was posted, else chosen before, else what names and values suggest."""
        table, definition = read_head(staged.path, layout=Layout(staged.wish.layout)), survey.definition
        known = remembered(survey, header=table.header)
        problems: list[str] = []
        if data:
            posted = {name: data.get(f"column-{n}", "") for n, name in enumerate(table.header)}
            chosen = _chosen(posted, known=[role.name for role in roles_of(definition)])
            problems = list(_problems(posted, header=table.header, definition=definition))
        else:
            guess = guessed(table.header, definition=definition, rows=table.rows[:GUESSED_FROM])
            chosen = staged.wish.columns or known or guess
        return cls(found_columns(table, roles=chosen), roles_of(definition), chosen, problems, bool(known))

    @property
    def missing(self) -> list[str]:
        """The roles that are needed and have no column so far."""
        return [role.label for role in self.roles if role.is_required and not self.chosen.get(role.name)]


def _chosen(posted: Mapping[str, str], *, known: Collection[str]) -> dict[str, str]:
    """Return {role: column}; a column of a role's name that isn't used leaves that role empty."""
    unused = {name: "" for name, role in posted.items() if not role and name in known}
    return {**unused, **{role: name for name, role in posted.items() if role}}


def _problems(posted: Mapping[str, str], *, header: tuple[str, ...], definition: Definition) -> Iterator[str]:
    labels = {role.name: role.label for role in roles_of(definition)}
    given = [role for role in posted.values() if role]
    for role in dict.fromkeys(role for role in given if given.count(role) > 1):
        names = [name for name, chosen in posted.items() if chosen == role]
        yield f"“{labels.get(role, role)}” was chosen for several columns: {', '.join(names)}."
    for problem in problems_of(_chosen(posted, known=labels), header=header, definition=definition):
        yield problem.message


@researcher("surveys.view_survey")
@require_safe
def import_template(request: HttpRequest, key: str) -> HttpResponse:
    """Send a CSV to fill in for a survey type, with an example; a byte order mark tells Excel that it is UTF-8."""
    definition = offered(request.user).get(key)
    if definition is None:
        raise Http404("No such survey type.")
    return HttpResponse(
        template_csv(definition).encode("utf-8-sig"),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{key}-items.csv"'},
    )
