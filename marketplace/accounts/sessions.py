"""Who is signed in on the worker site, and who works in its frame."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import urlencode

from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.db import connection
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from marketplace.clock import MOMENTS, N_MOMENTS, Moments
from marketplace.models import Worker
from marketplace.refusals import WorkerRefusal
from statements import ByHand, Hole, Moment, Statement, Together

SESSION_KEY = "marketplace_worker"
# What a task posts comes from a frame of another site, with which a browser sends no session (SameSite=Lax). This
# cookie goes with it: it says who works here, opens nothing, and only the address that frames post to ever gets it.
# Signing out leaves it: a tab that is still open stays the tab of whoever worked in it.
FRAME_COOKIE = "marketplace_frame_worker"
FRAME_POSTS_TO = "/mturk/externalSubmit"
P = ParamSpec("P")
M = TypeVar("M", bound=Model)
Row = tuple[Any, ...]
WorkerView = Callable[Concatenate[HttpRequest, Worker, P], HttpResponse]
COLUMNS = ["id", "worker_id", "country", "subdivision"]
# What every page asks for, in one statement: the session, the account it is thought to be of, whether anybody blocks
# it, and the time. `KNOWN` says which account that is; what the session itself says counts.
VISIT = ByHand(
    f"""SELECT one.session_data, who.id, who.worker_id, who.country, who.subdivision,
    EXISTS (SELECT 1 FROM marketplace_block WHERE worker_id = %s),
    {MOMENTS}
FROM (SELECT 1) AS here
LEFT JOIN django_session AS one ON one.session_key = %s AND one.expire_date > %s
LEFT JOIN marketplace_worker AS who ON who.id = %s AND who.is_active AND one.session_key IS NOT NULL
""",  # noqa: S608 - of constants
    Hole("worker", Worker._meta.pk),
    Hole("session", Session._meta.pk),
    Moment("visited_at"),
    Hole("worker", Worker._meta.pk),
    width=1 + len(COLUMNS) + 1 + N_MOMENTS,
)
KNOWN: dict[str, int] = {}
MOST_KNOWN = 10_000


@dataclass(frozen=True, slots=True)
class Visit:
    """Who asks for a page: nobody, or a worker and whether anybody may block them; the time, where it was asked too."""

    worker: Worker | None
    may_be_blocked: bool = True
    moments: Moments | None = None


def current_worker(request: HttpRequest) -> Worker | None:
    """Return the signed-in worker, unless the account was closed meanwhile."""
    return visit(request).worker


def visit(request: HttpRequest) -> Visit:
    """Return who asks, read once for a request: one statement, two where the session is new to this process."""
    known: Visit | None = getattr(request, "marketplace_visit", None)
    if known is None:
        known = _visit(request.session)[0]
        request.marketplace_visit = known  # type: ignore[attr-defined]
    return known


def visit_with(request: HttpRequest, statement: Statement[M], **values: Any) -> tuple[Visit, list[M] | None]:
    """Return who asks and, read in one with that, the rows of a statement; its hole `worker` is for who that is.

    None where they have to be asked for by themselves: nobody is signed in, or who asks has been read before.
    """
    if known := getattr(request, "marketplace_visit", None):
        return known, None
    seen, found = _visit(request.session, statement, **values)
    request.marketplace_visit = seen  # type: ignore[attr-defined]
    return seen, found


def _visit(
    session: SessionBase, statement: Statement[M] | None = None, **values: Any
) -> tuple[Visit, list[M] | None]:
    """Return the visit, and the rows of a statement with it where that is of somebody."""
    if session.session_key is None or hasattr(session, "_session_cache"):
        return Visit(_worker_of(session)), None
    key, guessed = session.session_key, KNOWN.get(session.session_key)
    asked = statement if guessed else None
    data, seen, found = _read_visit(key, guessed, statement=asked, **values)
    _fill(session, data)
    pk = session.get(SESSION_KEY)
    if pk is None or session.session_key is None:
        return replace(seen, worker=None), None
    if pk != guessed:
        _know(key, pk)
        _, seen, found = _read_visit(key, pk, statement=statement, **values)
    return seen, (found if seen.worker else None)


def _read_visit(
    session_key: str, pk: int | None, *, statement: Statement[M] | None = None, **values: Any
) -> tuple[str | None, Visit, list[M] | None]:
    """Return a session's data, and the visit and the rows of a statement if it is of this account."""
    values |= {"worker": pk, "session": session_key, "visited_at": timezone.now()}
    row: Any
    row, found = _with(statement)(**values) if statement else (VISIT.row(**values), None)
    data, account, (is_blocked, *moments) = row[0], row[1 : 1 + len(COLUMNS)], row[1 + len(COLUMNS) :]
    worker = Worker.from_db(connection.alias, COLUMNS, account) if account[0] else None
    return data, Visit(worker, bool(is_blocked), Moments.of(moments)), found


