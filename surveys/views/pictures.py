"""Pictures under their opaque codes: published file names can hold the gold answer."""

from django.http import FileResponse, Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from surveys.models import Picture

# A code names one file for good, so a browser never has to ask again.
FOREVER = "private, max-age=31536000, immutable"


@require_safe
def picture(request: HttpRequest, code: str) -> FileResponse:
    """Send the picture's bytes; 404 while they have not arrived."""
    found = get_object_or_404(Picture, code=code)
    if not found.file:
        raise Http404
    response = FileResponse(found.file.open("rb"), content_type=found.content_type or "application/octet-stream")
    response["Content-Disposition"] = "inline"
    response["Cache-Control"] = FOREVER
    response["X-Content-Type-Options"] = "nosniff"
    return response
