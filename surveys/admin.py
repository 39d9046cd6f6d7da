"""Where Django looks for the admin's pages; each stands with the other pages of its room."""

from django.contrib import admin

from surveys.pages.publishing import admin as publishing_admin  # noqa: F401 (registers itself)
from surveys.pages.review import trail_admin  # noqa: F401 (registers itself)
from surveys.pages.sign_in.passwords import SignInForm
from surveys.pages.study import admin as study_admin  # noqa: F401 (registers itself)

admin.site.login_form = SignInForm
