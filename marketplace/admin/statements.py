"""A requester's statement as a page and as two CSVs."""

import csv
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, timedelta
from functools import wraps

from django import forms
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.core.validators import MaxValueValidator, MinValueValidator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render

from marketplace import clock
from marketplace.admin.base import own_requesters
from marketplace.batches.results import FORMULA
from marketplace.models import Requester
from marketplace.money import ledger, statements
from marketplace.money.statements import Statement, Sums

SHOWN_DAYS = 30
MOVED = ("deposited", "held", "released", "rewards", "bonuses", "fees")
DAY_COLUMNS = ("day", *MOVED, "charged", "available", "on_hold", "total")
ENTRY_COLUMNS = (
    "time", "kind", "dollars", "source", "target", "hit_id", "assignment_id", "worker_id", "available", "on_hold",
)  # fmt: skip
IN_OUR_TIME = [MinValueValidator(date(2000, 1, 1)), MaxValueValidator(date(2199, 12, 31))]
View = Callable[[HttpRequest, Requester, date, date], HttpResponseBase]


def _picker() -> forms.DateInput:
    return forms.DateInput(attrs={"type": "date"})


class PeriodForm(forms.Form):
    """First and last day; without them the last thirty."""

    since = forms.DateField(required=False, label="From", validators=IN_OUR_TIME, widget=_picker())
    until = forms.DateField(required=False, label="To", validators=IN_OUR_TIME, widget=_picker())

    def period(self) -> tuple[date, date]:
        today = clock.now().astimezone(UTC).date()
        given = self.cleaned_data if self.is_valid() else {}
        until = given.get("until") or today
        return min(given.get("since") or until - timedelta(days=SHOWN_DAYS - 1), until), until


def _of_own_requester(view: View) -> Callable[[HttpRequest, int], HttpResponseBase]:
    @wraps(view)
    def found(request: HttpRequest, pk: int) -> HttpResponseBase:
        if not request.user.has_perm("marketplace.view_entry"):
            raise PermissionDenied
        requester = get_object_or_404(own_requesters(request), pk=pk)
        return view(request, requester, *PeriodForm(request.GET).period())

    return found


@_of_own_requester
def statement(request: HttpRequest, requester: Requester, since: date, until: date) -> HttpResponse:
    period = statements.statement(requester, since=since, until=until)
    initial = {"since": since.isoformat(), "until": until.isoformat()}
    context = {
        **admin.site.each_context(request),
        "title": f"Statement of {requester.name}",
        "requester": requester,
        "form": PeriodForm(initial=initial, label_suffix=""),
        "statement": period,
        "columns": MOVED,
        "days": [(day, _amounts(sums), sums) for day, sums in period.days.items()],
        "sums": _amounts(period.total),
    }
    return render(request, "marketplace/admin/statement.html", context)


def _amounts(sums: Sums) -> list[int]:
    return [sums.cents[name] for name in MOVED]


@_of_own_requester
def days_csv(request: HttpRequest, requester: Requester, since: date, until: date) -> HttpResponseBase:
    period = statements.statement(requester, since=since, until=until)
    return _csv([DAY_COLUMNS, *_day_rows(period)], name=f"statement-{requester.pk}-{since}-{until}.csv")


def _day_rows(period: Statement) -> Iterator[list[str]]:
    opening = Sums(standing=period.opening)
    for name, sums in (("opening", opening), *period.days.items(), ("closing", period.total)):
        standing = sums.standing
        cents = [*_amounts(sums), sums.charged, standing.available, standing.on_hold, standing.total]
        yield [str(name), *map(ledger.dollars, cents)]


@_of_own_requester
def entries_csv(request: HttpRequest, requester: Requester, since: date, until: date) -> HttpResponseBase:
    rows = _entry_rows(requester, since=since, until=until)
    return _csv([ENTRY_COLUMNS], rows, name=f"entries-{requester.pk}-{since}-{until}.csv")


def _entry_rows(requester: Requester, *, since: date, until: date) -> Iterator[list[str]]:
    for entry, kind, standing in statements.running(requester, since=since, until=until):
        assignment = entry.assignment
        yield [
            entry.created_at.astimezone(UTC).isoformat(timespec="seconds"),
            kind,
            ledger.dollars(entry.cents),
            entry.source,
            entry.target,
            entry.hit.hit_id if entry.hit else "",
            assignment.assignment_id if assignment else "",
            assignment.worker.worker_id if assignment else "",
            ledger.dollars(standing.available),
            ledger.dollars(standing.on_hold),
        ]


class _Line:
    """What csv.writer writes to: hands the line back instead of keeping it."""

    def write(self, line: str) -> str:
        return line


def _csv(*parts: Iterable[Iterable[str]], name: str) -> HttpResponseBase:
    writer = csv.writer(_Line())
    lines = (writer.writerow([_safe(cell) for cell in row]) for part in parts for row in part)
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _safe(cell: str) -> str:
    return f"'{cell}" if cell.startswith(FORMULA) else cell
