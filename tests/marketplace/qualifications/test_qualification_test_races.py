"""One worker in several windows: a qualification test begins once and is marked once."""

import pytest
from django.http import QueryDict
from django.utils import timezone

from marketplace.accounts import keys
from marketplace.models import Qualification, QualificationRequest
from marketplace.qualifications import qualification_requests, qualification_types
from marketplace.questions import question_forms
from marketplace.questions.answer_forms import AnswerForm
from tests.marketplace.questions.form_documents import BIRDS, BIRDS_KEY
from tests.marketplace.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def filled(query):
    form = AnswerForm(question_forms.read(BIRDS), QueryDict(query))
    assert form.is_valid()
    return form


@pytest.fixture
def kind(requester):
    settings = qualification_types.Settings(
        description="d", status="Active", test=BIRDS, answer_key=BIRDS_KEY, test_seconds=600
    )
    return qualification_types.create(
        requester, name="Birds", keywords="", settings=settings, now=timezone.now()
    )


def test_a_test_begins_once_and_is_marked_once(kind):
    worker, now = keys.create_worker()[0], timezone.now()
    begun = at_once([lambda: qualification_requests.start_test(kind, worker=worker, now=now)] * 6)
    assert sum(isinstance(result, QualificationRequest) for result in begun) == 1
    under_way = QualificationRequest.objects.select_related("qualification_type", "worker").get()
    forms = [filled("q1=1&q2=1"), filled("q1=2&q2=2")] * 3
    values = at_once(
        [
            lambda form=form: qualification_requests.hand_in_test(under_way, form=form, now=now)
            for form in forms
        ]
    )
    (value,) = [result for result in values if isinstance(result, int)]
    assert Qualification.objects.values_list("value").get() == (value,)
    under_way.refresh_from_db()
    assert under_way.status == "Granted"
