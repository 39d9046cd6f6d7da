"""Lists in the admin of what grows with every answer: a page costs the same at a thousand rows and at a million."""

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.core.paginator import Page, Paginator
from django.utils.functional import cached_property

# Django's own classes take no type arguments at run time.
if TYPE_CHECKING:
    ModelAdmin = admin.ModelAdmin[Any]
    AnyPaginator = Paginator[Any]
    AnyPage = Page[Any]
else:
    ModelAdmin = admin.ModelAdmin
    AnyPaginator, AnyPage = Paginator, Page

MOST = 10_000  # rows that can be paged through; nobody reads more
HELP = f"The latest {MOST:,} are listed; a search or a filter finds earlier ones."


class KeyPaginator(AnyPaginator):
    """Pages of rows with much beside them: what else is shown of each is asked of those of one page only."""

    @cached_property
    def count(self) -> int:
        return int(self._keys().count())

    def page(self, number: int | str) -> AnyPage:
        found = super().page(number)
        rows: Any = self.object_list
        shown: Any = found.object_list
        found.object_list = rows.filter(pk__in=list(shown.values_list("pk", flat=True)))
        return found

    def _keys(self) -> Any:
        rows: Any = self.object_list
        return rows.order_by().values("pk")


class LatestPaginator(KeyPaginator):
    """Pages of the first MOST rows: counting them all would read them all."""

    def _keys(self) -> Any:
        return super()._keys()[:MOST]


class LongListAdmin(ModelAdmin):
    """The latest first and in no other order, as any other would read the whole table."""

    paginator = LatestPaginator
    ordering: ClassVar[tuple[Any, ...]] = ("-pk",)
    sortable_by = ()
    show_full_result_count = False
    search_help_text = HELP
