"""The head of every page of a study: where one is, how it stands, and the one next step."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.urls import reverse

from surveys.models import Batch, Survey
from surveys.pages.study.problems import SEES, n_open
from surveys.publishing import pricing
from surveys.publishing.quota import has_slots
from surveys.review.progress import CountedBatch, with_counts
from surveys.teams import Person

Status = Batch.Status
# Which tab an address belongs to, by its name in urls.py.
PLACES = {
    "study": "Batches",
    "study_items": "Items",
    "import_items": "Items",
    "import_pictures": "Items",
    "pictures_job": "Items",
    "import_columns": "Items",
    "import_preview": "Items",
    "import_job": "Items",
    "settle_problem": "Items",
    "study_design": "Design",
    "study_settings": "Settings",
    "save_consent": "Settings",
    "invite_colleague": "Settings",
    "add_colleague": "Settings",
    "study_script": "Settings",
    "study_webhooks": "Settings",
    "launch": "Launch",
    "batch_launch": "Launch",
    "batch": "Launch",
    "batch_publish": "Launch",
    "batch_stop": "Launch",
    "batch_simulate": "Launch",
    "batch_pilot": "Launch",
    "batch_budget": "Launch",
    "batch_policy": "Launch",
    "batch_trail": "Launch",
    "study_people": "People",
    "people": "People",
    "invite_people": "People",
    "save_panel": "People",
    "renew_link": "People",
    "revoke_link": "People",
    "study_review": "Review",
    "decide_many_of_study": "Review",
    "assignments": "Review",
    "assignment": "Review",
    "decide": "Review",
    "decide_many": "Review",
    "use": "Review",
    "give_bonus": "Review",
    "study_results": "Results",
    "study_results_of": "Results",
    "study_responses": "Results",
    "study_disputed": "Results",
    "batch_results": "Results",
    "batch_responses": "Results",
    "batch_texts": "Results",
    "study_texts": "Results",
    "disputed": "Results",
    "share_results": "Results",
    "study_files": "Files",
    "batch_files": "Files",
    "prepared_file": "Files",
    "batch_download_ids": "Files",
}


@dataclass(frozen=True, slots=True)
class Step:
    """What is to be done next, and where; without an address there is only to wait."""

    text: str
    url: str = ""


@dataclass(frozen=True, slots=True)
class Tab:
    """A place in a study; one that is not there yet has no address."""

    label: str
    url: str
    is_here: bool
    n: int = 0


@dataclass(frozen=True, slots=True)
class Header:
    """What stands above a page of a study. `batch` is the one whose tabs are shown, None before there is any."""

    survey: Survey
    batch: CountedBatch | None
    batches: Sequence[CountedBatch]
    tabs: tuple[Tab, ...]
    step: Step
    is_simulated: bool = False


TABS = ("Batches", "Items", "Design", "Launch", "People", "Review", "Results", "Files", "Settings")
# What comes with the first published batch, to whom it will be open. Before, its name stands there without an address.
LATER = {
    "People": "annotators.view_assignment",
    "Review": "annotators.view_assignment",
    "Results": "surveys.view_batch",
    "Files": "surveys.view_batch",
}
SEE_RESULTS = "See the results"
HERE = {
    "import_items": Step("Choose a file"),
    "import_pictures": Step("Choose its pictures"),
    "import_columns": Step("Say what its columns mean"),
    "import_preview": Step("Look, and confirm"),
    "import_job": Step("Its items are being imported"),
    "pictures_job": Step("Its pictures are being fetched"),
    "launch": Step("Look at the price, and publish"),
    "batch_launch": Step("Look at the price, and publish"),
}


def header(person: Person, survey: Survey, *, batch: Batch | None = None, place: str = "") -> Header:
    """Return the head of a page of `survey`, about `batch` or else about the newest. `place`: the address's name."""
    if survey.pk is None:
        return _to_be(survey, place=place)
    batches = list(with_counts(survey.batches.order_by("-pk")))
    shown = next((one for one in batches if batch is None or one.pk == batch.pk), None)
    here = PLACES.get(place, "")
    step = HERE.get(place) or _step(person, survey, _waiting(batches) if batch is None else shown)
    return Header(
        survey=survey,
        batch=shown,
        batches=batches,
        tabs=tuple(_tabs(person, survey, shown, batches, here=here, is_whole=batch is None)),
        is_simulated=place not in HERE
        and _is_simulated(batches if batch is None or shown is None else [shown]),
        step=Step("") if step.text == SEE_RESULTS and here == "Results" else step,
    )


def _to_be(survey: Survey, *, place: str) -> Header:
    """Return the head of a study that comes with its first items: its places, of which only this one is there."""
    here = PLACES.get(place, "")
    tabs = tuple(Tab(label, "", label == here) for label in TABS)
    return Header(survey=survey, batch=None, batches=(), tabs=tabs, step=HERE.get(place, Step("")))


def _is_simulated(batches: Sequence[CountedBatch]) -> bool:
    """Tell whether all that was answered was answered by simulated people."""
    published = [
        batch.is_simulated for batch in batches if batch.is_simulated or batch.status != Status.DRAFT
    ]
    return bool(published) and all(published)


