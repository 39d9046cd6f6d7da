"""Nothing that a worker reads is left in English only: the catalogues, the templates, the scripts, the pages."""

import importlib.util
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlencode

import pytest
from django.template.base import Lexer, TokenType
from django.test import Client
from django.utils import translation
from django.utils.translation import ngettext
from pytest_django import Settings

from surveys.protocols.registry import get_definition
from tests.appeals import rejected
from tests.builders import frame_query
from tests.factories import make_published
from tests.link_people import invite_one
from tests.link_study import make_link_batch, path_of
from tests.spoken import READ_ALOUD, SAME_EVERYWHERE, english_in

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = ROOT / "templates"
FOR_WORKERS = sorted(
    [
        *TEMPLATES.glob("*.html"),
        *(TEMPLATES / "answering").rglob("*.html"),
        *(TEMPLATES / "assent").rglob("*.html"),
        *(TEMPLATES / "marketplace" / "site").rglob("*.html"),
        *(TEMPLATES / "review" / "appeals").rglob("*.html"),
    ]
)
WORD = re.compile(r"[^\W\d_]{2,}")


def _catalogues() -> ModuleType:
    """`locale` is a module of Python's too, so the script is loaded from its file."""
    spec = importlib.util.spec_from_file_location("catalogues", ROOT / "locale" / "update.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


catalogues = _catalogues()


# -- The catalogues ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", ["django", "djangojs"])
def test_catalogues_have_every_text_and_no_other(settings: Settings, domain: str) -> None:
    assert catalogues.languages() == sorted({code for code, _ in settings.LANGUAGES} - {"en"})
    assert [found for code in catalogues.languages() for found in catalogues.problems(code, domain)] == []


def test_a_text_that_is_missing_unsure_or_unused_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "ru" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    monkeypatch.setattr(catalogues, "LOCALE", tmp_path)
    known = catalogues.Catalog(locale="ru")
    for message in catalogues.texts("djangojs"):
        known.add(message.id, f"{message.id}")
    known["offline"].string = ""
    known["Saved"].flags.add("fuzzy")
    known.add("Gone", "Ушло")
    (folder / "djangojs.po").write_bytes(catalogues.written(known))
    found = catalogues.problems("ru", "djangojs")
    assert [sentence for sentence in found if "djangojs:" in sentence and ".po" not in sentence] == [
        "ru/djangojs: not translated: 'offline'",
        "ru/djangojs: marked fuzzy: 'Saved'",
        "ru/djangojs: nobody asks for it any more: 'Gone'",
        "ru/djangojs: djangojs.mo is not what update.py writes",
    ]


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (0, "0 минут"), (1, "1 минута"), (2, "2 минуты"), (5, "5 минут"), (11, "11 минут"), (12, "12 минут"),
        (21, "21 минута"), (22, "22 минуты"), (25, "25 минут"), (111, "111 минут"), (101, "101 минута"),
    ],
)  # fmt: skip
def test_russian_counts_in_three_forms(n: int, words: str) -> None:
    with translation.override("ru"):
        assert ngettext("%(n)d minute", "%(n)d minutes", n) % {"n": n} == words


# -- Templates --------------------------------------------------------------------------------------------------------


CLASSES = re.compile(r"{% block body_class %}.*?{% endblock %}")
IN_FILTERS = re.compile(r'(?:default|default_if_none|yesno|pluralize):"([^"]*[a-z]{2}[^"]*)"')


class Bare(HTMLParser):
    """What a template says by itself, between its tags and in the attributes that are read aloud."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in READ_ALOUD:
                self.handle_data(value or "")

    def handle_data(self, data: str) -> None:
        words = set(WORD.findall(data)) - SAME_EVERYWHERE
        if words:
            self.found.append(" ".join(data.split()))


def bare_texts(template: str) -> list[str]:
    """Return the texts of a template that no translation reaches, those of filters' arguments included."""
    kept, found, is_told = [], [], False
    for token in Lexer(CLASSES.sub("", template)).tokenize():
        if token.token_type in {TokenType.BLOCK, TokenType.VAR}:
            found += IN_FILTERS.findall(token.contents)
            name = token.contents.split()[0]
            is_told = name == "blocktranslate" or (is_told and name != "endblocktranslate")
        if token.token_type == TokenType.TEXT and not is_told:
            kept.append(token.contents)
    parser = Bare()
    parser.feed("".join(kept))
    return found + parser.found


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("<p>Bare {{ n }}</p>", ["Bare"]),
        ('<img alt="A cat"><p title="{% translate "x" %}">1</p>', ["A cat"]),
        (
            '{% blocktranslate %}Told {{ n }}{% endblocktranslate %}<p class="word">{% translate "Told" %}</p>',
            [],
        ),
        ('{{ label|default:"Submit" }}', ["Submit"]),
        ("<kbd>Enter</kbd><kbd>y</kbd>", []),
    ],
)
def test_bare_texts_are_found(template: str, found: list[str]) -> None:
    assert bare_texts(template) == found


