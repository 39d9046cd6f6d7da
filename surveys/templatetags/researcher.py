"""What researchers' templates ask for."""

import re
from datetime import datetime
from typing import Any

from django import template
from django.conf import settings
from django.core.paginator import Page
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html_join
from django.utils.safestring import mark_safe

from annotators.crowds.base import crowd_of, whose_fee
from annotators.models import Assignment, Worker
from annotators.people import names
from surveys import notes
from surveys.models import Batch, Note, Survey, is_held
from surveys.pages.people.labels import labels_of
from surveys.pages.results.scope import Scope
from surveys.pages.review.decision_forms import STATUS_WORDS
from surveys.pages.study.header import Header, header
from surveys.pages.study.studies import listed
from surveys.protocols.policy import label_of
from surveys.review import appeal_codes, decisions
from surveys.review.progress import LONGEST_WARNING, undecided, urgent
from surveys.teams import holds, seen_by

BREAKS = re.compile(r"(?<=[_/-])(?=[^\W_])")
NOTES_SHOWN = 3  # the newest; the others follow once these are put away
register = template.Library()
register.filter("whose_fee", whose_fee)


@register.filter
def breakable(name: str) -> str:
    """Return a name that breaks behind its _, - and /, before it breaks anywhere."""
    return format_html_join(mark_safe("<wbr>"), "{}", ((part,) for part in BREAKS.split(name)))


@register.simple_tag(takes_context=True)
def listed_studies(context: dict[str, Any]) -> Page[Any]:
    """Return a page of the studies that the reader sees, what was touched last first."""
    return listed(context["user"], number=context["request"].GET.get("page", "1"))


@register.simple_tag(takes_context=True)
def is_researcher(context: dict[str, Any]) -> bool:
    """Tell whether the reader may see batches anywhere: by their account, or by a role in one study."""
    return holds(context["user"], ["surveys.view_batch"])


@register.simple_tag(takes_context=True)
def study_header(context: dict[str, Any]) -> Header | None:
    """Return the head of a page about a batch or a study; None where it is about neither."""
    if (survey := study_of(context)) is None:
        return None
    request: HttpRequest = context["request"]
    place = request.resolver_match.url_name if request.resolver_match else None
    return header(request.user, survey, batch=context.get("batch"), place=place or "")


@register.simple_tag(takes_context=True)
def study_of(context: dict[str, Any]) -> Survey | None:
    """Return the study that a page is about, by its batch or itself."""
    batch, survey = context.get("batch"), context.get("survey")
    if isinstance(batch, Batch):
        return batch.survey
    return survey if isinstance(survey, Survey) else None


@register.simple_tag
def results_url(scope: Scope, name: str, *more: str) -> str:
    """Return where a page of results is, of one batch or of several together, by the name a batch's has."""
    return scope.url(name, *more)


@register.simple_tag(takes_context=True)
def n_open_appeals(context: dict[str, Any], batch: Batch | None = None) -> int:
    """Return how many appeals wait for an answer, in one batch or in all that the reader sees."""
    waiting = seen_by(context["user"], appeal_codes.waiting())
    return (waiting.filter(assignment__hit__questionnaire__batch=batch) if batch else waiting).count()


@register.simple_tag(takes_context=True)
def n_held(context: dict[str, Any]) -> int:
    """Return how much work waits for a person's decision in all that the reader sees."""
    return seen_by(context["user"], Assignment.objects.filter(is_held())).count()


@register.simple_tag(takes_context=True)
def n_at_a_stand(context: dict[str, Any]) -> int:
    """Return how many running batches that the reader sees stand still by an error."""
    running = Batch.objects.filter(status__in=Batch.RUNNING).exclude(error="")
    return seen_by(context["user"], running).count()


@register.simple_tag(takes_context=True)
def notes_to_show(context: dict[str, Any]) -> list[Note]:
    """Return what the reader has not been told yet, but for what this very page shows: that is put away."""
    request: HttpRequest = context["request"]
    waiting = list(notes.unseen(request.user)[:NOTES_SHOWN]) if request.user.is_authenticated else []
    if here := [
        note.pk for note in waiting if note.url.partition("#")[0] in (request.path, request.get_full_path())
    ]:
        notes.put_away(notes.unseen(request.user).filter(pk__in=here))
    return [note for note in waiting if note.pk not in here]


@register.simple_tag(takes_context=True)
def n_running_out(context: dict[str, Any]) -> int:
    """Return how much undecided work the marketplaces are about to approve by themselves, in all the reader sees."""
    soon = undecided().filter(auto_approval_at__lte=timezone.now() + LONGEST_WARNING)
    near = soon.order_by().values("hit__questionnaire__batch").distinct()
    return sum(urgent(batch).count() for batch in seen_by(context["user"], Batch.objects.filter(pk__in=near)))


@register.filter
def has_market(assignment: Assignment) -> bool:
    """Tell whether work came by a marketplace, which names its worker and hears what is decided."""
    return crowd_of(assignment).has_market


@register.filter
def work_status(status: str) -> str:
    """Return what people read for the status of an assignment: MTurk's words, but what is begun is not accepted yet."""
    return str(STATUS_WORDS[status])


@register.simple_tag
def version() -> str:
    """Return the version of the program."""
    return settings.VERSION


@register.simple_tag
def university() -> str:
    """Return whose OpenID Connect signs researchers in; "" where none is set."""
    return settings.OIDC_LABEL if settings.OIDC_IS_ON else ""


@register.filter
def pseudonym(worker: Worker) -> str:
    """Return what files, results and the audit trail call a worker."""
    return names.pseudonym(worker.worker_id)


@register.simple_tag(takes_context=True)
def label_in(context: dict[str, Any], worker: Worker, batch: Batch) -> str:
    """Return what researchers call somebody in a batch's study; "" where they did not, or to who may not see it."""
    return labels_of([worker.pk], batch=batch, reader=context["user"]).get(worker.pk, "")


@register.filter
def overturn_until(assignment: Assignment) -> datetime:
    """Return until when a rejection of this assignment can be overturned."""
    return decisions.overturn_until(assignment)


@register.filter
def flag_label(kind: str) -> str:
    """Return what a flag of this kind is called on every page."""
    return label_of(kind)


@register.filter
def mod(number: int, by: int) -> int:
    """Return the rest of a division, to go round a list of colours."""
    return number % by


@register.filter
def percent(share: float | None) -> str:
    """Return a share in [0, 1] as "43.9 %"; a dash where there is none."""
    return "–" if share is None else f"{100 * share:.1f} %"


@register.filter
def score(value: float | None) -> str:
    """Return a score with four digits, as papers print it; a dash where there is none."""
    return "–" if value is None else f"{value:.4f}"


@register.filter
def money(amount: object) -> str:
    """Return dollars and cents."""
    return f"${amount:,.2f}"


@register.filter
def seconds(value: float | None) -> str:
    """Return a length of time as "48 s" or "2 min 5 s"; a dash where there is none."""
    if value is None:
        return "–"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@register.filter
def left_until(deadline: datetime | None) -> str:
    """Return how long it is until `deadline` in one or two units, "over" when it has passed."""
    if deadline is None:
        return ""
    minutes = int((deadline - timezone.now()).total_seconds() // 60)
    if minutes < 0:
        return "over"
    days, hours = minutes // 1440, minutes // 60 % 24
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"


@register.filter
def split(words: str) -> list[str]:
    """Return the words of a template's own list."""
    return words.split()


@register.filter
def of(found: dict[Any, Any], key: Any) -> Any:
    """Return what stands under a key; nothing to go through where nothing does."""
    return found.get(key, ())
