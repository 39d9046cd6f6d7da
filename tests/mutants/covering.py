"""Which tests pass through which line of the core: only they can notice a change there.

As a pytest plugin (`-p tests.mutants.covering`) it writes that down for the files named in MUTANTS_FILES, into the
folder MUTANTS_FOLDER.
"""

import ast
import json
import os
import sys
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_origin

import pytest

FILES, FOLDER = "MUTANTS_FILES", "MUTANTS_FOLDER"
LINES, SECONDS = "lines", "seconds.json"


def pytest_configure(config: pytest.Config) -> None:
    if folder := os.environ.get(FOLDER):
        config.pluginmanager.register(Recorder(Path(folder), files=os.environ[FILES].split(os.pathsep)))


class Recorder:
    """Writes down what each test passes through, and how long it takes."""

    def __init__(self, folder: Path, *, files: list[str]) -> None:
        self.folder = folder
        self.seconds: dict[str, float] = {}
        import coverage  # installed by `make mutants` only

        self.coverage = coverage.Coverage(data_file=str(folder / LINES), include=files, config_file=False)
        self.coverage.start()
        self.compiled = Compiled()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        self.compiled.forget()
        self.coverage.switch_context(item.nodeid)
        result = yield
        self.coverage.switch_context("")
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration

    def pytest_unconfigure(self) -> None:
        self.coverage.stop()
        self.coverage.save()
        (self.folder / SECONDS).write_text(json.dumps(self.seconds))


class Compiled:
    """Queries that a process compiles once: the test that comes first would be the only one to pass through them."""

    PACKAGES = ("surveys.", "annotators.", "marketplace.")

    def __init__(self) -> None:
        self.n_modules = 0
        self.kept: list[Any] = []

    def forget(self) -> None:
        if self.n_modules != len(sys.modules):
            self.n_modules = len(sys.modules)
            self.kept = list(self._find())
        for one in self.kept:
            one.cache_clear()

    def _find(self) -> Iterator[Any]:
        from statements import ByHand, Change, Statement, Together  # once Django is set up

        kinds = (Statement, Change, ByHand, Together)
        ours = [module for name, module in list(sys.modules.items()) if name.startswith(self.PACKAGES)]
        for value in (value for module in ours for value in vars(module).values()):
            if isinstance(value, kinds):
                yield value._compiled
            elif callable(getattr(value, "cache_clear", None)) and _makes(value) in kinds:
                yield value


def _makes(function: Any) -> Any:
    made = getattr(function, "__annotations__", {}).get("return")
    return get_origin(made) or made


@dataclass(frozen=True)
class Passes:
    """What the tests of a target pass through. `tests`: {file: {line: tests}}; `seconds`: how long each takes."""

    tests: dict[Path, dict[int, list[str]]]
    seconds: dict[str, float]

    @classmethod
    def read(cls, folder: Path, *, project: Path, files: Iterable[Path]) -> "Passes":
        import coverage

        data = coverage.CoverageData(basename=str(folder / LINES))
        data.read()
        return cls(
            {path: data.contexts_by_lineno(str(project / path)) for path in files},
            json.loads((folder / SECONDS).read_text()),
        )

    @classmethod
    def load(cls, path: Path) -> "Passes":
        known = json.loads(path.read_text())
        tests = {
            Path(name): {int(line): tests for line, tests in lines.items()}
            for name, lines in known["tests"].items()
        }
        return cls(tests, known["seconds"])

    def save(self, path: Path) -> None:
        tests = {str(name): lines for name, lines in self.tests.items()}
        path.write_text(json.dumps({"tests": tests, "seconds": self.seconds}))

    def through(self, path: Path, lines: Iterable[int]) -> list[str]:
        """Return the tests that pass through any of the lines, the quick ones first.

        Without lines, and where none does: those that pass through anything of the file, and those of its folder:
        who looks at a constant passes through nothing.
        """
        of_file = self.tests.get(path, {})
        passing = _named(of_file, lines) or _named(of_file, of_file) | self._beside(path)
        return sorted(passing, key=lambda test: (self.seconds.get(test, 0), test))

    def _beside(self, path: Path) -> set[str]:
        folder = (Path("tests") / path.parent).as_posix()
        return {test for test in self.seconds if test.startswith(f"{folder}/test_")}


def _named(of_file: dict[int, list[str]], lines: Iterable[int]) -> set[str]:
    return {test for line in lines for test in of_file.get(line, []) if test}


def statement(code: str, *, line: int) -> Iterator[int]:
    """Yield the lines of the smallest statement around a line; of one with a body only its head."""
    around = [
        node
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.stmt) and line in range(*span(node))
    ]
    yield from range(*span(min(around, key=lambda node: len(range(*span(node)))))) if around else (line,)


def runs_at_import(code: str, *, line: int) -> bool:
    """Tell whether a line runs when its module is imported: in whichever test comes first, and for all of them."""
    return not any(
        node.body[0].lineno <= line <= (node.end_lineno or line)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def span(node: ast.stmt) -> tuple[int, int]:
    """Return a statement's first line, and the line after its last or, with a body, after its head."""
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
    body = getattr(node, "body", None)
    return first, body[0].lineno if body and body[0].lineno > node.lineno else (node.end_lineno or first) + 1
