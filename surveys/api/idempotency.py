"""What is asked twice under one `Idempotency-Key` is done once, and answered twice alike.

A key is its person's for a day. Only what was done is kept: a refusal has changed nothing and leaves the key free, to
be asked again with what was wrong put right. What is done and its answer are written in one transaction, so a process
that dies leaves both or neither, and a key that is begun: after LEASE it goes to whoever asks then, and what the one
before has not committed by then it can't any more.
"""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus
from typing import TypeGuard

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from ninja import Schema

from annotators.failpoints import reach
from surveys.api.problems import Refusal
from surveys.models import ApiRequest, ApiToken
from surveys.models.api import KEPT

LEASE = timedelta(minutes=10)
LONGEST = 255
HEADER, REPLAYED = "Idempotency-Key", "Idempotency-Replayed"
ANSWER = "_api_answer"  # of a request: what was answered to its key before
BEGUN = "_api_begun"  # of a request: the row of its key
Ask = Callable[[], HttpResponseBase]


class Answered(Exception):
    """What is asked was done before, and this was the answer."""

    def __init__(self, response: HttpResponse) -> None:
        super().__init__(response.status_code)
        self.response = response


def replay(request: HttpRequest, *, check: Callable[[HttpRequest], None]) -> None:
    """Give the answer a key has had, to somebody who may ask for it still: rights and teams change within a day."""
    response: HttpResponse | None = getattr(request, ANSWER, None)
    if response is not None:
        check(request)
        raise Answered(response)


def begin(request: HttpRequest, token: ApiToken, *, key: str) -> ApiRequest | HttpResponse:
    """Return a row to be answered by whoever has it, or the answer there is. Refusal where the key is misused."""
    if not key.isprintable() or not 0 < len(key) <= LONGEST:
        detail = f"{HEADER} has 1 to {LONGEST} printable characters."
        raise Refusal(HTTPStatus.BAD_REQUEST, "malformed", detail)
    now, fingerprint = timezone.now(), fingerprint_of(request)
    ApiRequest.objects.filter(user=token.user_id, begun_at__lt=now - KEPT).delete()
    row, is_new = ApiRequest.objects.get_or_create(
        user_id=token.user_id, key=key, defaults={"fingerprint": fingerprint, "begun_at": now}
    )
    if is_new:
        return row
    if row.fingerprint != fingerprint:
        detail = "This key was used for another request. Take a new key for each thing you ask."
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "key-reused", detail)
    return _kept(row) if row.status else _taken_over(row)


def once(row: ApiRequest, ask: Ask) -> HttpResponseBase:
    """Do what is asked and keep its answer, both or neither. No network is asked meanwhile."""
    with transaction.atomic():
        response = ask()
        if is_done(response):
            _keep(row, status=response.status_code, content=response.content.decode())
        else:
            transaction.set_rollback(True)
    return response


def apart(row: ApiRequest, ask: Ask) -> HttpResponseBase:
    """Do what asks a network on its way, outside of transactions, and keep the answer afterwards.

    It is done once by itself, or has kept its answer with what it wrote (`keep`).
    """
    response = ask()
    if is_done(response):
        _open(row).update(status=response.status_code, content=response.content.decode())
    return response


def keep(request: HttpRequest, status: int, out: Schema) -> None:
    """Keep what is going to be answered, in the transaction that writes what is done."""
    row: ApiRequest | None = getattr(request, BEGUN, None)
    if row is not None:
        _keep(row, status=status, content=json.dumps(out.model_dump(mode="json")))


def is_done(response: HttpResponseBase) -> TypeGuard[HttpResponse]:
    return isinstance(response, HttpResponse) and response.status_code < HTTPStatus.BAD_REQUEST


def forget(row: ApiRequest) -> None:
    """Leave the key free, where nothing was kept for it."""
    _open(row).delete()


def fingerprint_of(request: HttpRequest) -> str:
    """Return the SHA-256 of what is asked. Of a form its fields and files: each sending has a boundary of its own."""
    digest = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
    if request.content_type != "multipart/form-data":
        digest.update(request.body)
        return digest.hexdigest()
    digest.update(json.dumps(sorted(request.POST.lists())).encode())
    for name, files in sorted(request.FILES.lists()):
        for file in files:
            digest.update(json.dumps([name, file.name]).encode())
            for chunk in file.chunks():
                digest.update(chunk)
            file.seek(0)
    return digest.hexdigest()


def _kept(row: ApiRequest) -> HttpResponse:
    return HttpResponse(
        row.content, status=row.status, content_type="application/json", headers={REPLAYED: "true"}
    )


def _taken_over(row: ApiRequest) -> ApiRequest:
    """Return the row if whoever began it is long gone."""
    now = timezone.now()
    if row.begun_at > now - LEASE or not _open(row).update(begun_at=now):
        raise _in_use()
    row.begun_at = now
    return row


def _keep(row: ApiRequest, *, status: int, content: str) -> None:
    """Raise Refusal where the key has gone to somebody else meanwhile; what was done is to be undone with it."""
    if not _open(row).update(status=status, content=content):
        raise _in_use()
    reach("key.keeping")


def _open(row: ApiRequest) -> QuerySet[ApiRequest]:
    """Return the row as long as it is not answered, and whoever began it has it still."""
    return ApiRequest.objects.filter(pk=row.pk, status=None, begun_at=row.begun_at)


def _in_use() -> Refusal:
    detail = "The same request is being answered. Ask again in a moment."
    return Refusal(HTTPStatus.CONFLICT, "key-in-use", detail, headers={"Retry-After": "2"})
