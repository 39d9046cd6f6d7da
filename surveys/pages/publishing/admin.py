"""Surveys and batches to set up, and what became of them to look up."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotators.admin import ReadOnlyAdmin
from statements.long_lists import KeyPaginator, LongListAdmin
from surveys.models import Batch, Decision, Questionnaire, QuestionnaireItem, Survey
from surveys.pages.study.admin import InlineRows
from surveys.pages.study.team_admin import OfTeams
from surveys.publishing.terms.batch_form import (
    FROZEN,
    PUBLISHED_FIELDSETS,
    BatchForm,
    PublishedBatchForm,
    approved_after,
    default_terms,
    draft_fieldsets,
    duration_in_words,
    policy_in_words,
    write_draft,
)
from surveys.publishing.terms.launch_form import begins_with_quiz, last_of
from surveys.review.progress import with_counts
from surveys.teams import where

admin.site.site_header = "Assent"
admin.site.site_title = "Assent"
admin.site.index_title = "Studies"
admin.site.site_url = None
admin.site.enable_nav_sidebar = False


@admin.register(Batch)
class BatchAdmin(OfTeams):
    form = BatchForm
    list_display = [
        "page",
        "survey",
        "endpoint",
        "status",
        "hits",
        "kept",
        "undecided",
        "reward",
        "created_at",
    ]
    list_display_links = None
    list_per_page = 25
    paginator = KeyPaginator
    list_filter = ["status", "endpoint", ("survey", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["survey"]
    search_fields = ["name", "survey__name"]

    def view_on_site(self, batch: Batch) -> str:
        return batch.get_absolute_url()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Batch]:
        return with_counts(super().get_queryset(request))

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "survey":
            kwargs["queryset"] = _surveys(request)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    @admin.display(description="name", ordering="name")
    def page(self, batch: Batch) -> SafeString:
        return format_html('<a href="{}">{}</a>', batch.get_absolute_url(), batch.name)

    @admin.display(description="HITs")
    def hits(self, batch: Any) -> int:
        return int(batch.n_hits)

    @admin.display(description="kept")
    def kept(self, batch: Any) -> str:
        return f"{batch.n_kept} of {batch.n_wanted}"

    @admin.display(description="undecided")
    def undecided(self, batch: Any) -> int:
        return int(batch.n_undecided)

    @admin.display(description="Time for one assignment")
    def time_allowed(self, batch: Batch) -> str:
        return duration_in_words(batch.assignment_duration)

    @admin.display(description="HITs can be found for")
    def findable_for(self, batch: Batch) -> str:
        return duration_in_words(batch.lifetime)

    @admin.display(description="Approved automatically after")
    def approved_after(self, batch: Batch) -> str:
        return approved_after(batch)

    @admin.display(description="Review")
    def review(self, batch: Batch) -> str:
        return policy_in_words(batch.review_policy)

    def get_form(
        self, request: HttpRequest, obj: Batch | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        if _is_frozen(obj) or not self.may_edit(request, obj):
            kwargs["form"] = PublishedBatchForm
        form = super().get_form(request, obj, change=change, **kwargs)
        if survey := form.base_fields.get("survey"):
            _calm(survey.widget)
        return form

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        context = {"show_save_and_add_another": False, **(extra_context or {})}
        return super().changeform_view(request, object_id, form_url, context)

    def get_fieldsets(self, request: HttpRequest, obj: Batch | None = None) -> Any:
        if _is_frozen(obj) or not self.may_edit(request, obj):
            return PUBLISHED_FIELDSETS
        survey = obj.survey if obj else self.get_changeform_initial_data(request).get("survey")
        return draft_fieldsets(survey.definition if isinstance(survey, Survey) else None)

    def get_readonly_fields(self, request: HttpRequest, obj: Batch | None = None) -> tuple[str, ...]:
        return FROZEN if _is_frozen(obj) or not self.may_edit(request, obj) else ()

    def may_edit(self, request: HttpRequest, obj: Batch | None) -> bool:
        return self.has_change_permission(request, obj) if obj else self.has_add_permission(request)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Fill in the terms of the survey that is asked for, or of the only one there is."""
        initial: dict[str, Any] = dict(super().get_changeform_initial_data(request))
        asked_for = initial.get("survey", "")
        surveys = _surveys(request)
        found = list((surveys.filter(pk=asked_for) if asked_for.isdecimal() else surveys)[:2])
        if len(found) == 1:
            uses_quiz = begins_with_quiz(found[0], last=last_of(found[0]))
            terms = {**default_terms(found[0].definition), "uses_quiz": uses_quiz}
            initial = {**terms, **initial, "survey": found[0]}
        return initial

    def save_model(self, request: HttpRequest, obj: Batch, form: "ModelForm[Batch]", change: bool) -> None:
        if not change:
            obj.created_by_id = request.user.pk
            super().save_model(request, obj, form, change)
        elif not write_draft(obj, form=form):
            messages.error(request, "The batch was published in the meantime. Nothing was changed.")

    def delete_model(self, request: HttpRequest, obj: Batch) -> None:
        Batch.objects.filter(pk=obj.pk, status=Batch.Status.DRAFT).delete()

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Batch]) -> None:
        Batch.objects.filter(pk__in=queryset.values("pk"), status=Batch.Status.DRAFT).delete()

    def has_delete_permission(self, request: HttpRequest, obj: Batch | None = None) -> bool:
        return super().has_delete_permission(request, obj) and not _is_frozen(obj)

    def response_post_save_add(self, request: HttpRequest, obj: Batch) -> HttpResponseRedirect:
        return redirect(obj)

    def response_post_save_change(self, request: HttpRequest, obj: Batch) -> HttpResponseRedirect:
        return redirect(obj)


class SlotRows(InlineRows):
    model = QuestionnaireItem
    fields = ["position", "item"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[QuestionnaireItem]:
        return super().get_queryset(request).select_related("item", "questionnaire__batch")


@admin.register(Questionnaire)
class QuestionnaireAdmin(OfTeams, LongListAdmin, ReadOnlyAdmin):
    view_on_site = False
    list_display = ["id", "batch", "position", "target_assignments", "hit", "sibling_of"]
    list_per_page = 15  # a row has three lines
    ordering = ("-batch_id", "-position")  # its key is no number that counts up
    list_select_related = ["batch", "hit", "sibling_of__batch"]
    search_fields = ["id", "hit__hit_id", "batch__name"]
    inlines = [SlotRows]


@admin.register(Decision)
class DecisionAdmin(OfTeams, LongListAdmin, ReadOnlyAdmin):
    list_display = [
        "assignment",
        "verdict",
        "n_correct",
        "n_graded",
        "reason",
        "decided_by",
        "decided_at",
        "overturned_at",
    ]
    list_filter = ["verdict", "decided_at"]
    list_select_related = ["assignment__worker", "decided_by"]
    search_fields = [
        "assignment__assignment_id",
        "assignment__worker__worker_id",
        "assignment__hit__questionnaire__batch__name",
    ]


def _surveys(request: HttpRequest) -> QuerySet[Survey]:
    return where(request.user, "surveys.add_batch")


def _calm(widget: RelatedFieldWidgetWrapper) -> None:
    """Leave out the buttons that would change or delete the survey from within a batch."""
    widget.can_change_related = widget.can_delete_related = widget.can_view_related = False


def _is_frozen(batch: Batch | None) -> bool:
    return batch is not None and batch.status != Batch.Status.DRAFT
