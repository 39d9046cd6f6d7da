"""Notes to somebody about work that has gone on without them: shown on every page until they are put away."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from surveys import notes
from surveys.pages.access import researcher


@require_POST
@researcher()
def put_note_away(request: HttpRequest, note_pk: int) -> HttpResponse:
    """Show a note of the reader's no more, and lead back to where they were. Safe to repeat."""
    notes.put_away(notes.unseen(request.user).filter(pk=note_pk))
    back = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return redirect(back if is_ours and back.startswith("/") else "admin:index")
