"""What does crispy cost? CPU of the HIT page's form beside the same controls in a plain hand-written template.

Run `python benchmarks/hit_page.py [--rounds 60]`; it needs no database. It ends with status 1 where the ratio is
above 1.2.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import django

django.setup()

from django.template import Context, Engine, Template  # noqa: E402

from surveys.answering.presentation import ShownItem, ShownOutput, ShownPicture  # noqa: E402
from surveys.pages.answering.hit_form import HitForm  # noqa: E402
from surveys.protocols.criteria import Choice  # noqa: E402
from surveys.protocols.registry import get_definition  # noqa: E402

VQAX = get_definition("evil-vqax")
LIMIT = 1.2
CRISPY = "{% load crispy_forms_tags %}{% crispy form %}"
PLAIN = Path(__file__).with_name("hit_page_plain.html")


def make_items() -> list[ShownItem]:
    """Five VQA-X items, answered half."""
    return [
        ShownItem(
            position=n,
            place=n,
            question="What is the weather like?",
            pictures=(ShownPicture(f"/pictures/{n:016x}", 640, 480, "Picture", among=f"Question {n}"),),
            among=f"Question {n}",
            choices=(Choice("rainy", "rainy"), Choice("snowy", "snowy"), Choice("sunny", "sunny")),
            outputs=tuple(
                ShownOutput(f"{n}{k:015x}", f"Explanation {k}", "The people hold open umbrellas.")
                for k in (1, 2)
            ),
            draft={"answer": "rainy"} if n < 3 else {},
        )
        for n in range(1, 6)
    ]


def crispy_page(template: Template, items: list[ShownItem]) -> str:
    """Build the form, too: that is part of what crispy costs."""
    return template.render(Context({"form": HitForm(definition=VQAX, items=items)}))


def plain_page(template: Template, items: list[ShownItem]) -> str:
    return template.render(Context({"items": items, "definition": VQAX}))


def cpu_ms(render: Callable[[], str]) -> float:
    start = time.process_time()
    render()
    return (time.process_time() - start) * 1000


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=60)
    n_rounds = parser.parse_args().rounds
    engine, items = Engine.get_default(), make_items()
    crispy, plain = engine.from_string(CRISPY), engine.from_string(PLAIN.read_text())
    pages = {"crispy": lambda: crispy_page(crispy, items), "plain": lambda: plain_page(plain, items)}
    controls = {name: page().count("<input") for name, page in pages.items()}
    assert controls["crispy"] == controls["plain"], controls
    rounds = [{name: cpu_ms(page) for name, page in pages.items()} for _ in range(n_rounds)]
    for name, page in pages.items():
        times = [r[name] for r in rounds]
        print(
            f"{name:7} {controls[name]} controls, {len(page()) / 1000:.1f} kB, "
            f"CPU best {min(times):.2f} ms, median {statistics.median(times):.2f} ms"
        )
    ratio = min(r["crispy"] for r in rounds) / min(r["plain"] for r in rounds)
    print(f"ratio   {ratio:.2f} (at most {LIMIT})")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
