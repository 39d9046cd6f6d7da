"""Pictures under opaque names, for anyone who has the name: annotators come without a login."""

from django.http import FileResponse, Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from surveys.models import Picture

HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    # An SVG opened on its own is a document: it gets no scripts, no origin and nothing to load.
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "X-Content-Type-Options": "nosniff",
}


@require_safe
def picture(request: HttpRequest, code: str) -> FileResponse:
    """Serve one picture for ever: a code never gets another file. 404 if it is unknown or has not arrived."""
    found = get_object_or_404(Picture.objects.exclude(file=""), code=code)
    try:
        file = found.file.open("rb")
    except OSError:
        raise Http404("The picture's file is gone.") from None
    response = FileResponse(file, content_type=found.content_type, headers=HEADERS)
    response["Content-Disposition"] = "inline"
    return response
