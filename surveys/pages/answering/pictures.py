"""Pictures, audio and video under opaque names, for anyone who has the name: annotators come without a login."""

import re
from typing import IO

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from surveys.models import Picture, ProtocolPicture

HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    # An SVG opened on its own is a document: it gets no scripts, no origin and nothing to load.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "X-Content-Type-Options": "nosniff",
}


RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


@require_safe
def picture(request: HttpRequest, code: str) -> HttpResponseBase:
    """Serve one file for ever: a code never gets another. 404 if it is unknown or has not arrived.

    A part of audio or video on request (RFC 9110, 14.2), as Safari plays nothing without.
    """
    found = get_object_or_404(Picture.objects.exclude(file=""), code=code)
    file = _opened(found)
    wanted = RANGE.fullmatch(request.headers.get("Range", "")) if found.kind != "picture" else None
    response = _part(file, wanted, size=found.file.size) if wanted and any(wanted.groups()) else None
    response = _inline(response or FileResponse(file), content_type=found.content_type)
    if found.kind != "picture":
        response["Accept-Ranges"] = "bytes"
    return response


@require_safe
def picture_copy(request: HttpRequest, code: str, width: int) -> HttpResponseBase:
    """Serve a smaller copy, for ever; where its file is gone, the picture. 404 if it never had a copy of this width."""
    found = get_object_or_404(Picture.objects.exclude(file=""), code=code)
    if width not in (found.widths or []):
        raise Http404("There is no copy of this width.")
    try:
        file = found.file.storage.open(found.copy_name(width))
    except OSError:
        return _inline(FileResponse(_opened(found)), content_type=found.content_type)
    return _inline(FileResponse(file), content_type="image/webp")


def _opened(found: Picture) -> IO[bytes]:
    try:
        return found.file.open("rb")
    except OSError:
        raise Http404("The picture's file is gone.") from None


def _inline(response: HttpResponseBase, *, content_type: str) -> HttpResponseBase:
    for name, value in {**HEADERS, "Content-Type": content_type, "Content-Disposition": "inline"}.items():
        response[name] = value
    return response


@require_safe
def type_picture(request: HttpRequest, code: str) -> HttpResponse:
    """Serve a picture of a survey type's instructions, for ever: its code is made of its bytes. 404 without one."""
    found = ProtocolPicture.objects.filter(code=code).first()
    if found is None:
        raise Http404("No such picture.")
    headers = {**HEADERS, "Content-Disposition": "inline"}
    return HttpResponse(bytes(found.data), content_type=found.content_type, headers=headers)


def _part(file: IO[bytes], wanted: re.Match[str], *, size: int) -> HttpResponseBase | None:
    """Return the bytes first-last, first- or the last ones (-n); 416 beyond the end, None for what is no range."""
    first, last = (int(number) if number else None for number in wanted.groups())
    if first is None:
        first, last = max(size - (last or 0), 0), size - 1
    elif last is not None and last < first:
        return None
    if first >= size:
        file.close()
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
    last = size - 1 if last is None else min(last, size - 1)
    response = FileResponse(Part(file, first=first, n_bytes=last - first + 1), status=206)
    response["Content-Length"] = str(last - first + 1)
    response["Content-Range"] = f"bytes {first}-{last}/{size}"
    return response


class Part:
    """Some bytes of a file, read like a file."""

    def __init__(self, file: IO[bytes], *, first: int, n_bytes: int) -> None:
        file.seek(first)
        self.file = file
        self.n_left = n_bytes

    def read(self, n_bytes: int = -1) -> bytes:
        data = self.file.read(self.n_left if n_bytes < 0 else min(n_bytes, self.n_left))
        self.n_left -= len(data)
        return data

    def close(self) -> None:
        self.file.close()
