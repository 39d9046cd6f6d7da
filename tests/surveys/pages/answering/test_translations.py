"""The page in somebody's language: the protocol's texts, the original where there is none, and the same answers."""

import csv
import io
import json
import re
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone, translation

from annotators.models import Assignment
from surveys.answering.presentation import BROWSERS
from surveys.models import Questionnaire, Rating, Response
from surveys.pages.answering.hit_fields import TEXT_MAX, Written
from surveys.protocols.definition import Definition, TranslatedText, Translation
from surveys.results.files.annotations import annotation_lines
from surveys.results.files.responses import response_lines
from surveys.results.frames.database import read_batch
from tests.builders import make_questionnaire
from tests.link_people import invite_one
from tests.link_study import Visitor, make_link_batch, path_of
from tests.protocols import VQAX, VTT, XAI
from tests.surveys.pages.hit_pages import full_answers, open_page, post

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_pictures")]
LABEL = ("criteria", "justifies", "label")
YES = ("criteria", "justifies", "choices", "yes", "label")


@pytest.fixture
def russian(settings: Any) -> Client:
    """Somebody whose browser asks for Russian, whether or not the pages around the questions have it."""
    settings.LANGUAGE_CODE = "ru"
    with translation.override("ru"):
        yield Client(headers={"accept-language": "ru"})


def translated(lang: str, texts: dict[tuple[str, ...], str], **changes: Any) -> Definition:
    given = tuple(TranslatedText(*one) for one in texts.items())
    return replace(VQAX, translations=(Translation(lang, given),), **changes)


def responses(questionnaire: Questionnaire) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(response_lines(questionnaire.batch)))))


def submitted(visitor: Client, questionnaire: Questionnaire, **query: str) -> list[tuple[Any, ...]]:
    """Answer the whole HIT; return what is stored of it, whichever system stood on which side."""
    post(visitor, questionnaire, full_answers(open_page(visitor, questionnaire, **query)))
    now = timezone.now()
    Assignment.objects.update(status="Submitted", accepted_at=now, submitted_at=now)
    given = Rating.objects.filter(response__assignment__hit=questionnaire.hit)
    return sorted(given.values_list("response__position", "criterion", "value", "score"))


def test_the_questions_are_asked_in_the_language_of_the_page(russian: Client) -> None:
    page = unescape(open_page(russian, make_questionnaire(n_items=1)).content.decode())
    assert [legend.strip() for legend in re.findall(r'<legend dir="ltr">([^<]+)', page)] == [
        "Какой ответ верен?",
        "Обосновывает ли объяснение приведённый выше ответ?",
        "Что с ним не так?",
        "Обосновывает ли объяснение приведённый выше ответ?",
        "Что с ним не так?",
        "Какое объяснение лучше?",
    ]
    assert re.findall(r'value="\w+no"[^>]*><span dir="ltr">([^<]+)', page) == ["Скорее нет"] * 2
    assert "<h1>Оцените два объяснения ответа по картинке</h1>" in page
    assert "Прежде чем читать дальше, придумайте своё объяснение" in page
    assert re.findall('<span lang=".." dir=', page) == []  # nothing here is in another language than the page


def test_a_title_of_the_batchs_own_is_no_text_of_the_protocol(russian: Client) -> None:
    page = open_page(russian, make_questionnaire(n_items=1, title="Judge my pictures")).content.decode()
    assert "<h1>Judge my pictures</h1>" in page


def test_what_is_answered_is_the_same_in_every_language_and_files_say_which(russian: Client) -> None:
    asked = make_questionnaire(n_items=1)
    plain = make_questionnaire(n_items=1, definition=replace(VQAX, translations=()), name="plain")
    assert submitted(russian, asked) == submitted(russian, plain, assignmentId="3PLAIN")
    assert {row["language"] for row in responses(asked)} == {"ru"}
    assert list(responses(asked)[0])[-1] == "language"
    assert "language" not in responses(plain)[0]
    tidy = read_batch(asked.batch).tidy(repeats=True)
    assert (list(tidy)[-1], set(tidy["language"])) == ("language", {"ru"})
    assert "language" not in read_batch(plain.batch).tidy(repeats=True)


def test_what_is_not_translated_is_marked_as_what_it_is(russian: Client) -> None:
    definition = translated("ru", {LABEL: "Верно ли <script>alert(1)</script>?"})
    page = open_page(russian, make_questionnaire(n_items=1, definition=definition)).content.decode()
    assert '<legend dir="ltr">Верно ли &lt;script&gt;alert(1)&lt;/script&gt;?</legend>' in page
    assert page.count('<span lang="en" dir="ltr">Which explanation is better?</span>') == 1
    assert page.count('<span lang="en" dir="ltr">Weak yes</span>') == 2


