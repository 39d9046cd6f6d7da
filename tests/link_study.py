"""A small VTT study of people who come by link, and their way through its pages."""

import re
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from django.core.files.base import ContentFile
from django.test import Client

from surveys.answering.invitations import Invited
from surveys.models import Batch, Output, Picture
from surveys.protocols.definition import Definition
from surveys.protocols.registry import get_definition
from surveys.publishing import quota
from tests import factories
from tests.builders import PIXEL
from tests.policy_data import NEVER

STEPS = ("Put a tea bag into the cup.", "Pour hot water <over> it.")
SCORES = {"fluency": "5", "relevance": "4", "logical_consistency": "2"}


def make_link_batch(
    *, n_items: int = 3, assignments: int = 1, definition: Definition | None = None, **values: Any
) -> Batch:
    """Return an open batch without a marketplace, one item to an annotation, with a free slot for each wanted one."""
    definition = definition or get_definition("vtt")
    survey = factories.make_survey(definition_key=definition.key)
    batch = factories.make_batch(
        survey,
        **{
            "endpoint": "link",
            "takes_links": True,
            "title": definition.title,
            "items_per_hit": 1,
            "assignments_per_hit": assignments,
            "review_policy": NEVER,
            "snapshot": definition.to_snapshot(),
            "assignment_duration": timedelta(minutes=30),
            **values,
        },
    )
    hit_type = factories.make_hit_type(endpoint=batch.endpoint)
    items = [make_states(survey, position=n, definition=definition) for n in range(1, n_items + 1)]
    for first in range(0, n_items, batch.items_per_hit):
        factories.make_questionnaire(
            batch,
            items=items[first : first + batch.items_per_hit],
            hit=factories.make_hit(hit_type=hit_type, max_assignments=assignments),
            target_assignments=assignments,
        )
    quota.write_slots(batch)
    return batch


def make_states(survey: Any, *, position: int, definition: Definition) -> Any:
    """Three states with two texts between them; the system's name must reach no browser."""
    choices = () if definition.answer is None else ("golf", "tennis")
    item = factories.make_item(
        survey,
        position=position,
        systems=(),
        external_id=f"secret-{position}/glocnet",
        payload={"question": "" if definition.is_sequence else "a tabby cat"},
        choices=choices,
        gold="golf" if choices else "",
    )
    n_pictures = len(STEPS) + 1 if definition.is_sequence else 1
    for n in range(1, n_pictures + 1):
        file = ContentFile(PIXEL, name=f"{position}-{n}.png")
        Picture.objects.create(
            item=item,
            position=n,
            name=f"secret-{n}.png",
            file=file,
            content_type="image/png",
            width=80,
            height=60,
        )
    for system in ("glocnet", "human")[: definition.outputs_per_item]:
        Output.objects.create(item=item, system=system, text="\n".join(STEPS), model_correct=False)
    return item


def path_of(invited: Invited) -> str:
    """Return the path of a personal link."""
    return urlsplit(invited.address).path


class Visitor:
    """Somebody's browser without JavaScript: it sends what is in the page's form."""

    def __init__(self, path: str) -> None:
        self.client = Client(enforce_csrf_checks=True)
        self.path = path

    def open(self, number: int | None = None, **query: str) -> Any:
        return self.client.get(self.at(number), query)

    def at(self, number: int | None) -> str:
        return self.path if number is None else f"{self.path}{number}/"

    def start(self, number: str = "") -> Any:
        return self.client.post(self.path, {"number": number})

    def scores(self, page: Any, **scores: str) -> dict[str, str]:
        """What the page's form would send with these scores chosen."""
        html = page.content.decode()
        hidden = {
            name: unescape(v) for name, v in re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', html)
        }
        names = set(re.findall(r'type="radio" name="([^"]+)"', html))
        chosen = {name: scores[key] for name in names for key in scores if name.endswith(f"-{key}")}
        return hidden | chosen

    def answer(self, number: int, page: Any = None, **scores: str) -> Any:
        """Open an annotation, unless `page` was opened before, and submit these scores."""
        page = page or self.open(number)
        return self.client.post(self.at(number), self.scores(page, **(SCORES | scores)))

    def skip(self, number: int, reason: str = "image_missing") -> Any:
        data = self.scores(self.open(number)) | {"skip": "1", "i1-skip": reason}
        return self.client.post(self.at(number), data)
