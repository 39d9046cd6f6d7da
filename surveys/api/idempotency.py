"""What is asked twice under one `Idempotency-Key` is done once, and answered twice alike.

A key is its person's for a day. Only what was done is kept: a refusal has changed nothing and leaves the key free, to
be asked again with what was wrong put right. A process that dies in the middle leaves the key begun; after LEASE
somebody else may ask, and what each operation does by itself (compare-and-set, unique names) still holds.
"""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone

from surveys.api.problems import Refusal
from surveys.models import ApiRequest, ApiToken
from surveys.models.api import KEPT

LEASE = timedelta(minutes=10)
LONGEST = 255
HEADER, REPLAYED = "Idempotency-Key", "Idempotency-Replayed"
ANSWER = "_api_answer"  # of a request: what was answered to its key before


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


def finish(row: ApiRequest, response: HttpResponseBase) -> None:
    """Keep what was done; a refusal leaves the key free."""
    if isinstance(response, HttpResponse) and response.status_code < HTTPStatus.BAD_REQUEST:
        content = response.content.decode()
        ApiRequest.objects.filter(pk=row.pk).update(status=response.status_code, content=content)
    else:
        forget(row)


def forget(row: ApiRequest) -> None:
    ApiRequest.objects.filter(pk=row.pk, status=None).delete()


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
    old = ApiRequest.objects.filter(pk=row.pk, status=None, begun_at=row.begun_at)
    if row.begun_at > now - LEASE or not old.update(begun_at=now):
        detail = "The same request is being answered. Ask again in a moment."
        raise Refusal(HTTPStatus.CONFLICT, "key-in-use", detail, headers={"Retry-After": "2"})
    return row