def test_a_protocol_in_arabic_runs_from_right_to_left_on_an_english_page(visitor: Client) -> None:
    definition = translated("en", {YES: "Yes"}, language="ar")
    definition = replace(definition, criteria=(replace(VQAX.criteria[0], label="هل يبرر؟"), VQAX.criteria[1]))
    page = open_page(visitor, make_questionnaire(n_items=1, definition=definition)).content.decode()
    legend = '<legend dir="rtl"><span lang="ar" dir="rtl">هل يبرر؟</span></legend>'
    assert page.count(legend) == 2
    assert len(re.findall(r'<fieldset class="group radio[^"]*" dir="rtl" role="radiogroup"', page)) == 4
    assert page.count('<span dir="ltr">Yes</span>') == 2


def test_instructions_are_in_their_language_whoever_read_the_same_words_before(visitor: Client) -> None:
    definition = replace(VQAX, language="ar")
    there = make_questionnaire(n_items=1, definition=definition)
    for asked in ("ar", "en"):
        visitor.defaults["HTTP_ACCEPT_LANGUAGE"] = asked
        page = open_page(visitor, there).content.decode()
    assert f'<span lang="ar" dir="rtl">{definition.instructions.summary}</span>' in page


def test_an_original_is_marked_for_who_asked_for_its_language_and_has_the_page_in_another() -> None:
    """A page that lacks Arabic is English around it, and a screen reader reads as English what says nothing else."""
    definition = replace(VQAX, language="ar", question_label="ما الجواب؟")
    visitor = Client(headers={"accept-language": "ar"})
    page = open_page(visitor, make_questionnaire(n_items=1, definition=definition)).content.decode()
    assert '<html lang="en"' in page
    assert '<span lang="ar" dir="rtl">ما الجواب؟</span>' in page
    assert f'<span lang="ar" dir="rtl">{definition.instructions.summary}</span>' in page


@pytest.mark.parametrize(
    ("language", "sentence"),
    [("en", "Write at most 2000 characters."), ("ru", "Напишите не больше 2000 знаков.")],
)
def test_how_long_a_text_may_be_is_said_in_the_language_of_the_page(language: str, sentence: str) -> None:
    with translation.override(language):
        with pytest.raises(ValidationError) as refused:
            Written(place=1, label="Why?").clean("x" * (TEXT_MAX + 1))
        assert refused.value.messages == [sentence]


def test_the_quiz_is_asked_and_explained_in_the_language_of_the_page(russian: Client) -> None:
    work = make_questionnaire(n_items=1, definition=XAI, uses_quiz=True)
    page = open_page(russian, work).content.decode()
    assert "Вы уверены, что это кошка." in page
    token = re.search(r'name="token" value="([^"]+)"', page)
    given = {
        "quiz": "1",
        "token": token and token[1],
        "number": "1",
        "q1": "no_effect",
        "q2": "both",
        "q3": "seen",
    }
    assert post(russian, work, given).status_code == 303
    said = open_page(russian, work, quiz="done").content.decode()
    assert "Довод может казаться нам правдоподобным." in said


def test_whoever_comes_by_link_reads_the_list_and_the_work_in_their_language(russian: Client) -> None:
    batch = make_link_batch(n_items=1, definition=VTT)
    ada = Visitor(path_of(invite_one(batch)))
    ada.client = russian
    assert "Посмотрите на картинки по порядку их номеров." in ada.open().content.decode()
    ada.start()
    assert "Картинки нет или она чёрная" in ada.open(1).content.decode()
    ada.answer(1)
    assert Response.objects.get().shown["language"] == "ru"
    assert [json.loads(line)["language"] for line in annotation_lines(batch)] == ["ru"]


@pytest.mark.parametrize(
    ("accepts", "chosen", "batch_language", "language"),
    [
        ("ar-EG,en;q=0.8", "", "", "ar"),
        ("de,ar;q=0.5", "", "", "ar"),
        ("en,ar;q=0.5", "", "", "en"),
        ("ru,ar;q=0.5", "", "", "ar"),
        ("ar", "en", "", "en"),
        ("ar", "", "en", "en"),
        ("de", "", "", "en"),
    ],
)
def test_a_protocol_is_read_in_a_language_of_the_browser_that_pages_lack(
    accepts: str, chosen: str, batch_language: str, language: str
) -> None:
    definition = translated("ar", {LABEL: "هل يبرر؟"})
    asked = make_questionnaire(n_items=1, definition=definition, page_language=batch_language)
    visitor = Client(headers={"accept-language": accepts})
    page = open_page(visitor, asked, **({"language": chosen} if chosen else {})).content.decode()
    is_arabic = '<legend dir="rtl"><span lang="ar" dir="rtl">هل يبرر؟</span></legend>' in page
    assert ("ar" if is_arabic else "en") == language
    assert BROWSERS.get() == ()