@pytest.mark.parametrize("path", FOR_WORKERS, ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_templates_for_workers_say_nothing_in_english_only(path: Path) -> None:
    assert bare_texts(path.read_text()) == []


# -- Scripts ----------------------------------------------------------------------------------------------------------

SCRIPTS = [*(ROOT / "static/answering").rglob("*.js"), *(ROOT / "static/marketplace/site").rglob("*.js")]
# The first stands for a researcher's pages, which are English; the others are a requester's or for a program.
IN_SCRIPTS = {"Copied", "Nobody is around this page.", "No answer.", "Instructions", "Submit"}
SENTENCE = re.compile(r"""(?<!gettext\()["`]([A-Z][a-z]+(?: [^"`]*|[.…]?))["`]""")
CODE = re.compile(r"//.*|\bnew \w+Event\(.*|key === \"\w+\"|[!=]== \"\w+\"|\"[A-Z]\w+\",? *\(?event")


def test_scripts_for_workers_say_nothing_in_english_only() -> None:
    found = {
        text
        for path in SCRIPTS
        for text in SENTENCE.findall(CODE.sub("", path.read_text()))
        if text not in IN_SCRIPTS
    }
    assert found == set()


# -- Pages ------------------------------------------------------------------------------------------------------------


def said_by(batch: Any) -> str:
    """Return all texts that a study's own pages may show, whatever language the page is in."""
    items = batch.survey.items.prefetch_related("outputs")
    texts = [
        batch.title,
        json.dumps(batch.snapshot, ensure_ascii=False),
        *(json.dumps([item.payload, item.choices], ensure_ascii=False) for item in items),
        *(output.text for item in items for output in item.outputs.all()),
        *(f"{label} {n}" for label in ("Explanation", "Text") for n in (1, 2)),
    ]
    return "\n".join(texts).replace('\\"', '"')


def link_pages(client: Client, batch: Any) -> Iterator[tuple[str, str]]:
    link = path_of(invite_one(batch, "Аня"))
    for name in ("", "1/", "my-data", "end", "99/"):
        yield name, client.get(f"{link}{name}").content.decode()
    yield "no number", client.post(link, {"number": "x"}).content.decode()
    work = client.get(f"{link}1/").content.decode()
    sent = {"token": re.findall(r'name="token" value="([^"]+)', work)[0], "revision": "0"}
    yield "errors", client.post(f"{link}1/", sent).content.decode()
    yield "sign in", client.post(f"/links/sign-in/{batch.pk}/", {"name": ""}).content.decode()
    yield "bad link", client.get("/links/nobody/").content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["evil-vqax", "xai", "vtt"])
def test_link_pages_are_russian_but_for_the_study(key: str) -> None:
    client, batch = (
        Client(headers={"accept-language": "ru"}),
        make_link_batch(definition=get_definition(key), uses_quiz=key == "vtt", reward="0.50"),
    )
    pages = dict(link_pages(client, batch))
    study = said_by(batch)
    assert {
        name: english for name, page in pages.items() if (english := english_in(page, of_study=study))
    } == {}
    assert all('<html lang="ru" dir="ltr">' in page for page in pages.values())


@pytest.mark.django_db
def test_a_hit_is_russian_but_for_the_study() -> None:
    batch = make_link_batch(definition=get_definition("evil-vqax"), endpoint="embedded")
    questionnaire = batch.questionnaires.order_by("pk").first()
    address = f"/hits/{questionnaire.pk}/?{urlencode(frame_query(questionnaire))}&language=ru"
    client = Client()
    pages = {
        "work": client.get(address).content.decode(),
        "preview": client.get(f"/hits/{questionnaire.pk}/?language=ru").content.decode(),
        "refused": client.get(address.replace("hitId=", "hitId=3OTHER")).content.decode(),
        "expired": client.post(address, {"token": "x"}).content.decode(),
    }
    study = said_by(batch)
    assert {
        name: english for name, page in pages.items() if (english := english_in(page, of_study=study))
    } == {}
    assert "language=ru" in re.findall(r'<form id="hit" method="post" action="([^"]+)', pages["work"])[0]
    assert client.cookies == {}


@pytest.mark.django_db
def test_an_appeal_is_russian_but_for_the_reason() -> None:
    client, found = Client(headers={"accept-language": "ru"}), rejected(make_published())
    batch = found.assignment.hit.questionnaire.batch
    study = f"{batch.title}\n{found.assignment.decision.reason}\nabcde-fghjk-mnpqr-stuvw"
    pages = [
        client.get("/appeals/"),
        client.get("/appeals/x/"),
        client.get(f"/appeals/{found.code}/"),
        client.post(f"/appeals/{found.code}/", {"text": ""}),
    ]
    assert [english_in(page.content.decode(), of_study=study) for page in pages] == [[], [], [], []]


# -- Numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_people_read_a_comma_and_machines_a_point() -> None:
    batch = make_link_batch(reward="1234.50")
    link = path_of(invite_one(batch, "Аня"))
    client = Client(headers={"accept-language": "ru"})
    assert "1\xa0234,50 $" in client.get(link).content.decode()
    page = client.get(f"{link}1/").content.decode()
    assert re.findall(r'name="i1-seconds" value="([^"]*)"', page) == ["0.0"]
    assert client.get(f"{link}my-data/download").json()["invitations"][0]["name"] == "Аня"


# -- The direction of a page ------------------------------------------------------------------------------------------

STYLES = [
    ROOT / "static" / name
    for name in (
        "answering/hits/hit.css",
        "answering/links/links.css",
        "marketplace/site/site.css",
        "marketplace/site/crowd.css",
        "answering/appeals/appeals.css",
    )
]
SIDES = re.compile(
    r"(?:margin|padding|border|inset)-(?:left|right)\b|(?<![-\w])(?:left|right):|text-align: (?:left|right)|float:"
)


@pytest.mark.parametrize("path", STYLES, ids=lambda path: path.name)
def test_styles_name_no_side(path: Path) -> None:
    """What stands left in English stands right in Arabic: margin-inline-start, not margin-left."""
    assert SIDES.findall(path.read_text()) == []


@pytest.mark.django_db
def test_a_page_takes_the_direction_of_its_language(settings: Settings) -> None:
    settings.LANGUAGES = [("en", "English"), ("ar", "العربية")]
    page = Client(headers={"accept-language": "ar"}).get(path_of(invite_one(make_link_batch(), "Ada")))
    assert '<html lang="ar" dir="rtl">' in page.content.decode()
