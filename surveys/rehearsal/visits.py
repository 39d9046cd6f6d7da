"""One worker on one HIT, step by step as a browser would take it: accept, open, save drafts, submit, tell."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urljoin

from surveys.rehearsal.behaviour import Answers, answers_for, forgets, seconds_for
from surveys.rehearsal.browser import Answer, Browser
from surveys.rehearsal.hit_page import (
    HitPage,
    ItemView,
    UnexpectedPage,
    headline,
    read_hit_page,
    read_last_form,
)
from surveys.rehearsal.knowledge import Knowledge
from surveys.rehearsal.markup import Element, Form
from surveys.rehearsal.people import Kind, Person

DRAFTS = 2  # items whose drafts a worker saves before submitting; more would tell nothing new
COMMENT = "Some of the pictures were small, but it was fun – thank you!"


@dataclass(frozen=True, slots=True)
class World:
    """What all workers have in common: the marketplace's address, the study's seed, and what can be known."""

    marketplace_url: str
    seed: int
    knowledge: Knowledge


@dataclass(slots=True)
class Visitor:
    """A person with a browser."""

    person: Person
    browser: Browser
    world: World
    is_signed_in: bool = False

    def accept(self, *, hit_type_id: str, hit_id: str) -> "Visit":
        """Accept one HIT and open its page. Raises UnexpectedPage if the marketplace gives no such work."""
        self._sign_in()
        preview = self._see(f"/projects/{hit_type_id}/tasks")
        form = _form(preview, "accept")
        work = self.browser.post_form(
            urljoin(preview.url, form.action), (form.hidden | {"hitId": hit_id}).items()
        )
        frame = work.root.find("iframe", id="task")
        if frame is None or hit_id not in work.url:
            raise UnexpectedPage(f"{self.person.worker_id} did not get HIT {hit_id}: {headline(work.root)}")
        return self._open(frame.attributes["src"])

    def _sign_in(self) -> None:
        if self.is_signed_in:
            return
        page = self._see("/sign-in")
        form = _form(page, "sign-in")
        identity = {"worker_id": self.person.worker_id, "access_code": self.person.access_code}
        answer = self.browser.post_form(urljoin(page.url, form.action), (form.hidden | identity).items())
        if answer.status != 200:
            raise UnexpectedPage(f"{self.person.worker_id} can't sign in: {headline(answer.root)}")
        self.is_signed_in = True

    def _see(self, path: str) -> Answer:
        return self.browser.get(self.world.marketplace_url + path)

    def _open(self, url: str) -> "Visit":
        answer = self.browser.get(url)
        return Visit(visitor=self, url=url, page=read_hit_page(answer.root))


@dataclass(slots=True)
class Visit:
    """A HIT that one worker has open in the frame."""

    visitor: Visitor
    url: str
    page: HitPage
    answers: dict[int, Answers] = field(default_factory=dict)
    is_doubled: bool = False

    @property
    def person(self) -> Person:
        return self.visitor.person

    @property
    def n_right(self) -> int:
        """How many answers are right by the item file. Drawn before anything is posted."""
        knowledge = self.visitor.world.knowledge
        return sum(
            self.answers[item.position][item.answer.name] == knowledge.right_answer(item)
            for item in self.page.items
            if item.answer
        )

    def look(self, *, seen: set[str]) -> int:
        """Fetch the pictures nobody has fetched yet. Returns how many are not there."""
        missing = 0
        for picture in (picture for item in self.page.items for picture in item.pictures):
            if picture not in seen:
                seen.add(picture)
                missing += self.visitor.browser.get(urljoin(self.url, picture)).status != 200
        return missing

    def think(self) -> None:
        """Make up one's mind, and save the drafts of the first items."""
        world = self.visitor.world
        for item in self.page.items:
            self.answers[item.position] = answers_for(
                item, person=self.person, knowledge=world.knowledge, seed=world.seed
            )
        for item in self.page.items[:DRAFTS]:
            self._save_draft(item)

    def submit(self) -> None:
        """Post the answers, then tell the marketplace. Raises UnexpectedPage unless both take them."""
        answer = self._post(self._fields(is_first_try=True))
        if answer.status == 422:
            answer = self._post(self._fields(is_first_try=False))
        form = read_last_form(answer.root)
        if self.person.kind == Kind.DOUBLE_SUBMITTER:
            self._post_other_answers(expected=form)
        self._tell(form, expected=200)
        if self.person.kind == Kind.DOUBLE_SUBMITTER:
            self._tell(form, expected=400)
            self.is_doubled = True

    def _post_other_answers(self, *, expected: Form) -> None:
        """Post a HIT that is saved once more, answered differently: what was saved must stand."""
        first_options = [
            (group.name, group.options[0].value) for item in self.page.items for group in item.all_groups()
        ]
        again = read_last_form(self._post([*self.page.form.hidden.items(), *first_options]).root)
        if again != expected:
            raise UnexpectedPage(f"A second submission by {self.person.worker_id} changed the first one.")

    def _tell(self, form: Form, *, expected: int) -> None:
        answer = self.visitor.browser.post_form(form.action, form.hidden.items())
        if answer.status != expected:
            raise UnexpectedPage(
                f"The marketplace answered {answer.status}, not {expected}: {headline(answer.root)}"
            )

    def _post(self, fields: Iterable[tuple[str, str]]) -> Answer:
        return self.visitor.browser.post_form(urljoin(self.url, self.page.form.action), fields)

    def _fields(self, *, is_first_try: bool) -> Iterator[tuple[str, str]]:
        yield from (self.page.form.hidden | self._seconds()).items()
        for item in self.page.items:
            left_open = is_first_try and forgets(item, person=self.person, seed=self.visitor.world.seed)
            for name, given in list(self.answers[item.position].items())[left_open:]:
                yield from ((name, value) for value in ([given] if isinstance(given, str) else given))
        if self.person.kind == Kind.CARELESS:
            yield "comment", COMMENT

    def _seconds(self) -> dict[str, str]:
        return {
            f"{item.prefix}seconds": str(seconds_for(item, person=self.person, seed=self.visitor.world.seed))
            for item in self.page.items
        }

    def _save_draft(self, item: ItemView) -> None:
        draft = {name.removeprefix(item.prefix): given for name, given in self.answers[item.position].items()}
        saved = self.visitor.browser.post_json(
            urljoin(self.url, self.page.draft_url),
            {
                "token": self.page.form.hidden["token"],
                "position": item.position,
                "version": item.version + 1,
                "seconds": seconds_for(item, person=self.person, seed=self.visitor.world.seed),
                "answers": draft,
            },
        )
        if saved.status != 200:
            raise UnexpectedPage(f"A draft was not saved: {saved.status} {saved.body[:200].decode()}")


def _form(answer: Answer, name: str) -> Form:
    form: Element | None = answer.root.find("form", id=name)
    if form is None:
        raise UnexpectedPage(f"No form to {name.replace('-', ' ')}: {headline(answer.root)}")
    return Form.of(form)
