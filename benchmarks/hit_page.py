"""What does crispy cost? CPU of the HIT page's form beside the same controls in a plain hand-written template.

Run `python benchmarks/hit_page.py`; it needs no database. It ends with status 1 where the ratio is above 1.2.
"""

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

from django.template import Context, Engine, Template

from surveys.definitions import VQAX, Choice
from surveys.forms import HitForm
from surveys.presenting import ShownItem, ShownOutput, ShownPicture

LIMIT = 1.2
ROUNDS = 60
CRISPY = "{% load crispy_forms_tags %}{% crispy form %}"
PLAIN = """{% for item in items %}
<section class="item" id="i{{ item.position }}" data-position="{{ item.position }}" data-version="0" aria-labelledby="i{{ item.position }}-title">
<div class="look">{% for picture in item.pictures %}
<img src="{{ picture.url }}"{% if picture.width %} width="{{ picture.width }}" height="{{ picture.height }}"{% endif %} alt="{{ picture.alt }}"{% if item.position > 1 %} loading="lazy"{% endif %}>{% endfor %}
</div>
<div class="judge">
<h2 id="i{{ item.position }}-title" tabindex="-1"><span class="count">{{ item.position }} of {{ items|length }}<span class="vh">. {{ definition.question_label }}:</span></span> {{ item.question }}</h2>
<fieldset class="group radio" role="radiogroup" aria-required="true">
<legend>{{ definition.answer.label }}</legend>
<div class="choices">{% for choice in item.choices %}
<label><input type="radio" name="i{{ item.position }}-answer" value="{{ choice.value }}"{% if forloop.first %} id="i{{ item.position }}-answer-1"{% endif %}{% if choice.value == item.draft.answer %} checked{% endif %}><span>{{ choice.label }}</span></label>{% endfor %}
</div>
</fieldset>
{% for output in item.outputs %}
<section class="output" aria-labelledby="i{{ item.position }}-{{ output.code }}">
<h3 id="i{{ item.position }}-{{ output.code }}">{{ output.label }}</h3>
<blockquote>{{ output.text }}</blockquote>
{% for criterion in definition.output_criteria %}
<fieldset class="group {% if criterion.is_checklist %}checkbox" role="group"{% else %}radio" role="radiogroup" aria-required="true"{% endif %}{% if criterion.help %} aria-describedby="i{{ item.position }}-{{ output.code }}-{{ criterion.key }}-h"{% endif %}>
<legend>{{ criterion.label }}</legend>{% if criterion.help %}
<p class="help" id="i{{ item.position }}-{{ output.code }}-{{ criterion.key }}-h">{{ criterion.help }}</p>{% endif %}
<div class="choices">{% for choice in criterion.choices %}
<label><input type="{% if criterion.is_checklist %}checkbox{% else %}radio{% endif %}" name="i{{ item.position }}-{{ output.code }}-{{ criterion.key }}" value="{{ choice.value }}"{% if forloop.first %} id="i{{ item.position }}-{{ output.code }}-{{ criterion.key }}-1"{% endif %}{% if choice.value == criterion.exclusive %} data-exclusive{% endif %}><span>{{ choice.label }}</span></label>{% endfor %}
</div>
</fieldset>
{% endfor %}
</section>
{% endfor %}
<fieldset class="group radio" role="radiogroup" aria-required="true">
<legend>{{ definition.preference.label }}</legend>
<div class="choices">{% for output in item.outputs %}
<label><input type="radio" name="i{{ item.position }}-preference" value="{{ output.code }}"{% if forloop.first %} id="i{{ item.position }}-preference-1"{% endif %}{% if output.code == item.draft.preference %} checked{% endif %}><span>{{ output.label }}</span></label>{% endfor %}
<label><input type="radio" name="i{{ item.position }}-preference" value="no_preference"{% if item.draft.preference == "no_preference" %} checked{% endif %}><span>{{ definition.preference.none_label }}</span></label>
</div>
</fieldset>
<input type="hidden" name="i{{ item.position }}-seconds" value="0.0">
</div>
</section>
{% endfor %}
"""


def make_items() -> list[ShownItem]:
    """Five VQA-X items, answered half."""
    return [
        ShownItem(
            position=n,
            question="What is the weather like?",
            pictures=(ShownPicture(f"/pictures/{n:016x}", 640, 480, f"Picture for question {n}"),),
            choices=(Choice("rainy", "rainy"), Choice("snowy", "snowy"), Choice("sunny", "sunny")),
            outputs=tuple(
                ShownOutput(f"{n}{k:015x}", f"Explanation {k}", "The people hold open umbrellas.") for k in (1, 2)
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
    engine, items = Engine.get_default(), make_items()
    crispy, plain = engine.from_string(CRISPY), engine.from_string(PLAIN)
    pages = {"crispy": lambda: crispy_page(crispy, items), "plain": lambda: plain_page(plain, items)}
    controls = {name: page().count("<input") for name, page in pages.items()}
    assert controls["crispy"] == controls["plain"], controls
    rounds = [{name: cpu_ms(page) for name, page in pages.items()} for _ in range(ROUNDS)]
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
