"""What an Assent has: studies, items, batches and what became of them. Each knows how to ask for more."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any, Self

from assent_client.errors import AssentError, Mistake, mistake_of
from assent_client.transport import Transport

POLL_SECONDS = 5.0
Content = str | Path | bytes


@dataclass(frozen=True, slots=True)
class _Row:
    """A part of an answer; keys that this version does not know are left out."""

    @classmethod
    def of(cls, data: Mapping[str, Any], **more: Any) -> Self:
        names = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in data.items() if name in names}, **more)


@dataclass(frozen=True, slots=True)
class Money:
    """An amount, exact to the cent."""

    amount: Decimal
    currency: str = "USD"

    @classmethod
    def of(cls, data: Mapping[str, str]) -> Self:
        return cls(Decimal(data["amount"]), data["currency"])

    def as_data(self) -> dict[str, str]:
        return {"amount": f"{self.amount:.2f}", "currency": self.currency}

    def __str__(self) -> str:
        return f"{self.amount:.2f} {self.currency}"


@dataclass(frozen=True, slots=True)
class Price:
    """What a draft costs if it is published as it stands; `total` has the fee."""

    total: Money
    fee_total: Money
    worst_case_total: Money
    hourly_wage: Money
    n_hits: int
    n_assignments: int

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Self:
        return cls(
            total=Money.of(data["total"]),
            fee_total=Money.of(data["fee_total"]),
            worst_case_total=Money.of(data["worst_case_total"]),
            hourly_wage=Money.of(data["hourly_wage"]),
            n_hits=data["n_hits"],
            n_assignments=data["n_assignments"],
        )


@dataclass(frozen=True, slots=True)
class Progress(_Row):
    """Where a batch stands, in assignments."""

    status: str
    error: str
    is_done: bool
    n_wanted: int
    n_kept: int
    n_open: int
    n_submitted: int
    n_approved: int
    n_rejected: int
    n_waiting: int


@dataclass(frozen=True, slots=True)
class Item(_Row):
    """One item; `outputs` are {"system", "text", "answer"}."""

    id: str
    subject: str
    question: str
    answer: str
    outputs: list[dict[str, str]]
    n_pictures: int
    n_missing_pictures: int


@dataclass(frozen=True, slots=True)
class Imported(_Row):
    """What a file made, or would make."""

    is_dry_run: bool
    n_items: int
    n_missing_pictures: int
    can_be_imported: bool
    problems: list[Mistake]
    first_ids: list[str]


@dataclass(frozen=True, slots=True)
class SurveyType(_Row):
    """A survey type; `document` and `columns` ({"name", "label", "is_required"}) where it was asked for by its key."""

    key: str
    name: str
    version: int
    is_built_in: bool
    document: str | None = None
    columns: list[dict[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Assignment(_Row):
    """One person's work on one HIT, under their pseudonym."""

    id: int
    batch: int
    status: str
    worker: str
    verdict: str | None
    reason: str
    _ask: Transport = field(repr=False, compare=False)

    def approve(self, reason: str = "") -> "Assignment":
        return self._decide("approve", reason)

    def reject(self, reason: str) -> "Assignment":
        """The worker reads the reason."""
        return self._decide("reject", reason)

    def _decide(self, action: str, reason: str) -> "Assignment":
        path = f"/batches/{self.batch}/assignments/{self.id}/decision"
        return Assignment.of(self._ask.post(path, {"action": action, "reason": reason}), _ask=self._ask)


