"""Who takes part, what they know, and what they answer.

Kinds of workers come in a seeded mix, each with a competence and a share of the work. What one answers is a function of
the seed, the worker and the item as it is shown.
"""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from surveys.simulating.views import Group, ItemView, Option


class Kind(StrEnum):
    """How a simulated worker goes about a HIT."""

    DILIGENT = "diligent"
    DOUBLE_SUBMITTER = "double submitter"
    CARELESS = "careless"
    RANDOM = "random"
    STRAIGHT_LINER = "straight-liner"
    ABANDONER = "abandoner"


# Beside one of each kind. Bad work comes to about a fifth of the assignments, the share that rejection rules were
# compared at.
MIX = {
    Kind.DILIGENT: 11,
    Kind.DOUBLE_SUBMITTER: 2,
    Kind.CARELESS: 4,
    Kind.RANDOM: 1,
    Kind.STRAIGHT_LINER: 1,
    Kind.ABANDONER: 1,
}
# The chance to choose the right answer where it is known to the worker at all.
COMPETENCE = {
    Kind.DILIGENT: (0.88, 0.98),
    Kind.DOUBLE_SUBMITTER: (0.85, 0.95),
    Kind.CARELESS: (0.55, 0.75),
}


@dataclass(frozen=True, slots=True)
class Person:
    """A simulated worker. `competence` is the chance of a right answer, `activity` a weight: some do far more."""

    worker_id: str
    access_code: str
    kind: Kind
    competence: float
    activity: float


def cast(worker_ids: Sequence[tuple[str, str]], *, seed: int) -> list[Person]:
    """Give each (worker id, access code) a character. The first n are the same however many follow."""
    return [
        _person(worker_id, code, kind=_kind(number, seed=seed), seed=seed)
        for number, (worker_id, code) in enumerate(worker_ids)
    ]


def stand_in(worker_id: str, access_code: str, *, seed: int) -> Person:
    """Return a worker called in late, when nobody else is left for a HIT: they do what is to be done."""
    return _person(worker_id, access_code, kind=Kind.DILIGENT, seed=seed)


def _kind(number: int, *, seed: int) -> Kind:
    kinds = list(Kind)
    if number < len(kinds):
        return kinds[number]
    draw = random.Random(f"{seed}:kind:{number}")  # noqa: S311 (a simulation, not a secret)
    return draw.choices(list(MIX), weights=list(MIX.values()))[0]


def _person(worker_id: str, access_code: str, *, kind: Kind, seed: int) -> Person:
    draw = random.Random(f"{seed}:person:{worker_id}")  # noqa: S311
    low, high = COMPETENCE.get(kind, (0.0, 0.0))
    return Person(worker_id, access_code, kind, draw.uniform(low, high), draw.paretovariate(1.5))


Given = str | list[str]
Answers = dict[str, Given]

# How far a worker's view of an explanation strays from what it is worth, as a share of the scale.
NOISE = {Kind.DILIGENT: 0.12, Kind.DOUBLE_SUBMITTER: 0.15, Kind.CARELESS: 0.35}
MOSTLY_WORTH = 0.85
CLEARLY_BETTER = 0.1
FLAWLESS = 0.6
SKIPPED = 0.3
COMMENT = "Some of the pictures were small, but it was fun – thank you!"
REMARK = "It says what there is to be seen, more or less."
# Median seconds that one item takes.
PACE = {
    Kind.DILIGENT: 45.0,
    Kind.DOUBLE_SUBMITTER: 40.0,
    Kind.CARELESS: 20.0,
    Kind.RANDOM: 6.0,
    Kind.STRAIGHT_LINER: 4.0,
    Kind.ABANDONER: 15.0,
}


@dataclass(frozen=True, slots=True)
class View:
    """One worker looking at one item: the chance that is theirs alone, and what each output seems worth (0 to 1)."""

    item: ItemView
    chance: random.Random
    worth: dict[str, float]


class Knows(Protocol):
    """Where the right answer to what an item asks is known, and a key for it, whichever of its outputs are shown."""

    def right_answer(self, item: ItemView) -> str: ...

    def whole_key(self, item: ItemView) -> str: ...


