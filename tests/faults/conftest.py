"""One site for all crash tests of a file, and their report."""

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.faults.report import Line, lines_of, text
from tests.faults.stack import Stack, at
from tests.faults.studies import Lab, open_lab


@pytest.fixture(scope="module")  # of a package it would last for the session: these folders are none
def lab(collected_static: None, django_db_blocker: Any) -> Iterator[Lab]:
    with TemporaryDirectory(prefix="assent-faults-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # PostgreSQL runs under another account when root runs the tests
        stack = Stack(folder)
        with django_db_blocker.unblock(), at(stack):
            try:
                stack.start()
                yield open_lab(stack)
            finally:
                stack.stop()


@pytest.fixture
def line(request: pytest.FixtureRequest) -> Iterator[Line]:
    """The test's line in the report, to be filled in."""
    line = Line(fault=request.node.name, process="", course="")
    yield line
    request.node.user_properties.append(line.as_property())


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the report, and write it to FAULTS_REPORT; the last stage of each test has its line."""
    lines = lines_of(report for reports in terminalreporter.stats.values() for report in reports)
    if not lines:
        return
    words = text(lines, n_failed=len(terminalreporter.getreports("failed")))
    terminalreporter.section("crash tests")
    terminalreporter.write_line(words)
    if path := os.environ.get("FAULTS_REPORT"):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(f"{words}\n")
