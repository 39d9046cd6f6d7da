"""An appeal's page in another language is the same page: with the way back and what was said after sending."""

import html
import re

import pytest

from tests.appeals import rejected

pytestmark = pytest.mark.django_db


def test_the_links_to_other_languages_keep_the_rest_of_an_appeals_address(visitor, questionnaire):
    appeal = rejected(questionnaire)
    page = visitor.get(f"/appeals/{appeal.code}/?sent&list=abc").content.decode()
    (link,) = re.findall(r'<a href="([^"]+)" lang="ru"', page)
    assert html.unescape(link) in ("?sent=&list=abc&language=ru", "?language=ru&sent=&list=abc")
