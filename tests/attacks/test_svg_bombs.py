"""Drawings that cost more to read or to draw than they look: refused, with their row, before anything draws them."""

import io
import time

import pytest

from surveys.studies.importing.archive import ZipPictures
from surveys.studies.importing.pictures import PictureError, check_picture, check_pictures
from surveys.studies.importing.reading import read_items
from tests.protocols import VQAX
from tests.surveys.studies.importing_cases import archive, batch_csv, slot

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink" width="9" height="9">'
DEEP = "The SVG has more than 64 elements in one another."
REPEATED = "The SVG repeats its parts: more than 100000 elements are drawn."


def svg(content: str) -> bytes:
    return f"{HEAD}{content}</svg>".encode()


def nested(n: int) -> str:
    return "<g>" * n + "</g>" * n


def bomb(reference: str, *, levels: int = 9, each: int = 10) -> str:
    """`each` to the power of `levels` rectangles; `reference` is how a level shows the one below."""
    groups = ['<g id="l0"><rect width="1" height="1"/></g>']
    groups += [f'<g id="l{n}">{reference.format(below=f"l{n - 1}") * each}</g>' for n in range(1, levels + 1)]
    return f"<defs>{''.join(groups)}</defs>{reference.format(below=f'l{levels}')}"


BOMBS = {
    "3,000 elements in one another": (nested(3_000), DEEP),
    "a million elements in one another": (nested(1_000_000), DEEP),
    "more elements than a drawing has": ("<g/>" * 20_001, "The SVG has more than 20000 elements."),
    "use": (bomb('<use href="#{below}"/>'), REPEATED),
    "use, the old way": (bomb('<use x:href="#{below}"/>'), REPEATED),
    "use, in other letters": (bomb('<use href="#%6c{below}"/>').replace("%6cl", "%6c"), REPEATED),
    "clip paths": (bomb('<rect clip-path="url(#{below})"/>'), REPEATED),
    "fills, in a style": (bomb("<rect style=\"fill: url( '#{below}' )\"/>"), REPEATED),
    "itself": ('<g id="a"><use href="#a"/></g>', DEEP),
    "one another": ('<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>', DEEP),
    "a long chain": (
        "".join(f'<g id="a{n}"><use href="#a{n + 1}"/></g>' for n in range(5_000)),
        DEEP,
    ),
    "a long chain, backwards": (
        "".join(f'<g id="a{n}"><use href="#a{n - 1}"/></g>' for n in range(5_000)),
        DEEP,
    ),
}


@pytest.mark.parametrize("name", BOMBS)
def test_it_is_refused_at_once(name: str) -> None:
    content, message = BOMBS[name]
    began = time.monotonic()
    with pytest.raises(PictureError) as caught:
        check_picture(svg(content))
    assert str(caught.value) == message
    assert time.monotonic() - began < 5


def test_the_row_is_named() -> None:
    plan = read_items(batch_csv([slot(0, img_name="1.svg"), slot(1, img_name="2.svg")]), definition=VQAX)
    uploaded = ZipPictures(io.BytesIO(archive({"1.svg": svg("<rect/>"), "2.svg": svg(nested(3_000))})))
    checked = check_pictures(plan, pictures=uploaded)
    assert [(problem.row, problem.message) for problem in checked.problems] == [
        (1, f'The picture "2.svg": {DEEP}')
    ]


def test_a_plot_with_many_marks_is_taken() -> None:
    marks = '<defs><path id="m" d="M0 0L1 1"/></defs>' + '<use href="#m"/>' * 10_000
    assert check_picture(svg(nested(60) + marks)).width == 9


def test_a_reference_to_nothing_is_taken() -> None:
    assert check_picture(svg('<use href="#"/><use href="#none"/><rect fill="url(#none)"/>')).height == 9
