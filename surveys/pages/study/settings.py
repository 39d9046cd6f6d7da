"""What a study is called, whether it is shared, and who works on it."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from surveys.models import Survey
from surveys.pages.access import researcher, study_for
from surveys.pages.study.consent import ConsentForm, consent_of, told
from surveys.pages.study.team import team_of
from surveys.studies import consent as texts
from surveys.teams import keep_access

if TYPE_CHECKING:
    SurveyModelForm = forms.ModelForm[Survey]
else:
    SurveyModelForm = forms.ModelForm

MAY = ("surveys.view_batch", "surveys.change_survey")


class SettingsForm(SurveyModelForm):
    """The name of a study, and whether everybody with a role sees it."""

    class Meta:
        model = Survey
        fields = ["name", "is_shared"]


@require_http_methods(["GET", "HEAD", "POST"])
@researcher(*MAY)
def settings(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a study's settings; posted, change them."""
    survey = study_for(request, slug)
    form = SettingsForm(request.POST if request.method == "POST" else None, instance=survey)
    if form.is_bound and form.is_valid():
        form.save()
        ended = "is_shared" in form.changed_data and not survey.is_shared
        keep_access(survey, by=request.user, ended_sharing=ended)
        messages.success(request, "The settings are saved.")
        return redirect("study_settings", slug)
    survey_as_stored = study_for(request, slug)
    status = 422 if form.errors else 200
    return settings_page(request, survey_as_stored, form=form, status=status, **team_of(survey_as_stored))


@require_POST
@researcher(*MAY)
def save_consent(request: HttpRequest, slug: str) -> HttpResponse:
    """Write the next version. Who agreed to an older one is asked again before their next answer."""
    survey = study_for(request, slug)
    form = ConsentForm(request.POST, current=texts.latest(survey))
    if not form.is_valid():
        return settings_page(request, survey, status=422, **team_of(survey), consent_form=form)
    by = request.user if isinstance(request.user, User) else None
    written = texts.write(survey, form.cleaned_data["text"], translations=form.translations, by=by)
    messages.success(request, told(written))
    return redirect("study_settings", slug)


def settings_page(request: HttpRequest, survey: Survey, *, status: int = 200, **shown: Any) -> HttpResponse:
    """Show the settings of a study, with the parts that are given."""
    context = {
        **admin.site.each_context(request),
        "title": f"Settings of {survey}",
        "survey": survey,
        "form": SettingsForm(instance=survey),
        **consent_of(survey),
        **shown,
    }
    return render(request, "study/settings.html", context, status=status)
