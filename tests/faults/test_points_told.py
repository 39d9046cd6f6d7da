"""Every point at which a process can be killed is killed in some test, and told of in the documentation."""

import re

from django.conf import settings

from tests.faults.points import COURSES, placed, points


def test_every_point_in_the_code_is_killed_here() -> None:
    assert placed() == {name for course in COURSES for _, name in points(course)}


def test_every_point_is_in_the_documentation() -> None:
    told = set(
        re.findall(r"`([a-z]+\.[a-z_]+)`", (settings.BASE_DIR / "docs" / "reliability.md").read_text())
    )
    assert {".".join(name.split(".")[:2]) for name in placed()} - told == set()
