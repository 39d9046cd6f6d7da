"""One rehearsal from the first import to the last file, inside the data folder it was given."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from django.conf import settings

from surveys.rehearsal import stage, study
from surveys.rehearsal.browser import new_pool
from surveys.rehearsal.course import Driver, HitDriver, LinkDriver
from surveys.rehearsal.knowledge import Knowledge
from surveys.rehearsal.report import Course, Report, count
from surveys.rehearsal.stage import Control
from surveys.rehearsal.visits import World
from surveys.rehearsal.waiting import Patience, Stopwatch


@dataclass(frozen=True, slots=True)
class Terms:
    """What was asked for. `timeout` in seconds."""

    material: study.Material
    n_workers: int
    seed: int
    out: Path
    timeout: float
    by_link: bool = False


def perform(terms: Terms, *, stream: TextIO) -> Report:
    """Return the report. Raises what stops a rehearsal: see `FAILURES` of the command."""
    stopwatch = Stopwatch()
    with ExitStack() as stack:
        with stopwatch.timing("start"):
            supervisor = stack.enter_context(stage.running())
        patience = Patience(terms.timeout, watch=supervisor.check)
        with stopwatch.timing("import"):
            driver = _driver(terms, patience=patience, stopwatch=stopwatch, stream=stream)
        driver.publish()
        course = driver.run(n_workers=terms.n_workers)
        return _report(terms, driver=driver, course=course)


def _driver(terms: Terms, *, patience: Patience, stopwatch: Stopwatch, stream: TextIO) -> Driver:
    material = terms.material
    survey = study.import_material(material)
    pool = new_pool()
    kind = LinkDriver if terms.by_link else HitDriver
    return kind(
        batch=study.draft_batch(survey, seed=terms.seed, by_link=terms.by_link),
        world=World(
            settings.MARKETPLACE_URL,
            terms.seed,
            Knowledge.of_file(material.items, definition=material.definition),
        ),
        control=Control(settings.MARKETPLACE_URL, settings.MARKETPLACE_CONTROL_TOKEN, pool),
        pool=pool,
        patience=patience,
        stopwatch=stopwatch,
        stream=stream,
    )


def _report(terms: Terms, *, driver: Driver, course: Course) -> Report:
    with driver.stopwatch.timing("export"):
        files = study.write_results(driver.batch, folder=terms.out)
        tally = count(driver.batch)
    return Report(
        survey=terms.material.definition.key,
        seed=terms.seed,
        tally=tally,
        course=course,
        marketplace_cost=driver.control.charged(),
        files=files,
        seconds={name: round(spent, 1) for name, spent in driver.stopwatch.seconds.items()},
    )
