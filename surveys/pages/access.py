"""Who may open a researcher's page: staff, with the permissions it names, and in the team of its survey.

And from which network address anybody comes.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase

from surveys import teams
from surveys.models import Batch, Survey
from surveys.teams import may

View = Callable[..., HttpResponseBase]


def researcher(*permissions: str) -> Callable[[View], View]:
    """Send strangers to the login, answer 403 to staff without all `permissions`.

    Those are asked of their role in the study that the address is about; where it is about none, one study in which
    they have them is enough, and the page asks `teams` which. Whose the batch or study in an address is, the page asks
    with `batch_for` or `study_for`.
    """

    def protect(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not may(request.user, permissions, address=kwargs):
                raise PermissionDenied
            return view(request, *args, **kwargs)

        protected: View = staff_member_required(checked, login_url="admin:login")
        return protected

    return protect


def batch_for(request: HttpRequest, pk: int) -> Batch:
    """Return the batch a page is about. Raises Http404 if there is none, or its survey is hidden from the reader."""
    return teams.batch_for(request.user, pk)


def study_for(request: HttpRequest, slug: str) -> Survey:
    """Return the study a page is about. Raises Http404 if there is none, or it is hidden from the reader."""
    return teams.study_for(request.user, slug)


def address_of(request: HttpRequest) -> str:
    """Return the visitor's network address: behind a trusted proxy the one that proxy has seen.

    Where that proxy does not tell, it is not known and "": the proxy's own would be everybody's.
    """
    if settings.SECURE_PROXY_SSL_HEADER:
        return request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
    return str(request.META.get("REMOTE_ADDR", ""))
