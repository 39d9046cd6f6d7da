"""One person who came by a personal link: start, answer one annotation, be shown the next."""

from dataclasses import dataclass

from surveys.rehearsal.browser import Answer
from surveys.rehearsal.hit_page import UnexpectedPage, headline, read_hit_page
from surveys.rehearsal.people import Kind
from surveys.rehearsal.visits import Visit, Visitor


@dataclass(slots=True)
class LinkVisitor(Visitor):
    """Somebody with a personal address."""

    address: str

    def start(self) -> "LinkVisit | None":
        """Ask for the next annotation. None if there is nothing for this person now."""
        return self.opened(self.browser.post_form(self.address, []))

    def opened(self, answer: Answer) -> "LinkVisit | None":
        """Return the work a page shows, None if it shows none."""
        page = self.past_the_quiz(answer.url)
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