def answers_for(
    item: ItemView, *, person: Person, knowledge: Knows, seed: int, merits: Mapping[str, float] | None = None
) -> Answers:
    """Return {field name: value or values} for every question about the item that is asked of who answers so.

    `merits`: {text of an output: what outputs like it are mostly worth, from 0 to 1}, where they differ.
    """
    answers = _answers(item, person=person, knowledge=knowledge, seed=seed, merits=merits or {})
    return item.only_asked(in_places(item, answers))


def _answers(
    item: ItemView, *, person: Person, knowledge: Knows, seed: int, merits: Mapping[str, float]
) -> Answers:
    chance = random.Random(f"{seed}:{person.worker_id}:{item.key}")  # noqa: S311 (a simulation, not a secret)
    if person.kind == Kind.STRAIGHT_LINER:
        return {group.name: _given(group, list(group.options[:1])) for group in item.all_groups()}
    if person.kind == Kind.RANDOM:
        return {group.name: _anything(group, item, chance) for group in item.all_groups()}
    whole = knowledge.whole_key(item)
    worth = _worth(item, merits, person=person, chance=chance, seed=f"{seed}:worth:{whole}")
    view = View(item, chance, worth)
    return _considered(view, person=person, right=knowledge.right_answer(item))


def guesses(item: ItemView, *, person: Person, seed: int) -> Answers:
    """Return any answer to each question: what a quiz asks is new to everybody."""
    chance = random.Random(f"{seed}:{person.worker_id}:guesses")  # noqa: S311
    return {group.name: _anything(group, item, chance) for group in item.all_groups()}


def skips(item: ItemView, *, person: Person, seed: int) -> str:
    """Return the reason this worker gives for skipping the item, "" if they judge it; only the careless skip."""
    chance = random.Random(f"{seed}:{person.worker_id}:{item.key}:skips")  # noqa: S311
    if item.skip is None or person.kind != Kind.CARELESS or chance.random() > SKIPPED:
        return ""
    return chance.choice(item.skip.options).value


def seconds_for(item: ItemView, *, person: Person, seed: int) -> float:
    """Return how long the worker looks at the item."""
    chance = random.Random(f"{seed}:{person.worker_id}:{item.key}:seconds")  # noqa: S311
    return round(PACE[person.kind] * chance.lognormvariate(0, 0.4), 1)


def forgets(item: ItemView, *, person: Person, seed: int) -> bool:
    """Tell whether the worker leaves a question of the item open at the first try; only the careless do."""
    chance = random.Random(f"{seed}:{person.worker_id}:{item.key}:forgets")  # noqa: S311
    return person.kind == Kind.CARELESS and chance.random() < 0.05


def _worth(
    item: ItemView, merits: Mapping[str, float], *, person: Person, chance: random.Random, seed: str
) -> dict[str, float]:
    """What an output is worth is a fact of the study; each worker sees it through a noise of their own."""
    seen = {}
    for text in sorted(output.text for output in item.outputs):
        drawn = random.Random(f"{seed}:{text}")  # noqa: S311
        worth = drawn.triangular(0, 1, merits.get(text, MOSTLY_WORTH))
        seen[text] = min(max(chance.gauss(worth, NOISE.get(person.kind, 0.2)), 0.0), 1.0)
    return seen


def _considered(view: View, *, person: Person, right: str) -> Answers:
    answers: Answers = {}
    by_worth = sorted(view.worth, key=lambda text: (-view.worth[text], text))
    ranked = {g.name: output for output in view.item.outputs if (g := view.item.ranking_of(output))}
    for group in view.item.groups:
        if group is view.item.answer:
            answers[group.name] = _answer(group, right, person=person, chance=view.chance)
        elif output := ranked.get(group.name):
            answers[group.name] = str(by_worth.index(output.text) + 1)
        elif group.name.endswith(("-best", "-worst")):
            wanted = by_worth[0 if group.name.endswith("-best") else -1]
            answers[group.name] = next(o.code for o in view.item.outputs if o.text == wanted)
        else:
            answers[group.name] = _about_item(group, view)
    for output in sorted(view.item.outputs, key=lambda output: output.text):
        for group in output.groups:
            answers[group.name] = _judged(group, view.worth[output.text], view.chance)
    return answers


