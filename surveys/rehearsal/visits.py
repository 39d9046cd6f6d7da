"""One worker on one page of work, step by step as a browser would take it: open, save drafts, submit.

On the marketplace they accept a HIT, work in its frame, submit to us, then tell the marketplace. Who came by a personal
link answers one annotation and is shown the next.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from urllib.parse import urljoin

from surveys.rehearsal.browser import Answer, Browser
from surveys.rehearsal.hit_page import (
    Element,
    Form,
    HitPage,
    headline,
    read_consent,
    read_hit_page,
    read_last_form,
    read_quiz,
)
from surveys.rehearsal.knowledge import Knowledge
from surveys.simulating.people import (
    COMMENT,
    Answers,
    Kind,
    Person,
    answers_for,
    forgets,
    guesses,
    seconds_for,
    skips,
)
from surveys.simulating.views import ItemView, UnexpectedPage

DRAFTS = 2  # items whose drafts a worker saves before submitting; more would tell nothing new


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

    def to_the_work(self, url: str) -> Answer:
        """Return the page at `url`; where people are asked to agree, or a quiz stands before it, after those."""
        answer = self.browser.get(url)
        while consent := read_consent(answer.root):
            answer = self._agree(consent, answer.url)
        while quiz := read_quiz(answer.root):
            self._answer(quiz, answer.url)
            answer = self.browser.get(answer.url)
        return answer

    def _agree(self, consent: Form, url: str) -> Answer:
        """Agree; the careless press the wrong button first, and are asked again."""
        address = urljoin(url, consent.action)
        if self.person.kind == Kind.CARELESS:
            self.browser.post_form(address, (consent.hidden | {"consent": "decline"}).items())
            if read_consent(self.browser.get(url).root) is None:
                raise UnexpectedPage(f"{self.person.worker_id} did not agree, and was not asked again.")
        answer = self.browser.post_form(address, (consent.hidden | {"consent": "agree"}).items())
        if answer.status != 200 or read_consent(answer.root):
            raise UnexpectedPage(f"{self.person.worker_id} agreed in vain: {headline(answer.root)}")
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
        unseen = {name for item in self.page.items for name in item.missing} - seen
        seen |= unseen
        missing = len(unseen)
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
            (group.name, group.options[0].value if group.options else group.sample or "x")
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


@dataclass(slots=True)
class HitVisitor(Visitor):
    """A worker of the marketplace."""

    is_signed_in: bool = False

    def accept(self, *, hit_type_id: str, hit_id: str) -> "HitVisit":
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
        url = frame.attributes["src"]
        return HitVisit(visitor=self, url=url, page=read_hit_page(self.to_the_work(url).root))

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


@dataclass(slots=True)
class HitVisit(Visit):
    """A HIT that one worker has open in the frame."""

    def submit(self) -> None:
        """Post the answers, then tell the marketplace. Raises UnexpectedPage unless both take them."""
        form = read_last_form(self.send().root)
        if self.person.kind == Kind.DOUBLE_SUBMITTER:
            self._post_other_answers(expected=form)
        self._tell(form, expected=200)
        if self.person.kind == Kind.DOUBLE_SUBMITTER:
            self._tell(form, expected=400)
            self.is_doubled = True

    def _post_other_answers(self, *, expected: Form) -> None:
        """Post a HIT that is saved once more, answered differently: what was saved must stand."""
        again = read_last_form(self.post([*self.page.form.hidden.items(), *self.first_options()]).root)
        if again != expected:
            raise UnexpectedPage(f"A second submission by {self.person.worker_id} changed the first one.")

    def _tell(self, form: Form, *, expected: int) -> None:
        answer = self.visitor.browser.post_form(form.action, form.hidden.items())
        if answer.status != expected:
            raise UnexpectedPage(
                f"The marketplace answered {answer.status}, not {expected}: {headline(answer.root)}"
            )


def _form(answer: Answer, name: str) -> Form:
    form: Element | None = answer.root.find("form", id=name)
    if form is None:
        raise UnexpectedPage(f"No form to {name.replace('-', ' ')}: {headline(answer.root)}")
    return Form.of(form)


@dataclass(slots=True)
class LinkVisitor(Visitor):
    """Somebody with a personal address."""

    address: str

    def start(self) -> "LinkVisit | None":
        """Ask for the next annotation. None if there is nothing for this person now."""
        return self.opened(self.browser.post_form(self.address, []))

    def opened(self, answer: Answer) -> "LinkVisit | None":
        """Return the work a page shows, None if it shows none."""
        page = self.to_the_work(answer.url)
        if page.root.find("form", id="hit") is None:
            return None
        return LinkVisit(visitor=self, url=page.url, page=read_hit_page(page.root))


@dataclass(slots=True)
class LinkVisit(Visit):
    """An annotation that one person has open."""

    def submit(self) -> "LinkVisit | None":
        """Post the answers; return the next annotation, None if there is none. UnexpectedPage if they are refused."""
        answer = self.send()
        if answer.status != 200:
            raise UnexpectedPage(f"The answers were not taken: {answer.status} {headline(answer.root)}")
        if self.person.kind == Kind.DOUBLE_SUBMITTER:
            self._post_other_answers()
        return self._visitor.opened(answer)

    @property
    def _visitor(self) -> LinkVisitor:
        if not isinstance(self.visitor, LinkVisitor):
            raise TypeError("A link's page is open to who has the link.")
        return self.visitor

    def _post_other_answers(self) -> None:
        """Send the page once more, answered differently: it must ask before it changes what was saved."""
        again = self.post([*self.page.form.hidden.items(), *self.first_options()])
        if again.status not in {200, 409}:
            raise UnexpectedPage(f"A page sent twice was answered by {again.status}: {headline(again.root)}")
        self.is_doubled = True
