"""Items as a simulated worker sees them."""

from surveys.rehearsal.knowledge import Knowledge
from surveys.simulating.people import Kind, Person
from surveys.simulating.views import Group, ItemView, Option, Output
from surveys.studies.importing.plan import PlannedItem, PlannedOutput
from tests.protocols import NONE_FLAWS, VQAX

TEXTS = {"aa01": "There are umbrellas.", "bb02": "The street is wet."}
SCALE = tuple(Option(choice.value, choice.label) for choice in VQAX.criterion("justifies").choices)
FLAWS = tuple(Option(choice.value, choice.label, choice.value == "none") for choice in NONE_FLAWS.choices)


def item(
    *, codes: tuple[str, str] = ("aa01", "bb02"), answers: tuple[str, ...] = ("no", "maybe", "yes")
) -> ItemView:
    """Return an item with its outputs and answers in the order given."""
    preference = (
        *(Option(code, f"Explanation {n}") for n, code in enumerate(codes, 1)),
        Option("no_preference", "-"),
    )
    return ItemView(
        position=1,
        version=0,
        question="Does it rain?",
        outputs=tuple(_output(code) for code in codes),
        groups=(
            Group("i1-answer", False, tuple(Option(answer, answer) for answer in answers)),
            Group("i1-preference", False, preference),
        ),
    )


def _output(code: str) -> Output:
    return Output(
        TEXTS[code],
        (Group(f"i1-{code}-justifies", False, SCALE), Group(f"i1-{code}-shortcomings", True, FLAWS)),
        code,
    )


def knowledge(*, gold: str = "yes") -> Knowledge:
    planned = PlannedItem(
        external_id="1",
        question="Does it  rain?",
        choices=[{"value": value, "label": value} for value in ("maybe", "no", "yes")],
        gold=gold,
        outputs=(
            PlannedOutput("model", TEXTS["bb02"], "yes"),
            PlannedOutput("ground_truth", TEXTS["aa01"], "yes"),
        ),
        pictures=(),
        given={},
        source_row=None,
    )
    return Knowledge([planned], definition=VQAX)


def person(kind: Kind, *, competence: float = 1.0, activity: float = 1.0, worker_id: str = "A1") -> Person:
    return Person(worker_id, "CODE", kind, competence, activity)
