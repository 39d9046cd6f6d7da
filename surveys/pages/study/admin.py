"""A survey with its items in the admin: who sees it, what it is made of."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.forms import CheckboxSelectMultiple, ChoiceField
from django.http import HttpRequest
from django.utils.html import format_html

from annotators.admin import ReadOnlyAdmin
from surveys import audit
from surveys.models import Item, Output, Picture, Survey, TaskAccuracy
from surveys.pages.study.team_admin import OfTeams
from surveys.protocols.registry import DEFINITIONS
from surveys.studies.counts import counted
from surveys.studies.protocols import newest, offered
from surveys.teams import keep_access, may_join, where


class InlineRows(admin.TabularInline):  # type: ignore[type-arg]
    """Rows that are only shown."""

    extra = 0
    can_delete = False
    view_on_site = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class OutputRows(InlineRows):
    model = Output
    fields = ["system", "answer", "text"]


class PictureRows(InlineRows):
    model = Picture
    fields = ["position", "name", "shown", "width", "height"]
    readonly_fields = ["shown"]

    @admin.display(description="file")
    def shown(self, picture: Picture) -> str:
        """Lead to where it is served: its file's own name is no address."""
        if not picture.file:
            return "has not arrived"
        return format_html('<a href="{}">{}</a>', picture.get_absolute_url(), picture.file.name)


@admin.register(Survey)
class SurveyAdmin(OfTeams):
    list_display = ["name", "survey_type", "n_items", "n_batches", "created_at"]
    list_filter = ["definition_key"]
    list_select_related = ["protocol"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    change_form_template = "admin/surveys/survey/change_form.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Survey]:
        surveys: QuerySet[Survey] = super().get_queryset(request)
        return counted(surveys)

    def save_model(self, request: HttpRequest, obj: Survey, form: Any, change: bool) -> None:
        """A type that is not built in is taken in its newest version."""
        if "definition_key" in form.changed_data:
            obj.protocol = (
                None if obj.definition_key in DEFINITIONS else newest(request.user)[obj.definition_key]
            )
        super().save_model(request, obj, form, change)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"team": [request.user.pk], **super().get_changeform_initial_data(request)}

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        kwargs |= {"queryset": may_join(), "widget": CheckboxSelectMultiple}
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "definition_key":
            types = [(key, one.name) for key, one in offered(request.user).items()]
            return ChoiceField(label="Survey type", choices=[("", "---------"), *types])
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field and db_field.name == "team":
            field.widget.can_add_related = False  # a colleague is not made in passing
        return field

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)
        survey = form.instance
        ended = change and "is_shared" in form.changed_data and not survey.is_shared
        keep_access(survey, by=request.user, ended_sharing=ended)

    @admin.display(description="survey type", ordering="definition_key")
    def survey_type(self, survey: Survey) -> str:
        return survey.type_name

    @admin.display(description="items", ordering="n_items")
    def n_items(self, survey: Any) -> int:
        return int(survey.n_items)

    @admin.display(description="batches", ordering="n_batches")
    def n_batches(self, survey: Any) -> int:
        return int(survey.n_batches)

    def get_fields(self, request: HttpRequest, obj: Survey | None = None) -> Any:
        kind = "survey_type" if obj and obj.items.exists() else "definition_key"
        return ["name", "slug", kind, "is_shared", *([] if obj else ["team"])]  # later: in its settings

    def get_readonly_fields(self, request: HttpRequest, obj: Survey | None = None) -> list[str]:
        return ["survey_type"] if obj and obj.items.exists() else []

    def get_prepopulated_fields(
        self, request: HttpRequest, obj: Survey | None = None
    ) -> dict[str, Sequence[str]]:
        return {} if obj else {"slug": ["name"]}

    def has_delete_permission(self, request: HttpRequest, obj: Survey | None = None) -> bool:
        return super().has_delete_permission(request, obj) and not (obj and obj.batches.exists())


@admin.register(Item)
class ItemAdmin(OfTeams, ReadOnlyAdmin):
    list_display = ["external_id", "survey", "question", "gold"]
    list_filter = [("survey", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["survey"]
    search_fields = ["external_id"]
    inlines = [OutputRows, PictureRows]

    @admin.display
    def question(self, item: Item) -> str:
        return str(item.payload.get("question", ""))


@admin.register(TaskAccuracy)
class TaskAccuracyAdmin(OfTeams):
    """S_T, where the rated items can't tell it. A wrong one is not changed: the next one entered counts."""

    list_display = ["system", "accuracy", "survey", "source", "entered_by", "entered_at"]
    list_filter = [("survey", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["survey", "entered_by"]
    fields = ["survey", "system", "accuracy", "source"]

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        kwargs["queryset"] = (
            where(request.user, "surveys.add_taskaccuracy").filter(items__isnull=False).distinct()
        )
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def has_change_permission(self, request: HttpRequest, obj: TaskAccuracy | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: TaskAccuracy | None = None) -> bool:
        return False

    @transaction.atomic
    def save_model(self, request: HttpRequest, obj: TaskAccuracy, form: Any, change: bool) -> None:
        """Write down who entered it, and tell it in the trail of every batch whose numbers it changes."""
        obj.entered_by_id = request.user.pk
        obj.save()
        details = {"system": obj.system, "accuracy": str(obj.accuracy), "source": obj.source}
        for batch in obj.survey.batches.all():
            audit.record(audit.Kind.RESULTS, "accuracy", batch=batch, by=request.user, details=details)