@dataclass(frozen=True, slots=True)
class Batch(_Row):
    """A batch as it was when it was asked for."""

    id: int
    study: str
    name: str
    status: str
    error: str
    url: str
    is_simulated: bool
    follows: int | None
    terms: dict[str, Any]
    price: Price | None
    problems: list[str]
    warnings: list[str]
    _ask: Transport = field(repr=False, compare=False)

    @classmethod
    def of(cls, data: Mapping[str, Any], **more: Any) -> Self:
        price = Price.of(data["price"]) if data["price"] else None
        return super(Batch, cls).of({**data, "price": price}, **more)

    def refresh(self) -> "Batch":
        return Batch.of(self._ask.get(f"/batches/{self.id}"), _ask=self._ask)

    def change(self, **terms: Any) -> "Batch":
        """Change a draft; the answer has the new price."""
        return Batch.of(self._ask.patch(f"/batches/{self.id}", terms_of(terms)), _ask=self._ask)

    def publish(
        self, *, total: Money | None = None, confirmation: str = "", key: str | None = None
    ) -> "Batch":
        """Publish a draft for `total`, by default the price it came with; another price today is refused.

        Where money is real, `confirmation` is the batch's name. Published twice, it costs once.
        """
        seen = total or (self.price.total if self.price else Money(Decimal(0)))
        body = {"total": seen.as_data(), "confirmation": confirmation}
        return Batch.of(self._ask.post(f"/batches/{self.id}/publish", body, key=key), _ask=self._ask)

    def simulate(self, n_people: int = 12, *, key: str | None = None) -> "Batch":
        """Have simulated people answer a copy of this draft, which is returned; or send more to such a copy."""
        answer = self._ask.post(f"/batches/{self.id}/simulate", {"n_people": n_people}, key=key)
        return Batch.of(answer, _ask=self._ask)

    def plan_rest(self, *, wage: Decimal | str | None = None, key: str | None = None) -> "Batch":
        """Draft what follows this pilot: the items it did not show, for people who were not in it.

        It pays `wage` dollars an hour for the minutes the pilot took, else what the pilot paid.
        """
        body = {"wage": None if wage is None else Money(Decimal(wage)).as_data()}
        return Batch.of(self._ask.post(f"/batches/{self.id}/rest", body, key=key), _ask=self._ask)

    def stop(self) -> "Batch":
        return Batch.of(self._ask.post(f"/batches/{self.id}/stop"), _ask=self._ask)

    def raise_budget(self, amount: Decimal | str) -> "Batch":
        body = {"budget": Money(Decimal(amount)).as_data()}
        return Batch.of(self._ask.post(f"/batches/{self.id}/budget", body), _ask=self._ask)

    def invite(
        self,
        people: Iterable[str | Mapping[str, str]],
        *,
        valid_until: date | None = None,
        max_assignments: int | None = None,
        key: str | None = None,
    ) -> list["Invitation"]:
        """Invite people, all or none, and return them with their links. Nobody is sent anything by Assent.

        A person is a name, or `{"name", "email", "worker_id"}`. Links are valid for 30 days unless `valid_until`
        says another last day. Invalid names whoever can't be invited.
        """
        body = {
            "people": [{"name": one} if isinstance(one, str) else dict(one) for one in people],
            "valid_until": valid_until and valid_until.isoformat(),
            "max_assignments": max_assignments,
        }
        answer = self._ask.post(f"/batches/{self.id}/invitations", body, key=key)
        made = {one["id"] for one in answer["results"]}
        return [one for one in self.invitations() if one.id in made]

    def invitations(self) -> Iterator["Invitation"]:
        """Yield whom the batch has invited; a `link` is None once it opens nothing any more."""
        return (Invitation.of(row) for row in self._ask.pages(f"/batches/{self.id}/invitations"))

    def progress(self) -> Progress:
        return Progress.of(self._ask.get(f"/batches/{self.id}/progress"))

    def wait(
        self,
        *,
        timeout: float | None = None,
        every: float = POLL_SECONDS,
        show: Callable[[Progress], object] = lambda progress: None,
    ) -> Progress:
        """Wait until it is done or stopped, and `show` how far it is each time. Raises TimeoutError after `timeout`
        seconds, and AssentError where it stands still for a reason."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            progress = self.progress()
            show(progress)
            if progress.is_done or progress.status == "stopped":
                return progress
            if progress.error:
                raise AssentError(progress.error)
            _rest(every, until, of=f"{progress.n_kept} of {progress.n_wanted} assignments are in.")

    def report(self, *, timeout: float = 300, every: float = 1.0) -> dict[str, Any] | None:
        """Return the numbers as they are now, None while nothing was handed in; waits while they are made."""
        until = time.monotonic() + timeout
        while not (answer := self._ask.get(f"/batches/{self.id}/report"))["is_current"]:
            _rest(every, until, of=answer["error"] or "The report is being made.")
        report: dict[str, Any] | None = answer["report"]
        return report

    def files(self) -> list[str]:
        """Return the names of the files you may have."""
        return [one["name"] for one in self._ask.get(f"/batches/{self.id}/files")["results"]]

    def save(self, name: str, to: str | Path) -> Path:
        """Write one of the files (`tidy`, `raw`, `processed`, `table` and so on) to a path of yours."""
        return self._ask.save(f"/batches/{self.id}/files/{name}", Path(to))

    def assignments(self) -> Iterator[Assignment]:
        """Yield everybody's work in the order it was begun."""
        for row in self._ask.pages(f"/batches/{self.id}/assignments", waiting="all"):
            yield Assignment.of(row, _ask=self._ask)

    def waiting(self) -> Iterator[Assignment]:
        """Yield the assignments that wait for a person's decision."""
        for row in self._ask.pages(f"/batches/{self.id}/assignments", waiting="held"):
            yield Assignment.of(row, _ask=self._ask)


