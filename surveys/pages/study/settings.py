"""What a study is called and who works on it, with what each of them may do."""

from typing import TYPE_CHECKING

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from surveys.models import Survey
from surveys.pages.access import researcher, study_for
from surveys.teams import keep_access, may_join

if TYPE_CHECKING:
    SurveyModelForm = forms.ModelForm[Survey]
    PeopleField = forms.ModelMultipleChoiceField[User]
else:
    SurveyModelForm, PeopleField = forms.ModelForm, forms.ModelMultipleChoiceField


class TeamField(PeopleField):
    """People to tick, each with their role."""

    def label_from_instance(self, person: User) -> str:
        return f"{person.get_full_name() or person.get_username()} ({role_of(person)})"


class SettingsForm(SurveyModelForm):
    """The name of a study, and who sees it."""

    team = TeamField(
        queryset=User.objects.none(), required=False, widget=forms.CheckboxSelectMultiple, label="Colleagues"
    )

    class Meta:
        model = Survey
        fields = ["name", "is_shared", "team"]

    def __init__(self, data: object = None, *, instance: Survey) -> None:
        super().__init__(data, instance=instance)  # type: ignore[arg-type]
        self.fields["team"].queryset = may_join().prefetch_related("groups")  # type: ignore[attr-defined]


def role_of(person: User) -> str:
    """Return what somebody may do here, in a word or two; needs `groups`."""
    if not person.is_active:
        return "away"
    if person.is_superuser:
        return "owner of this server"
    return ", ".join(sorted(group.name.lower() for group in person.groups.all())) or "no role"


@require_http_methods(["GET", "HEAD", "POST"])
@researcher("surveys.view_batch", "surveys.change_survey")
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
    context = {
        **admin.site.each_context(request),
        "title": f"Settings of {survey_as_stored}",
        "survey": survey_as_stored,
        "form": form,
    }
    return render(request, "study/settings.html", context, status=422 if form.errors else 200)
