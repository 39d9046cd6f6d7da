"""Who looked for a report that took long is told once it is there; who looked for one that took a moment is not."""

import pytest
from django.contrib.auth.models import User

from surveys.models import AwaitedReport, KeptReport, Note
from surveys.results import kept, reports
from surveys.results.reports import wait_for
from tests.factories import make_published

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("long", "n_told"), [(0, 1), (3600, 0)])
def test_who_waits_is_told_of_what_took_long(long: int, n_told: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "LONG", long)
    batch, ada = make_published().batch, User.objects.create_user("ada")
    key = kept.report_key(batch)
    row = KeptReport.objects.create(key=key)
    wait_for(key, person=ada, text="Too early.", url="/")
    assert AwaitedReport.objects.count() == 0
    kept.ask(key, version="v")
    for _ in range(2):
        wait_for(key, person=ada, text="The results are ready.", url="/here/")
    assert [reports.make(row.pk), reports.make(row.pk)] == [True, False]
    assert (Note.objects.count(), AwaitedReport.objects.count()) == (n_told, 0)
    assert list(Note.objects.values_list("text", "url")) == [("The results are ready.", "/here/")] * n_told
