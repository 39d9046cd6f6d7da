"""The marketplace's control API: workers from a seed, a clock that can be moved, the ledger."""

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import urllib3


class ControlError(Exception):
    """The control API refused; the message is its own."""


@dataclass(frozen=True, slots=True)
class Control:
    url: str
    token: str
    pool: urllib3.PoolManager

    def workers(self, *, count: int, seed: int) -> list[tuple[str, str]]:
        """Return the first `count` (worker id, access code) of a seed, made where they did not exist."""
        made = self._call("POST", "workers", {"count": count, "seed": seed})
        return [(worker["worker_id"], worker["access_code"]) for worker in made]

    def advance(self, *, seconds: int) -> None:
        """Let time pass on the marketplace: what was abandoned runs out."""
        self._call("POST", "advance", {"seconds": seconds})

    def charged(self) -> Decimal:
        """Return the dollars charged to all requesters, fees included. ControlError if the books don't balance."""
        ledger = self._call("GET", "ledger")
        problems = [problem for row in ledger["requesters"] for problem in row["problems"]]
        if problems or not ledger["is_sound"]:
            raise ControlError(f"The marketplace's ledger is not sound: {' '.join(problems)}")
        return sum((Decimal(row["charged"]) for row in ledger["requesters"]), Decimal(0))

    def _call(self, method: str, name: str, data: dict[str, Any] | None = None) -> Any:
        response = self.pool.request(
            method,
            f"{self.url}/control/{name}",
            body=json.dumps(data).encode() if data is not None else None,
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        if response.status != 200:
            raise ControlError(f"{method} /control/{name}: {response.status} {response.data[:300].decode()}")
        return json.loads(response.data)
