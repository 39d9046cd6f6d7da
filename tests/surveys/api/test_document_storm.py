"""Requests drawn from the API's own document, at one's own rows, at those of another team, and at none.

Of each four, one is none that the document allows.

API_CASES=10000 sends the full storm.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from annotators.models import Assignment
from surveys.api.document import api
from surveys.models import Batch, Survey
from tests.factories import make_draft, make_published, make_survey, submitted
from tests.surveys.api.asking import person_of, token_of

pytestmark = pytest.mark.django_db
CASES = int(os.environ.get("API_CASES", "120"))
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
SECRET = "zebrafinch"


class World:
    """A study of Ada's that nobody else sees, with the same in one of Eve's. `own` and `others` are their rows."""

    def __init__(self) -> None:
        self.eve, self.ada = person_of("Researcher", "eve"), person_of("Researcher", "ada")
        self.token = token_of(self.eve)
        self.own = self._rows(self.eve, "mine")
        self.others = self._rows(self.ada, SECRET)

    def _rows(self, owner: Any, word: str) -> dict[str, list[Any]]:
        assignment = submitted(make_published())
        batch = assignment.hit.questionnaire.batch
        survey = make_survey(n_items=1, slug=f"{word}-too", name=f"{word} too")
        Survey.objects.filter(pk=batch.survey_id).update(slug=word, name=word)
        for one in (batch.survey, survey):
            Survey.objects.filter(pk=one.pk).update(is_shared=False)
            one.team.set([owner])
        Batch.objects.filter(pk=batch.pk).update(name=f"{word} 1", title=word)
        draft = make_draft(survey, name=f"{word} 2", title=word, endpoint="link")
        return {
            "slug": [word, f"{word}-too"],
            "pk": [batch.pk, draft.pk],
            "assignment_pk": [assignment.pk],
            "name": ["tidy", "raw", "summary", "responses"],
            "key": ["xai"],
        }


def modes_of(operation: Any) -> list[GenerationMode]:
    """Return how requests are drawn: what has nothing that could be wrong is drawn right."""
    parts = (operation.path_parameters, operation.query, operation.headers, operation.body)
    wrong = [GenerationMode.NEGATIVE] if any(len(part) for part in parts) else []
    return [GenerationMode.POSITIVE] * 3 + wrong


def facts(world: World) -> list[Any]:
    """What nobody but Ada may change."""
    surveys = Survey.objects.filter(team=world.ada)
    return [
        list(surveys.order_by("pk").values()),
        list(Batch.objects.filter(survey__in=surveys).order_by("pk").values()),
        list(Assignment.objects.filter(pk__in=world.others["assignment_pk"]).values()),
    ]


@pytest.fixture(autouse=True)
def one_connection() -> Iterator[None]:
    """Django closes connections around a request; the test's own is to stay, as its test client has it."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def test_no_request_breaks_it_is_answered_otherwise_than_documented_or_tells_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("surveys.api.tokens.Throttle.is_closed", lambda *_: False)
    monkeypatch.setattr("surveys.enqueue.enqueue", lambda *_: None)
    monkeypatch.setattr("surveys.publishing.launching._check_account", lambda batch: "")
    monkeypatch.setattr("surveys.studies.importing.uploads.fetch", lambda *_, **__: None)
    world, app = World(), get_wsgi_application()
    schema = schemathesis.openapi.from_dict(api.get_openapi_schema())
    schema.app = app
    operations = [one.ok() for one in schema.get_all_operations()]
    before, statuses = facts(world), set[int]()

    @settings(
        max_examples=CASES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(data=st.data())
    def storm(data: Any) -> None:
        operation = data.draw(st.sampled_from(operations))
        mode = data.draw(st.sampled_from(modes_of(operation)))
        case = data.draw(operation.as_strategy(mode))
        rows = data.draw(st.sampled_from([world.own, world.own, world.others, None]))
        if rows and case.path_parameters:
            for name in case.path_parameters:
                case.path_parameters[name] = data.draw(st.sampled_from(rows[name]))
        response = case.call(headers={"Authorization": f"Bearer {world.token}", "Host": "127.0.0.1"})
        statuses.add(response.status_code)
        case.validate_response(response, checks=CHECKS)
        assert SECRET not in response.text or SECRET in str(case.path_parameters)
        if rows is world.others and case.path_parameters:
            assert response.status_code in {400, 401, 404, 405, 422} or set(case.path_parameters) <= {"key"}

    storm()
    assert facts(world) == before
    assert {200, 404, 422} <= statuses
