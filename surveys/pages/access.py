"""Who may open a researcher's page: staff, with the permissions it names, and in the team of its survey."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.decorators import permission_required
from django.http import Http404, HttpRequest, HttpResponseBase

from surveys.models import Batch
from surveys.teams import hidden_from

View = Callable[..., HttpResponseBase]


def researcher(*permissions: str) -> Callable[[View], View]:
    """Send strangers to the login, answer 403 to staff without all `permissions`.

    `pk` in a page's address is a batch; one of a survey that is hidden from them is 404.
    """

    def protect(view: View) -> View:
        checked: Any = permission_required(permissions, raise_exception=True)(_of_team(view))
        protected: View = staff_member_required(checked, login_url="admin:login")
        return protected

    return protect


def _of_team(view: View) -> View:
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        hidden = Batch.objects.filter(survey__in=hidden_from(request.user))
        if (pk := kwargs.get("pk")) and hidden.filter(pk=pk).exists():
            raise Http404("No such batch.")
        return view(request, *args, **kwargs)

    return wrapped