def _waiting(batches: Sequence[CountedBatch]) -> CountedBatch | None:
    """Return the newest batch with work that waits for a person, else the newest."""
    return next((one for one in batches if one.n_held), batches[0] if batches else None)


def import_url(survey: Survey) -> str:
    """Return where items are imported into a study."""
    return f"{reverse('import_items')}?survey={survey.pk}"


def first_step(person: Person, survey: Survey, *, has_items: bool) -> Step:
    """Return what comes next in a study without a batch."""
    if not has_items:
        return (
            Step("Import items", import_url(survey))
            if person.has_perm("surveys.add_item")
            else Step("No items yet")
        )
    if person.has_perm("surveys.add_batch"):
        return Step("Plan a batch", reverse("launch", args=[survey.slug]))
    return Step("No batch yet")


def _step(person: Person, survey: Survey, batch: CountedBatch | None) -> Step:
    if batch is None or batch.status == Status.DRAFT:
        has_items = survey.items.exists()
        if batch is None or not has_items:
            return first_step(person, survey, has_items=has_items)
    if batch.status != Status.DRAFT:
        return next_step(person, batch)
    total = pricing.quote(batch).total
    return Step(f"Publish for ${total:,.2f}", f"{batch.get_absolute_url()}#publish")


def next_step(person: Person, batch: CountedBatch) -> Step:
    """Return what comes next with a batch that has its counts (`with_counts`)."""
    if batch.status == Status.DRAFT:
        return Step("Look at its price, and publish", batch.get_absolute_url())
    if batch.n_held and person.has_perm("annotators.view_assignment"):
        waits = f"{batch.n_held} {'waits' if batch.n_held == 1 else 'wait'} for you"
        return Step(waits, f"{reverse('assignments', args=[batch.pk])}?status=Submitted")
    if batch.status == Status.PUBLISHING:
        return Step(f"Being published: {batch.n_published:,} HITs are out")
    if batch.status in Batch.RUNNING:
        return Step(f"{batch.n_kept} of {batch.n_wanted} assignments are in")
    if batch.pilot_items and person.has_perm("surveys.add_batch"):
        return Step("Plan the rest", reverse("batch_pilot", args=[batch.pk]))
    return Step(SEE_RESULTS, reverse("batch_results", args=[batch.pk]))


def _tabs(
    person: Person,
    survey: Survey,
    batch: CountedBatch | None,
    batches: Sequence[CountedBatch],
    *,
    here: str,
    is_whole: bool,
) -> Iterator[Tab]:
    there = {label: (url, n) for label, url, n in _places(person, survey, batch, batches, is_whole=is_whole)}
    for label in TABS:
        if label in there or (label in LATER and person.has_perm(LATER[label])):
            url, n = there.get(label, ("", 0))
            yield Tab(label, url, label == here, n)


def _places(
    person: Person,
    survey: Survey,
    batch: CountedBatch | None,
    batches: Sequence[CountedBatch],
    *,
    is_whole: bool,
) -> Iterator[tuple[str, str, int]]:
    """Yield the tabs: on a page of the whole study those of all its batches, on a batch's page its own."""
    yield "Batches", reverse("study", args=[survey.slug]), 0
    if person.has_perm("surveys.view_item"):
        reported = n_open(survey) if person.has_perm(SEES) else 0
        yield "Items", reverse("study_items", args=[survey.slug]), reported
        yield "Design", reverse("study_design", args=[survey.slug]), 0
    if batch:
        yield "Launch", batch.get_absolute_url(), 0
        published = [one for one in batches if one.status != Status.DRAFT]
        if has_slots(batch) and person.has_perm("surveys.view_invitation") and not (is_whole and published):
            yield "People", reverse("people", args=[batch.pk]), 0
        elif published and person.has_perm("annotators.view_assignment"):
            yield "People", reverse("study_people", args=[survey.slug]), 0
        if is_whole and published:
            yield from _places_of_all_work(person, survey, published)
        else:
            yield from _places_of_work(person, batch, published)
    elif person.has_perm("surveys.add_batch"):
        yield "Launch", reverse("launch", args=[survey.slug]), 0
    if person.has_perm("surveys.change_survey"):
        yield "Settings", reverse("study_settings", args=[survey.slug]), 0


def _places_of_work(
    person: Person, batch: CountedBatch, published: Sequence[CountedBatch]
) -> Iterator[tuple[str, str, int]]:
    """Review, results and files: of this batch, and while it is a draft, of the newest that is none."""
    if not published:
        return
    work = published[0] if batch.status == Status.DRAFT else batch
    if person.has_perm("annotators.view_assignment"):
        yield "Review", reverse("assignments", args=[work.pk]), work.n_held
    yield "Results", reverse("batch_results", args=[work.pk]), 0
    yield "Files", reverse("batch_files", args=[work.pk]), 0


def _places_of_all_work(
    person: Person, survey: Survey, published: Sequence[CountedBatch]
) -> Iterator[tuple[str, str, int]]:
    """Review, results and files of all batches together."""
    if person.has_perm("annotators.view_assignment"):
        yield "Review", reverse("study_review", args=[survey.slug]), sum(one.n_held for one in published)
    yield "Results", reverse("study_results", args=[survey.slug]), 0
    yield "Files", reverse("study_files", args=[survey.slug]), 0
