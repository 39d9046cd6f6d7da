"""Who may open a researcher's page: staff, with the permissions it names."""

from collections.abc import Callable
from typing import Any

from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.decorators import permission_required
from django.http import HttpResponseBase

View = Callable[..., HttpResponseBase]


def researcher(*permissions: str) -> Callable[[View], View]:
    """Send strangers to the login, answer 403 to staff without all `permissions`."""

    def protect(view: View) -> View:
        checked: Any = permission_required(permissions, raise_exception=True)(view)
        protected: View = staff_member_required(checked, login_url="admin:login")
        return protected

    return protect