@dataclass(frozen=True, slots=True)
class Invitation(_Row):
    """Somebody who comes by a personal link: whoever has `link` is that person."""

    id: int
    name: str
    email: str
    link: str | None
    expires_at: str
    is_revoked: bool
    max_assignments: int | None


@dataclass(frozen=True, slots=True)
class Study(_Row):
    """A study; `slug` is its short name."""

    slug: str
    name: str
    survey_type: str
    n_items: int
    n_batches: int
    url: str
    _ask: Transport = field(repr=False, compare=False)

    def import_items(
        self,
        items: Content,
        *,
        pictures: Content | None = None,
        columns: Mapping[str, str] | None = None,
        dry_run: bool = False,
        key: str | None = None,
        **how: Any,
    ) -> Imported:
        """Import a CSV, Excel or JSONL file (a path, or the bytes), with a ZIP of its pictures.

        `columns` says what the file's are called, {our name: the file's}; our names are `SurveyType.columns`.
        FileRefused names each wrong row.
        """
        files = {"items": file_of(items, "items")}
        files |= {"archive": file_of(pictures, "pictures.zip")} if pictures is not None else {}
        fields_ = {**how, **({"columns": json.dumps(columns)} if columns else {})}
        answer = self._ask.upload(f"/studies/{self.slug}/items", fields_, files, key=key, dry_run=dry_run)
        problems = [mistake_of(one) for one in answer.pop("problems")]
        return Imported.of(answer, problems=problems)

    def attach_pictures(self, pictures: Content, *, key: str | None = None) -> int:
        """Bring pictures, a ZIP, to items that were imported without; return how many names still wait for theirs."""
        files = {"archive": file_of(pictures, "pictures.zip")}
        n_missing: int = self._ask.upload(f"/studies/{self.slug}/pictures", {}, files, key=key)["n_missing"]
        return n_missing

    def items(self) -> Iterator[Item]:
        return (Item.of(row) for row in self._ask.pages(f"/studies/{self.slug}/items"))

    def batches(self) -> Iterator[Batch]:
        for row in self._ask.pages(f"/studies/{self.slug}/batches"):
            yield Batch.of(row, _ask=self._ask)

    def draft(self, *, key: str | None = None, **terms: Any) -> Batch:
        """Draft a batch: `reward="0.50"`, `assignments_per_hit=3` and so on. It has a price, and costs nothing yet.

        With a `key` of yours, here as elsewhere, it is made once a day, however often it is asked for.
        """
        made = self._ask.post(f"/studies/{self.slug}/batches", terms_of(terms), key=key)
        return Batch.of(made, _ask=self._ask)


def terms_of(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return terms as the API takes them; a reward or budget may be Money, a Decimal or a text."""
    given = dict(terms)
    for name in ("reward", "budget"):
        if given.get(name) is not None and not isinstance(given[name], dict):
            amount = given[name]
            money = amount if isinstance(amount, Money) else Money(Decimal(str(amount)))
            given[name] = money.as_data()
    return given


def _rest(seconds: float, until: float | None, *, of: str) -> None:
    if until is not None and time.monotonic() + seconds > until:
        raise TimeoutError(of)
    time.sleep(seconds)


def file_of(content: Content, name: str) -> tuple[str, bytes]:
    if isinstance(content, bytes):
        return name, content
    path = Path(content)
    return path.name, path.read_bytes()