def _answer(group: Group, right: str, *, person: Person, chance: random.Random) -> str:
    others = sorted(option.value for option in group.options if option.value != right)
    knows = chance.random() < person.competence
    other = chance.choice(others) if others else right
    return right if knows and right else other


def _about_item(group: Group, view: View) -> Given:
    texts = _texts_by_code(view.item)
    if not set(texts) & {option.value for option in group.options}:
        return _judged(group, sum(view.worth.values()) / max(len(view.worth), 1), view.chance)
    best = max(texts, key=lambda code: (view.worth[texts[code]], texts[code]))
    second = max((worth for text, worth in view.worth.items() if text != texts[best]), default=0.0)
    is_clear = view.worth[texts[best]] - second > CLEARLY_BETTER
    undecided = next((option.value for option in group.options if option.value not in texts), best)
    return best if is_clear else undecided


def _texts_by_code(item: ItemView) -> dict[str, str]:
    return {output.code: output.text for output in item.outputs}


def _judged(group: Group, worth: float, chance: random.Random) -> Given:
    """A scale as far down as the output falls short; a checklist with what is wrong, if anything seems wrong."""
    if group.severities:
        return _marked(group, worth, chance)
    if not group.options:
        return group.sample or REMARK
    if not group.is_checklist:
        step = min(int((1 - worth) * len(group.options)), len(group.options) - 1)
        return group.best_first()[step].value
    return _given(group, _flaws(group, worth, chance))


def _marked(group: Group, worth: float, chance: random.Random) -> str:
    """Return marks of a word or two of an output that falls short, graver the shorter it falls."""
    n_marks = 0 if worth > FLAWLESS else 2 if worth < FLAWLESS / 3 else 1
    gravest = min(int((1 - worth) * len(group.severities)) + 1, len(group.severities))
    marks = [
        {
            "text": word,
            "severity": chance.choice(group.severities[:gravest]),
            **({"category": chance.choice(group.categories)} if group.categories else {}),
        }
        for word in chance.sample(group.words, k=min(n_marks, len(group.words)))
    ]
    return json.dumps(marks, ensure_ascii=False)


def _flaws(group: Group, worth: float, chance: random.Random) -> list[Option]:
    fine = [option for option in group.options if option.is_exclusive]
    flaws = [option for option in group.options if not option.is_exclusive] or fine
    if (fine or group.is_optional) and worth > FLAWLESS:
        return fine
    return chance.sample(flaws, k=2 if worth < FLAWLESS / 3 and len(flaws) > 1 else 1)


def _anything(group: Group, item: ItemView, chance: random.Random) -> Given:
    texts = _texts_by_code(item)
    options = sorted(group.options, key=lambda option: texts.get(option.value, option.label))
    return _given(group, [chance.choice(options)] if options else [])


def _given(group: Group, chosen: list[Option]) -> Given:
    if not group.options:
        return group.sample or REMARK
    values = [option.value for option in group.options if option in chosen]
    return values if group.is_checklist else values[0]


def in_places(item: ItemView, answers: Answers) -> Answers:
    """Return the answers with each place of a ranking given once, and another output as the worst than as the best.

    Whoever thinks about it ranks by what outputs seem worth; the others give the places as they come.
    """
    ranks = {output.code: item.ranking_of(output) for output in item.outputs}
    names = [group.name for group in ranks.values() if group]
    in_order = sorted(names, key=lambda name: str(answers[name]))
    answers = answers | {name: str(n) for n, name in enumerate(in_order, 1)}
    for group in item.groups:
        best = answers.get(f"{group.name.removesuffix('-worst')}-best")
        if group.name.endswith("-worst") and answers[group.name] == best:
            answers = answers | {group.name: next(o.value for o in group.options if o.value != best)}
    return answers
