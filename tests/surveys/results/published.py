"""A published raw file as rows of our own tables, so that both doors can be compared on the same answers."""

import csv
import json
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from annotators.models import HIT, Assignment, HITType, Worker
from surveys.models import (
    Batch,
    Item,
    Output,
    Questionnaire,
    QuestionnaireItem,
    Rating,
    Response,
    Survey,
)
from surveys.protocols.definition import Definition
from surveys.studies.importing.batch_layout import take_apart

PACIFIC = ZoneInfo("America/Los_Angeles")


def load_published(path: Path, *, definition: Definition, n: int | None = None) -> Batch:
    """Store the first `n` assignments of a raw file (default: every one) as if they had been done here."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:n]
    return _Loader(rows, definition).load(path.stem)


def parse_time(text: str) -> datetime | None:
    if not text:
        return None
    zone = text.split()[4]
    plain = text.replace(f" {zone}", "")
    return datetime.strptime(plain, "%a %b %d %H:%M:%S %Y").replace(tzinfo=PACIFIC)


class _Loader:
    def __init__(self, rows: list[dict[str, str]], definition: Definition) -> None:
        self.rows, self.definition, self.first = rows, definition, rows[0]
        header = tuple(
            name.removeprefix("Input.") for name in self.first if name and name.startswith("Input.")
        )
        self.columns = take_apart(header)
        self.hits: dict[str, HIT] = {}
        self.workers: dict[str, Worker] = {}
        self.slots: dict[str, list[tuple[Item, Output, Output]]] = {}
        self.questionnaires: list[Questionnaire] = []
        self.questions: list[QuestionnaireItem] = []
        self.responses: list[Response] = []
        self.ratings: list[Rating] = []

    def load(self, name: str) -> Batch:
        self.survey = Survey.objects.create(
            name=name, slug="published", definition_key=self.definition.key, is_shared=True
        )
        self.batch = self._batch(name)
        hit_type = self._hit_type()
        for row in self.rows:
            if row["HITId"] not in self.hits:
                self._hit(row, hit_type=hit_type, position=len(self.hits) + 1)
        said = [one for slots in self.slots.values() for one in slots]
        HIT.objects.bulk_create(self.hits.values())
        Questionnaire.objects.bulk_create(self.questionnaires)
        Item.objects.bulk_create(item for item, *_ in said)
        Output.objects.bulk_create(output for _, *outputs in said for output in outputs)
        QuestionnaireItem.objects.bulk_create(self.questions)
        self.workers = {
            row["WorkerId"]: Worker(worker_id=row["WorkerId"], source="embedded") for row in self.rows
        }
        Worker.objects.bulk_create(self.workers.values())
        assignments = Assignment.objects.bulk_create(self._assignment(row) for row in self.rows)
        for row, assignment in zip(self.rows, assignments, strict=True):
            self._answers(row, assignment)
        Response.objects.bulk_create(self.responses)
        Rating.objects.bulk_create(self.ratings)
        return self.batch

    def _batch(self, name: str) -> Batch:
        return Batch.objects.create(
            survey=self.survey, name=name, title=self.first["Title"], description=self.first["Description"],
            reward=Decimal(self.first["Reward"][1:]), auto_approval_delay=timedelta(days=3), status="open",
            snapshot=self.definition.to_snapshot(), rejects_automatically=True,
        )  # fmt: skip

    def _hit_type(self) -> HITType:
        seconds = {
            key: timedelta(seconds=int(self.first[name]))
            for key, name in (
                ("assignment_duration", "AssignmentDurationInSeconds"),
                ("auto_approval_delay", "AutoApprovalDelayInSeconds"),
            )
        }
        return HITType.objects.create(
            endpoint="embedded", hit_type_id=self.first["HITTypeId"], title=self.first["Title"],
            description=self.first["Description"], keywords=self.first["Keywords"],
            reward=Decimal(self.first["Reward"][1:]), **seconds,
        )  # fmt: skip

    def _hit(self, row: dict[str, str], *, hit_type: HITType, position: int) -> None:
        hit = HIT(
            hit_type=hit_type, hit_id=row["HITId"], max_assignments=int(row["MaxAssignments"]),
            created_at=parse_time(row["CreationTime"]), expires_at=parse_time(row["Expiration"]),
        )  # fmt: skip
        self.hits[row["HITId"]] = hit
        questionnaire = Questionnaire(batch=self.batch, position=position, target_assignments=5, hit=hit)
        self.questionnaires.append(questionnaire)
        for slot in range(self.columns.n):
            place = (position - 1) * self.columns.n + slot + 1
            said = self._item(row, slot, position=place, source_row=position)
            self.slots.setdefault(row["HITId"], []).append(said)
            question = QuestionnaireItem(questionnaire=questionnaire, item=said[0], position=slot + 1)
            self.questions.append(question)

    def _item(self, row: dict[str, str], slot: int, *, position: int, source_row: int):
        cells = {name: row[f"Input.{name}_{slot}"] for name in self.columns.names}
        shared = {name: row[f"Input.{name}"] for name in self.columns.shared}
        options = {"answer", "other_answer1", "other_answer2"} & cells.keys()
        item = Item(
            survey=self.survey, external_id=cells["id"], subject=cells["id"], position=position, source_row=source_row,
            gold=cells["answer"],
            choices=[{"value": v, "label": v} for v in sorted({cells[name] for name in options})],
            payload={"header": list(self.columns.header), "columns": cells, "row": shared},
        )  # fmt: skip
        ours = Output(
            item=item, system="ofa-x", text=cells["output_explanation"], answer=cells["output_answer"]
        )
        gt = Output(item=item, system="ground_truth", text=cells["explanation"], answer=cells["answer"])
        return item, ours, gt

    def _assignment(self, row: dict[str, str]) -> Assignment:
        return Assignment(
            hit=self.hits[row["HITId"]], worker=self.workers[row["WorkerId"]], assignment_id=row["AssignmentId"],
            status=row["AssignmentStatus"], accepted_at=parse_time(row["AcceptTime"]),
            submitted_at=parse_time(row["SubmitTime"]), saved_at=parse_time(row["SubmitTime"]),
            approved_at=parse_time(row["ApprovalTime"]), rejected_at=parse_time(row["RejectionTime"]),
            feedback=row["RequesterFeedback"], comment=_answers_of(row).get("feedback", ""),
        )  # fmt: skip

    def _answers(self, row: dict[str, str], assignment: Assignment) -> None:
        answers = _answers_of(row)
        for position, (item, ours, gt) in enumerate(self.slots[row["HITId"]], start=1):
            self._response(assignment, item, ours=ours, gt=gt, position=position, answers=answers)

    def _response(
        self, assignment: Assignment, item: Item, *, ours: Output, gt: Output, position: int, answers: dict
    ) -> None:
        task = f"task{position}"
        given = answers.get(f"{task}_answer") or answers[f"{task}_image_statement_relationship"]
        answer = _chosen(given)
        response = Response(
            assignment=assignment, batch=self.batch, worker=assignment.worker, item=item,
            position=position, answer=answer, is_correct=answer == item.gold,
            shown={"outputs": [gt.pk, ours.pk], "choices": []}, active_seconds=30,
        )  # fmt: skip
        ratings = [
            *_explanation(answers, f"{task}_explanation1", output=ours),
            *_explanation(answers, f"{task}_explanation2", output=gt),
            *_preference(_chosen(answers[f"{task}_preference"]), ours=ours, gt=gt),
        ]
        self.responses.append(response)
        self.ratings += [
            Rating(response=response, output=output, criterion=criterion, value=value, score=score)
            for output, criterion, value, score in ratings
        ]


def _answers_of(row: dict[str, str]) -> dict[str, Any]:
    return json.loads(row["Answer.taskAnswers"])[0]


def _explanation(answers, key, *, output):
    if value := _chosen(answers[f"{key}_explanation_justifies_answer"]):
        score = {"yes": 1, "weak_yes": 2 / 3, "weak_no": 1 / 3, "no": 0}[value]
        yield output, "justifies", value, score
    for option in ("incorrect_description", "insufficient_justification", "confusing_sentence"):
        is_ticked = answers[f"{key}_shortcomings_{option}"]["selected"]
        yield output, f"shortcomings.{option}", "selected" if is_ticked else "not_selected", float(is_ticked)


def _preference(choice, *, ours, gt):
    for output, option in ((ours, "expl_1"), (gt, "expl_2")):
        if choice:
            value = (
                "no_preference" if choice == "no_preference" else "preferred" if choice == option else "other"
            )
            yield output, "preference", value, float(value == "preferred")


def _chosen(options: dict[str, bool]) -> str:
    return next((option for option, is_on in options.items() if is_on), "")
