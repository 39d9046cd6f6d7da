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
    """Pages of rows with much beside them: what is counted for each is asked of those of one page only."""

    def page(self, number: int | str) -> AnyPage:
        found = super().page(number)
        rows: Any = self.object_list
        first = (found.number - 1) * self.per_page
        keys = list(rows.values_list("pk", flat=True)[first : first + self.per_page])
        found.object_list = rows.filter(pk__in=keys)
        return found


class LatestPaginator(KeyPaginator):
    """Pages of the first MOST rows: counting them all would read them all."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return int(rows.order_by()[:MOST].count())


class LongListAdmin(ModelAdmin):
    """The latest first and in no other order, as any other would read the whole table."""

    paginator = LatestPaginator
    ordering: ClassVar[tuple[Any, ...]] = ("-pk",)
    sortable_by = ()
    show_full_result_count = False
    search_help_text = HELP
