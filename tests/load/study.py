"""The researcher of a load test: batches for the marketplace, personal links and a panel at once, one after another."""

from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlencode

from django.core.files.base import ContentFile
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment, Call
from surveys import sync
from surveys.answering import invitations
from surveys.models import AnnotationSlot, Batch, Panel, Picture, Survey
from surveys.publishing import questionnaires, quota
from surveys.rehearsal import study
from tests import factories
from tests.builders import PIXEL
from tests.load.link_annotators import LinkAnnotator

N_ITEMS = 20
PROVIDER = "prolific"


@dataclass
class Study:
    """One survey, and a batch after the other of all its items; everybody may take part in each."""

    app_url: str
    per_hit: int
    people: list[LinkAnnotator] = field(default_factory=list)
    batches: list[Batch] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.survey = make_survey()

    def keep_supplied(self, *, n_people: int) -> None:
        """Publish another batch where fewer annotations are free than half the people could take."""
        if 2 * self.n_free() < n_people:
            self.publish()

    def publish(self) -> None:
        number = len(self.batches) + 1
        batch = factories.make_draft(
            self.survey,
            title=f"Judge explanations {number}",
            assignments_per_hit=self.per_hit,
            takes_links=True,
        )
        questionnaires.start_publishing(batch)
        sync.publish_batch.delay(batch.pk)
        self.batches.append(batch)
        self.invite(batch)

    def invite(self, batch: Batch) -> None:
        """Give everybody their way in: some are sent by a panel, the others have a link."""
        Panel.objects.create(batch=batch, completion_code="DONE", assignments_per_worker=N_ITEMS)
        for annotator in self.people:
            self.welcome(batch, annotator)

    def welcome(self, batch: Batch, annotator: LinkAnnotator) -> None:
        is_panel = annotator.person.worker_id.startswith(PROVIDER)
        address = self._by_panel if is_panel else self._by_link
        annotator.addresses[batch.pk] = address(batch, annotator)

    def waiting(self) -> list[str]:
        """Say what each batch still waits for."""
        mine = Batch.objects.filter(pk__in=[batch.pk for batch in self.batches])
        return [study.waiting(batch) for batch in mine]

    def n_free(self) -> int:
        batches = Batch.objects.filter(pk__in=[batch.pk for batch in self.batches])
        running = batches.filter(status__in=[Batch.Status.PUBLISHING, Batch.Status.OPEN])
        nobody = Q(assignment=None) | Q(leased_until__lt=timezone.now()) & quota.UNANSWERED
        return AnnotationSlot.objects.filter(~quota.SUPERSEDED, nobody, batch__in=running).count()

    def undecided(self) -> int:
        of_mine = Assignment.objects.filter(hit__questionnaire__batch__in=self.batches)
        return of_mine.filter(status=Assignment.Status.SUBMITTED).count()

    def is_reopening(self) -> bool:
        """Tell whether a place is still to be opened again: that comes after the decision, in the same task."""
        return quota.to_reopen(Assignment.objects.filter(hit__questionnaire__batch__in=self.batches)).exists()

    def is_calling(self) -> bool:
        """Tell whether the marketplace is still told something."""
        return Call.objects.exclude(state__in=[Call.State.DONE, Call.State.REFUSED]).exists()

    def unfinished(self) -> list[Batch]:
        mine = Batch.objects.filter(pk__in=[batch.pk for batch in self.batches])
        return list(mine.exclude(status=Batch.Status.COMPLETE))

    def run_out(self) -> int:
        """Let the time of everything that nobody works on run out, as far as it is ours to say."""
        over = timezone.now() - timedelta(seconds=1)
        return AnnotationSlot.objects.filter(
            batch__in=self.batches, assignment__status=Assignment.Status.ACCEPTED, assignment__saved_at=None
        ).update(leased_until=over)

    def _by_link(self, batch: Batch, annotator: LinkAnnotator) -> str:
        name = annotator.person.worker_id
        until = timezone.now() + timedelta(days=1)
        person = invitations.Person(name, worker_id=name)
        (invited,) = invitations.invite(batch, people=[person], expires_at=until, by=None)
        return invited.address

    def _by_panel(self, batch: Batch, annotator: LinkAnnotator) -> str:
        pid = annotator.person.worker_id.partition(":")[2]
        return f"{self.app_url}{reverse('panel', args=[batch.panel.code])}?{urlencode({'PROLIFIC_PID': pid})}"


def make_survey() -> Survey:
    """Questions, each with a picture and two explanations; "yes" is always right."""
    survey = factories.make_survey(n_items=N_ITEMS)
    for item in survey.items.all():
        file = ContentFile(PIXEL, name=f"{item.pk}.png")
        Picture.objects.create(
            item=item, name="a.png", file=file, content_type="image/png", width=80, height=60
        )
    return survey
