"""A draft checked row by row, priced, and published: all of its HITs and their money, or nothing."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction

from marketplace import ids
from marketplace.batches.template import Template
from marketplace.engine.hits import TypeValues, hit_type_for
from marketplace.models import HIT, BatchRow, HITType, NotificationSetting, TemplateBatch
from marketplace.money import ledger
from marketplace.notifications import events
from marketplace.questions import documents, hit_questions

LONGEST_QUESTION = 65_535  # bytes; the service model's limit of Question
FORM = re.compile(r"<(?:form|crowd-form)\b", re.IGNORECASE)
BODY = re.compile(r"(<body\b[^>]*>)(.*?)(</body\s*>)", re.DOTALL | re.IGNORECASE)
FORM_START = (
    '<form name="mturk_form" id="mturk_form" method="post" action="https://www.mturk.com/mturk/externalSubmit">'
    '<input type="hidden" name="assignmentId" id="assignmentId" value="">'
)
FORM_END = '<p><input type="submit" id="submitButton" value="Submit"></p></form>'
CHUNK = 500


class AlreadyPublished(Exception):
    """Somebody published the batch meanwhile."""


@dataclass(frozen=True)
class Price:
    """What a batch costs at most, in cents."""

    hits: int
    assignments: int
    reward_cents: int
    fee_cents: int

    @property
    def total_cents(self) -> int:
        return self.reward_cents + self.fee_cents


def price(batch: TemplateBatch, *, hits: int) -> Price:
    assignments = hits * batch.max_assignments
    fee = ledger.fee_cents(batch.reward_cents, max_assignments=batch.max_assignments)
    return Price(hits, assignments, assignments * batch.reward_cents, assignments * fee)


def template_of(batch: TemplateBatch) -> Template:
    """Return the template, in a form of MTurk's name where it brings none.

    MTurk's requester site put the fields of such a template into `mturk_form` and gave it a button.
    """
    html = batch.template
    if not FORM.search(html):
        body = BODY.search(html) if "</body" in html.lower() else None
        start, end = body.span(2) if body else (0, len(html))
        html = f"{html[:start]}{FORM_START}{html[start:end]}{FORM_END}{html[end:]}"
    return Template(html, is_raw=batch.values_are_html)


def page(batch: TemplateBatch, values: list[str]) -> str:
    """Return the HTML of the row with these values."""
    return template_of(batch).filled(dict(zip(batch.columns, values, strict=True)))


def question(html: str, *, frame_height: int) -> str:
    """Return the HTMLQuestion document of a page."""
    content = html.replace("]]>", "]]]]><![CDATA[>")
    schema = hit_questions.HTML.strip("{}")
    return (
        f'<HTMLQuestion xmlns="{schema}"><HTMLContent><![CDATA[{content}]]></HTMLContent>'
        f"<FrameHeight>{frame_height}</FrameHeight></HTMLQuestion>"
    )


def problems(batch: TemplateBatch, rows: list[list[str]], *, may_be_empty: bool) -> list[str]:
    """Return a sentence for everything that keeps the rows from becoming HITs."""
    template = template_of(batch)
    if documents.ILLEGAL.search(batch.template):
        return ["The template holds a control character."]
    asked = template.names(batch.columns)
    sentences = [_missing(Template(batch.template), name) for name in asked if name not in batch.columns]
    used = [(batch.columns.index(name), name) for name in asked if name in batch.columns]
    for number, row in enumerate(rows, start=1):
        if not may_be_empty:
            sentences += [
                f"Row {number}, column “{name}”, is empty." for at, name in used if not row[at].strip()
            ]
        sentences += _too_long(batch, template, row, number)
    return sentences


def _missing(template: Template, name: str) -> str:
    return f"The template asks for ${{{name}}} on line {template.line_of(name)}; the file has no such column."


def _too_long(batch: TemplateBatch, template: Template, row: list[str], number: int) -> list[str]:
    html = template.filled(dict(zip(batch.columns, row, strict=True)))
    size = len(question(html, frame_height=batch.frame_height).encode())
    if size <= LONGEST_QUESTION:
        return []
    return [f"Row {number} makes a page of {size:,} bytes; a HIT takes {LONGEST_QUESTION:,}."]


@transaction.atomic
def publish(batch: TemplateBatch, *, now: datetime) -> None:
    """Make every row a HIT and hold the money of all. Raises AlreadyPublished, or Refusal InsufficientFunds.

    Then nothing has been written.
    """
    kind = hit_type_for(batch.requester, values=_type_values(batch), now=now)
    draft = TemplateBatch.objects.filter(pk=batch.pk, published_at=None)
    if not draft.update(published_at=now, hit_type=kind):
        raise AlreadyPublished
    batch.refresh_from_db()
    rows = list(batch.rows.order_by("number"))
    hits = _hits(batch, rows, kind=kind, now=now)
    ledger.hold_new(hits, now=now)
    for row, hit in zip(rows, hits, strict=True):
        row.hit = hit
    if NotificationSetting.objects.filter(hit_type=kind, is_active=True).exists():
        for hit in hits:
            events.record(hit, "HITCreated", at=now)
    BatchRow.objects.bulk_update(rows, ["hit"], batch_size=CHUNK)


def _type_values(batch: TemplateBatch) -> TypeValues:
    return TypeValues(
        title=batch.title,
        description=batch.description,
        keywords=batch.keywords,
        reward_cents=batch.reward_cents,
        duration_seconds=batch.duration_seconds,
        auto_approval_seconds=batch.auto_approval_seconds,
        requirements=[],
    )


def _hits(batch: TemplateBatch, rows: list[BatchRow], *, kind: HITType, now: datetime) -> list[HIT]:
    annotation = annotation_of(batch)
    template = template_of(batch)
    new = [
        HIT(
            hit_id=ids.entity_id(),
            hit_type=kind,
            requester=batch.requester,
            question=question(
                template.filled(dict(zip(batch.columns, row.values, strict=True))),
                frame_height=batch.frame_height,
            ),
            annotation=annotation,
            max_assignments=batch.max_assignments,
            held_slots=batch.max_assignments,
            created_at=now,
            expires_at=now + timedelta(seconds=batch.lifetime_seconds),
        )
        for row in rows
    ]
    return HIT.objects.bulk_create(new, batch_size=CHUNK)


def annotation_of(batch: TemplateBatch) -> str:
    """Return the RequesterAnnotation MTurk's site wrote; the template's number is that of its first batch."""
    same = TemplateBatch.objects.filter(requester=batch.requester, template=batch.template)
    first = same.order_by("pk").values_list("pk", flat=True).first()
    return f"BatchId:{batch.pk};OriginalHitTemplateId:{first};"
