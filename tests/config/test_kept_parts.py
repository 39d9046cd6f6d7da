"""What is rendered once for many pages says nothing of one of them."""

import pytest
from django.http import QueryDict
from django.template import TemplateSyntaxError, engines
from django.utils import translation

from config.language_tags import language_links


def test_a_block_is_never_kept() -> None:
    with pytest.raises(TemplateSyntaxError, match="A block can't be kept"):
        engines["django"].from_string(
            "{% load kept_parts %}{% kept %}{% if x %}{% block a %}{% endblock %}{% endif %}{% endkept %}"
        )


def test_links_to_other_languages_keep_all_else_of_the_address() -> None:
    with translation.override("en"):
        assert 'href="?language=ru"' in language_links(None)
        assert 'href="?a=1&amp;a=2&amp;q=%22%3Cb%3E&amp;language=ru"' in language_links(
            QueryDict('a=1&a=2&language=en&q="<b>')
        )
        assert 'href="?language=ru"' in language_links(QueryDict(""))
    with translation.override("ru"):
        assert 'href="?x=&amp;language=en"' in language_links(QueryDict("x="))
