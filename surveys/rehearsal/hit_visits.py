"""One worker on one HIT: accept it on the marketplace, work in its frame, submit to us, then tell the marketplace."""

from dataclasses import dataclass
from urllib.parse import urljoin

from surveys.rehearsal.browser import Answer
from surveys.rehearsal.hit_page import UnexpectedPage, headline, read_hit_page, read_last_form
from surveys.rehearsal.markup import Element, Form
from surveys.rehearsal.people import Kind
from surveys.rehearsal.visits import Visit, Visitor


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
        return HitVisit(visitor=self, url=url, page=read_hit_page(self.past_the_quiz(url).root))

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
