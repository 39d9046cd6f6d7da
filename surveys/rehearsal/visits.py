"""One worker on one page of work, step by step as a browser would take it: open, save drafts, submit."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urljoin

from surveys.rehearsal.behaviour import Answers, answers_for, forgets, guesses, seconds_for, skips
from surveys.rehearsal.browser import Answer, Browser
from surveys.rehearsal.hit_page import (
    HitPage,
    ItemView,
    UnexpectedPage,
    headline,
    read_quiz,
)
from surveys.rehearsal.knowledge import Knowledge
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

    def past_the_quiz(self, url: str) -> Answer:
        """Return the page at `url`; where a quiz stands before it, after answering that."""
        answer = self.browser.get(url)
        while quiz := read_quiz(answer.root):
            self._answer(quiz, answer.url)
            answer = self.browser.get(answer.url)
        return answer

    def _answer(self, quiz: HitPage, url: str) -> None:
        given = guesses(quiz.items[0], person=self.person, seed=self.world.seed)
        chosen = {name: str(value) for name, value in given.items()}
        answer = self.browser.post_form(urljoin(url, quiz.form.action), (quiz.form.hidden | chosen).items())
        if answer.status != 200:
            raise UnexpectedPage(f"The quiz was not taken: {headline(answer.root)}")


@dataclass(slots=True)
class Visit:
    """A page of work that one worker has open."""

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

    def send(self) -> Answer:
        """Post the answers; what was forgotten the first time is there the second time."""
        answer = self.post(self._fields(is_first_try=True))
        return self.post(self._fields(is_first_try=False)) if answer.status == 422 else answer

    def first_options(self) -> list[tuple[str, str]]:
        """Return the fields of other answers: the first choice everywhere."""
        return [
            (group.name, group.options[0].value if group.options else "x")
            for item in self.page.items
            for group in item.all_groups()
        ]

    def post(self, fields: Iterable[tuple[str, str]]) -> Answer:
        return self.visitor.browser.post_form(urljoin(self.url, self.page.form.action), fields)

    @property
    def skipped(self) -> list[ItemView]:
        """The items this worker says can't be judged."""
        seed = self.visitor.world.seed
        return [item for item in self.page.items if skips(item, person=self.person, seed=seed)]

    def _fields(self, *, is_first_try: bool) -> Iterator[tuple[str, str]]:
        yield from (self.page.form.hidden | self._seconds()).items()
        for item in self.skipped:
            yield "skip", str(item.position)
            yield f"{item.prefix}skip", skips(item, person=self.person, seed=self.visitor.world.seed)
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