@cache
def _with(statement: Statement[M]) -> Together[Row, M]:
    return Together(VISIT, statement)


def _fill(session: Any, data: str | None) -> None:
    """Give a session what was read for it, as its own `load` does: a key that is nobody's is none."""
    if data is None:
        session._session_key = None
    session._session_cache = {} if data is None else session.decode(data)


def _know(session_key: str, pk: int) -> None:
    if len(KNOWN) >= MOST_KNOWN:
        KNOWN.clear()
    KNOWN[session_key] = pk


def _worker_of(session: SessionBase) -> Worker | None:
    pk = session.get(SESSION_KEY)
    return Worker.objects.filter(pk=pk, is_active=True).first() if pk else None


def lock_account(worker: Worker) -> Worker:
    """Lock an account, so that it is not erased meanwhile, and return it.

    Raises WorkerRefusal where it was erased, or closed. To be called in a transaction; erasing waits for its end.
    """
    return checked(locked_account(worker.pk).first())


def locked_account(pk: Any) -> QuerySet[Worker]:
    """Return the one account of a key, to be read under a lock and `checked`."""
    return Worker.objects.select_for_update(of=("self",), no_key=True).filter(pk=pk)


def checked(locked: Worker | None) -> Worker:
    """Return a locked account. Raises WorkerRefusal where it was erased, or closed."""
    if locked is None or not locked.is_active:
        raise WorkerRefusal(gettext("This account is closed."))
    return locked


def sign_in(request: HttpRequest, *, worker: Worker) -> None:
    request.__dict__.pop("marketplace_visit", None)  # that of whoever they were
    request.session.cycle_key()
    request.session[SESSION_KEY] = worker.pk
    _know(str(request.session.session_key), worker.pk)


def remember_in_frames(response: HttpResponse, *, worker: Worker) -> None:
    """Let what this browser's frames submit say whose it is.

    SameSite=None needs Secure, which browsers take over HTTPS and, without it, from localhost
    (https://w3c.github.io/webappsec-secure-contexts/#is-origin-trustworthy).
    """
    response.set_signed_cookie(
        FRAME_COOKIE,
        worker.worker_id,
        salt=FRAME_COOKIE,
        path=FRAME_POSTS_TO,
        secure=True,
        httponly=True,
        samesite="None",
    )


def submitting_worker_id(request: HttpRequest) -> str:
    """Return who submits: whoever is signed in, else who works in this browser's frames; "" where nobody does."""
    worker = current_worker(request)
    return worker.worker_id if worker else str(request.get_signed_cookie(FRAME_COOKIE, "", salt=FRAME_COOKIE))


def worker_required(view: WorkerView[P]) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """Hand the signed-in worker to a view, or send the visitor to the sign-in page and back."""

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        worker = current_worker(request)
        return view(request, worker, *args, **kwargs) if worker else to_sign_in(request)

    return guarded


def to_sign_in(request: HttpRequest) -> HttpResponse:
    """Send a visitor to the sign-in page and back."""
    back = request.get_full_path() if request.method in {"GET", "HEAD"} else "/"
    return redirect(f"{reverse('sign-in')}?{urlencode({'next': back})}")
