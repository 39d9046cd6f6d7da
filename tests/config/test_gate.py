"""What is checked before a commit or a push is what the gate checks."""

import re
from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)


def checks() -> list[str]:
    """Return the names that `.ci/checks` knows."""
    return re.findall(r"^\t(\w+)\) step ", (ROOT / ".ci/checks").read_text(), re.MULTILINE)


def test_each_check_is_a_hook() -> None:
    hooks = re.findall(
        r"id: (\w+), .*entry: \.ci/checks (\w+),", (ROOT / ".pre-commit-config.yaml").read_text()
    )
    assert sorted(hooks) == sorted((name, name) for name in checks())


def test_the_gate_leaves_none_out() -> None:
    lines = re.findall(r"^\t?\.ci/checks ([a-z ]+)", (ROOT / ".ci/run").read_text(), re.MULTILINE)
    assert " ".join(lines).split() == checks()


def test_without_a_name_all_are_run() -> None:
    (line,) = re.findall(r"set -- ([a-z ]+)$", (ROOT / ".ci/checks").read_text(), re.MULTILINE)
    assert line.split() == checks()
