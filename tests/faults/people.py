"""Simulated people whose connection breaks when a server dies, and who then do what people do: try again."""

import time
from collections.abc import Callable
from typing import Any

import urllib3

from surveys.rehearsal.browser import Answer, Browser, new_pool
from surveys.rehearsal.hit_page import Form
from surveys.rehearsal.stage import Control
from surveys.rehearsal.visits import HitVisitor, LinkVisitor, World
from surveys.simulating.people import Kind, Person
from tests.always_yes import AlwaysYes
from tests.faults.stack import CONTROL_TOKEN, PATIENCE_SECONDS, POLL_SECONDS, Stack

N_WORKERS = 16
MOST_CALLS_SHOWN = 500
BROKEN = {500, 502, 503}


class PatientBrowser(Browser):
    """Repeats a request that nobody answered; a draft under the next version, as the page's script does.

    `revive` starts what has died meanwhile.
    """

    def __init__(self, pool: urllib3.PoolManager, *, revive: Callable[[], None]) -> None:
        super().__init__(pool)
        self.revive = revive
        self.has_repeated = False

    def post_json(self, url: str, data: Any) -> Answer:
        answer = super().post_json(url, data)
        is_overtaken = self.has_repeated and answer.status == 409
        return super().post_json(url, data | {"version": data["version"] + 1}) if is_overtaken else answer

    def _request(self, *arguments: Any, **named: Any) -> Answer:
        until = time.monotonic() + PATIENCE_SECONDS
        self.has_repeated = False
        while True:
            try:
                answer = super()._request(*arguments, **named)
            except urllib3.exceptions.HTTPError:
                assert time.monotonic() < until, "The web server does not come back."
            else:
                if answer.status not in BROKEN or time.monotonic() > until:
                    return answer
            self.has_repeated = True
            self.revive()
            time.sleep(POLL_SECONDS)


class Crowd:
    """Workers of the marketplace, signed in once and then at hand for every study."""

    def __init__(self, stack: Stack) -> None:
        self.pool, self.revive = new_pool(), stack.revive
        self.world = World(stack.marketplace_url, 1, AlwaysYes())
        self.control = Control(stack.marketplace_url, CONTROL_TOKEN, self.pool)
        accounts = self.control.workers(count=N_WORKERS, seed=1)
        self.visitors = [self._visitor(*account) for account in accounts]

    def worker(self, number: int, *, is_right: bool = True) -> HitVisitor:
        """Return worker `number`, who will answer everything right, or everything wrong."""
        visitor = self.visitors[number]
        old = visitor.person
        visitor.person = Person(old.worker_id, old.access_code, old.kind, float(is_right), 1.0)
        return visitor

    def calls(self, operation: str, *, after: int) -> list[dict[str, Any]]:
        """Return the calls of an operation that the marketplace has logged since number `after`."""
        found: list[dict[str, Any]] = self._control("GET", f"calls?operation={operation}&after={after}")
        assert len(found) < MOST_CALLS_SHOWN
        return found

    def plan_faults(self, *, operation: str, kind: str, times: int) -> None:
        """Let the next calls go wrong; an empty operation means every call."""
        self._control("POST", "faults", {"operation": operation, "kind": kind, "times": times})

    def clear_faults(self) -> int:
        """Let all calls go well again; return how many were still to go wrong."""
        left = sum(fault["times"] for fault in self._control("GET", "faults"))
        self._control("DELETE", "faults")
        return left

    def _control(self, method: str, path: str, data: Any = None) -> Any:
        url = f"{self.world.marketplace_url}/control/{path}"
        headers = {"Authorization": f"Bearer {CONTROL_TOKEN}"}
        return self.pool.request(method, url, headers=headers, json=data).json()

    def invited(self, name: str, *, address: str, is_patient: bool) -> LinkVisitor:
        person = Person(name, "", Kind.DILIGENT, 1.0, 1.0)
        browser = PatientBrowser(self.pool, revive=self.revive) if is_patient else Browser(self.pool)
        return LinkVisitor(person, browser, self.world, address)

    def _visitor(self, worker_id: str, code: str) -> HitVisitor:
        person = Person(worker_id, code, Kind.DILIGENT, 1.0, 1.0)
        return HitVisitor(person, PatientBrowser(self.pool, revive=self.revive), self.world)


class Researcher:
    """A superuser at their browser."""

    def __init__(self, stack: Stack, crowd: Crowd, *, name: str, password: str) -> None:
        self.admin = f"{stack.app_url}/admin/"
        self.browser = PatientBrowser(crowd.pool, revive=crowd.revive)
        self.csrf = self._csrf_of(f"{self.admin}login/")
        self.submit(f"{self.admin}login/", username=name, password=password)
        self.csrf = self._csrf_of(self.admin)

    def submit(self, url: str, **fields: str) -> Answer:
        """Send a form to an address."""
        return self.browser.post_form(url, (self.csrf | fields).items())

    def _csrf_of(self, page: str) -> dict[str, str]:
        name = "csrfmiddlewaretoken"
        forms = [Form.of(element) for element in self.browser.get(page).root.all("form")]
        return {name: next(form.hidden[name] for form in forms if name in form.hidden)}
