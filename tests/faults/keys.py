"""A script that asks under a key, loses its answer with the server, and asks again until it has one."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import urllib3
from django.contrib.auth.models import User

from surveys.api import tokens
from surveys.models import Batch, Invitation, Item, Survey
from tests import factories
from tests.faults.stack import PATIENCE_SECONDS, POLL_SECONDS
from tests.faults.studies import Lab, skip_waits

CSV = b"""item_id,image,question,answer,choices,system,explanation
one,one.png,Is it raining?,yes,yes|no,ofa-x,People hold umbrellas.
one,one.png,Is it raining?,yes,yes|no,ground_truth,The street is wet.
"""
ONCE = {"draft": 1, "invitations": 2, "items": 1}
AGAIN = {409, 500, 502, 503}  # the key of whoever died is in use until it is long gone


@dataclass(frozen=True)
class Script:
    """Asks with a token of the researcher's for one of `ONCE`."""

    lab: Lab
    survey: Survey
    batch: Batch
    token: str

    def ask(self, what: str) -> tuple[int, Any]:
        """Return what is answered in the end."""
        until = time.monotonic() + PATIENCE_SECONDS
        while (answer := self._ask_once(what)) is None or answer.status in AGAIN:
            assert time.monotonic() < until, answer and answer.data
            self.lab.stack.revive()
            time.sleep(POLL_SECONDS)
            skip_waits()
        return answer.status, answer.json()

    def wrong(self, what: str) -> Iterator[str]:
        """Say how often it was made, if not once."""
        made = {
            "draft": self.survey.batches.filter(status=Batch.Status.DRAFT).count(),
            "invitations": Invitation.objects.filter(batch=self.batch).count(),
            "items": Item.objects.filter(survey=self.survey).count(),
        }
        if made != {**dict.fromkeys(ONCE, 0), what: ONCE[what]}:
            yield f"{made}"

    def _ask_once(self, what: str) -> urllib3.BaseHTTPResponse | None:
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": f"{self.survey.slug} {what}"}
        try:
            return self.lab.crowd.pool.request("POST", headers=headers, **self._wish(what))
        except urllib3.exceptions.HTTPError:
            return None

    def _wish(self, what: str) -> dict[str, Any]:
        root = f"{self.lab.stack.app_url}/api/v1"
        study, people = f"{root}/studies/{self.survey.slug}", [{"name": "Ann"}, {"name": "Ben"}]
        upload = {"items": ("items.csv", CSV), "allow_missing": "true", "accept_warnings": "true"}
        wishes: dict[str, dict[str, Any]] = {
            "draft": {"url": f"{study}/batches", "json": {}},
            "invitations": {"url": f"{root}/batches/{self.batch.pk}/invitations", "json": {"people": people}},
            "items": {"url": f"{study}/items", "fields": upload},
        }
        return wishes[what]


def make_script(lab: Lab) -> Script:
    """Return a script with a study of no items, and an open batch to which people come by link."""
    survey = factories.make_survey(n_items=0, slug=factories.new_id("keys-"))
    batch = factories.make_batch(survey, endpoint="link", takes_links=True)
    user = User.objects.get(username="researcher")
    name = f"of {survey.slug}"
    return Script(lab, survey, batch, tokens.make(user, name=name, expires_at=None, is_read_only=False)[1])
