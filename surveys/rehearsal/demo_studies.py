"""The demo studies: what they are made of, and how they are brought in.

One of each survey type waits for whoever tries it. The others show what becomes of a study: their answers are made by
simulated people, at work in the background, and marked as theirs.
"""

from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from annotators.models import Endpoint
from surveys.answering.invitations import Person, invite
from surveys.models import Batch, Invitation, Survey
from surveys.protocols.definition import Definition
from surveys.protocols.registry import get_definition
from surveys.studies.importing.pictures import FolderPictures, check_pictures
from surveys.studies.importing.reading import read_items
from surveys.studies.importing.writing import write_items

FOLDER = Path(settings.BASE_DIR) / "fixtures" / "demo"
GUEST = "Demo annotator"
LINK_DAYS = 365
SEED = 17


@dataclass(frozen=True, slots=True)
class Study:
    """One demo study: `items` and a folder `pictures` beside it, and the terms of its only batch.

    `people`: how many simulated ones answer, 0 for none. A `is_draft` stays one: it is there to be published.
    """

    slug: str
    name: str
    definition: Definition
    items: str
    batch: str
    keywords: str
    terms: dict[str, Any] = field(default_factory=dict)
    people: int = 0
    is_draft: bool = False


STUDIES = (
    Study(
        slug="demo-vqa-x",
        name="Demo: VQA-X",
        definition=get_definition("evil-vqax"),
        items="items.csv",
        batch="Demo batch",
        keywords="pictures, questions, explanations, rating",
        terms={"assignments_per_hit": 5, "reward": Decimal("0.38")},
    ),
    Study(
        slug="demo-xai",
        name="Demo: XAI",
        definition=get_definition("xai"),
        items="xai/items.csv",
        batch="Demo batch: XAI",
        keywords="pictures, labels, explanations, rating",
        terms={"items_per_hit": 4, "assignments_per_hit": 3, "reward": Decimal("0.60"), "uses_quiz": True},
    ),
    Study(
        slug="demo-vtt",
        name="Demo: VTT",
        definition=get_definition("vtt"),
        items="vtt/items.jsonl",
        batch="Demo batch: VTT by link",
        keywords="pictures, texts, rating",
        terms={
            "endpoint": Endpoint.LINK,
            "takes_links": True,
            "assignments_per_hit": 2,
            "reward": Decimal(0),
        },
    ),
)


def _played(based_on: Study, *, slug: str, name: str, people: int, **terms: Any) -> Study:
    """Return a study of the same items, which simulated people answer."""
    simulated = {
        "endpoint": Endpoint.LINK,
        "takes_links": True,
        "is_simulated": True,
        "reward": Decimal(0),
        "seed": SEED,
    }
    return replace(
        based_on, slug=slug, name=name, batch=name, people=people, terms=based_on.terms | simulated | terms
    )


VQA_X, XAI, VTT = STUDIES
HELD = [
    {"kind": "minimum_correct", "minimum": 3, "out_of": 5},
    {"kind": "too_fast"},
    {"kind": "straight_lining"},
]
# In the order they are brought in: the list of studies begins with the last.
PLAYED = (
    replace(
        XAI,
        slug="demo-draft",
        name="Demo: a draft to publish",
        batch="Demo: a draft",
        is_draft=True,
        terms=XAI.terms | {"reward": Decimal("1.20")},
    ),
    _played(
        VQA_X,
        slug="demo-pilot",
        name="Demo: a pilot to plan from",
        people=14,
        assignments_per_hit=6,
        pilot_items=5,
    ),
    _played(
        VQA_X,
        slug="demo-review",
        name="Demo: work that waits for you",
        people=6,
        assignments_per_hit=9,
        review_policy={"rules": HELD, "reject_at": 2},
    ),
    _played(VTT, slug="demo-vtt-finished", name="Demo: VTT, finished", people=14, assignments_per_hit=8),
    _played(XAI, slug="demo-xai-finished", name="Demo: XAI, finished", people=14, assignments_per_hit=8),
    _played(
        VQA_X, slug="demo-vqa-x-finished", name="Demo: VQA-X, finished", people=20, assignments_per_hit=10
    ),
)
ALL = (*STUDIES, *PLAYED)


def demo_survey(study: Study, *, folder: Path = FOLDER) -> Survey:
    """Return the study's survey, imported if it isn't there yet. ImportRefused if the folder's files are broken."""
    if found := Survey.objects.filter(slug=study.slug).first():
        return found
    survey = Survey(
        name=study.name, slug=study.slug, definition_key=study.definition.key, is_shared=study in PLAYED
    )
    items = folder / study.items
    pictures = FolderPictures(items.parent / "pictures")
    plan = check_pictures(read_items(items.read_bytes(), definition=study.definition), pictures=pictures)
    write_items(plan, survey=survey, pictures=pictures)
    return survey


def demo_batch(study: Study, *, survey: Survey) -> Batch:
    """Return the study's batch, drafted if it isn't there yet."""
    definition = study.definition
    terms = {
        "survey": survey,
        "endpoint": Endpoint.EMBEDDED,
        "title": definition.title,
        "description": definition.instructions.summary,
        "keywords": study.keywords,
        "items_per_hit": definition.items_per_hit,
        "review_policy": definition.review_policy,
        "rejects_automatically": True,
        "auto_approval_delay": timedelta(days=3),
        **study.terms,
    }
    batch, _ = Batch.objects.get_or_create(name=study.batch, defaults=terms)
    return batch


def guest_of(batch: Batch) -> Invitation:
    """Return the invitation of a guest to a batch by link, made if it isn't there yet."""
    if found := batch.invitations.filter(name=GUEST).first():
        return found
    until = timezone.now() + timedelta(days=LINK_DAYS)
    return invite(batch, people=[Person(GUEST)], expires_at=until, by=None)[0].invitation
