"""Small studies with one output per item: several systems on the same subjects, rated or skipped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotators.models import Worker
from surveys.models import Batch, Item, Output, Rating, Response
from surveys.protocols.criteria import Choice, Criterion
from surveys.protocols.definition import Definition, Instructions
from tests.factories import make_assignment, make_batch, make_hit, make_item, make_questionnaire, make_survey

FIVE = tuple(Choice(str(n), f"{n}", float(n)) for n in range(1, 6))


def single(*, key: str = "single", **values) -> Definition:
    """A survey type of one output per item: clarity and trust from 1 to 5, and a remark where `texts`."""
    remark = (Criterion("remark", "Why?", is_text=True),) if values.pop("texts", False) else ()
    return Definition(
        **{
            "key": key,
            "name": "Single",
            "version": 1,
            "title": "Judge",
            "question_label": "Label",
            "output_label": "Text",
            "outputs_per_item": 1,
            "criteria": (Criterion("clarity", "Clear?", FIVE), Criterion("trust", "Trust?", FIVE), *remark),
            "headline": "clarity",
            "instructions": Instructions(summary="Judge.", steps=("Judge.",)),
            "good_from": 4.0,
            "skip_reasons": (Choice("too_dark", "Too dark"), Choice("other", "Other")),
            **values,
        }
    )


@dataclass(frozen=True)
class Rated:
    """What one worker said about one system on one subject: values by criterion, or a reason to skip."""

    subject: str
    system: str
    worker: str
    values: Mapping[str, str] = field(default_factory=dict)
    skip_reason: str = ""
    status: str = "Submitted"
    channel: str = "marketplace"


def rated_batch(
    rows: Sequence[Rated],
    *,
    definition: Definition | None = None,
    model_correct: Mapping[str, bool | None] | None = None,
    **batch_values,
) -> Batch:
    """Store `rows`, each an assignment of its own. `model_correct` is by "subject/system"."""
    definition = definition or single()
    survey = make_survey()
    batch = make_batch(survey, snapshot=definition.to_snapshot(), items_per_hit=1, **batch_values)
    outputs: dict[str, Output] = {}
    for row in rows:
        name = f"{row.subject}/{row.system}"
        if name not in outputs:
            outputs[name] = _output(batch, row, name=name, correct=(model_correct or {}).get(name))
        _respond(batch, row, output=outputs[name])
    return batch


def _output(batch: Batch, row: Rated, *, name: str, correct: bool | None) -> Output:
    position = batch.survey.items.count() + 1
    item = make_item(
        batch.survey,
        position=position,
        systems=(),
        choices=(),
        gold="",
        external_id=name,
        subject=row.subject,
    )
    make_questionnaire(batch, items=[item], hit=make_hit())
    text = f"{row.system} on {row.subject}"
    return Output.objects.create(item=item, system=row.system, text=text, model_correct=correct)


def _respond(batch: Batch, row: Rated, *, output: Output) -> Response:
    item: Item = output.item
    worker, _ = Worker.objects.get_or_create(worker_id=row.worker, source="embedded")
    assignment = make_assignment(
        item.questionnaires.get().hit, status=row.status, worker=worker, channel=row.channel
    )
    response = Response.objects.create(
        assignment=assignment,
        batch=batch,
        worker=worker,
        item=item,
        position=1,
        shown={"outputs": [output.pk]},
        skip_reason=row.skip_reason,
        active_seconds=12.5,
    )
    for key, value in row.values.items():
        score = float(value) if value.isdecimal() else None
        Rating.objects.create(response=response, output=output, criterion=key, value=value, score=score)
    return response
