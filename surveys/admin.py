"""Where Django looks for the admin's pages; each stands with the other pages of its room."""

from django.contrib import admin
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from surveys.pages.publishing import admin as publishing_admin  # noqa: F401 (registers itself)
from surveys.pages.review import trail_admin  # noqa: F401 (registers itself)
from surveys.pages.sign_in.passwords import SignInForm
from surveys.pages.study import admin as study_admin  # noqa: F401 (registers itself)

admin.site.login_form = SignInForm
# django-otp's own pages would show secrets, and add a phone to somebody else's account.
admin.site.unregister([StaticDevice, TOTPDevice])
