"""What is rendered once for many pages says nothing of one of them."""

import inspect
from collections.abc import Callable

import pytest
from django.http import QueryDict
from django.template import TemplateDoesNotExist, TemplateSyntaxError, engines
from django.utils import translation

from config.kept_parts import Kept
from config.language_tags import language_links


def test_a_block_is_never_kept() -> None:
    with pytest.raises(TemplateSyntaxError, match="A block can't be kept"):
        engines["django"].from_string(
            "{% load kept_parts %}{% kept %}{% if x %}{% block a %}{% endblock %}{% endif %}{% endkept %}"
        )


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Callable[..., str]]:
    """Read a template and return what renders it, as outside tests: what is kept is not rendered beside it."""
    monkeypatch.setattr(Kept, "render", inspect.unwrap(Kept.render))

    def read(text: str) -> Callable[..., str]:
        template = engines["django"].from_string("{% load kept_parts %}" + text)
        return lambda **values: str(template.render(values))

    return read


def test_what_is_fresh_is_each_page_s_own(shown: Callable[[str], Callable[..., str]]) -> None:
    page = shown(
        "{% kept title %}<b>{{ title }}{{ who }}</b>{% fresh %}<i>{{ who }}</i>{% endfresh %}!{% endkept %}"
    )
    assert page(title="T", who="<one>") == "<b>T&lt;one&gt;</b><i>&lt;one&gt;</i>!"
    assert page(title="T", who="two") == "<b>T&lt;one&gt;</b><i>two</i>!"  # as it depends on the title alone
    assert page(title="U", who="two") == "<b>Utwo</b><i>two</i>!"


def test_what_is_kept_within_what_is_kept_has_its_fresh_places_too(
    shown: Callable[[str], Callable[..., str]],
) -> None:
    inner = "{% kept %}({% fresh %}{{ who }}{% endfresh %}){% endkept %}"
    page = shown(f"{{% kept %}}[{inner}{{% fresh %}}{{{{ who }}}}{inner}{{% endfresh %}}]{{% endkept %}}")
    assert [page(who="one"), page(who="two")] == ["[(one)one(one)]", "[(two)two(two)]"]


def test_a_page_that_fails_leaves_the_next_one_whole(shown: Callable[[str], Callable[..., str]]) -> None:
    page = shown("{% kept title %}{% include name %}{% fresh %}{{ who }}{% endfresh %}{% endkept %}")
    with pytest.raises(TemplateDoesNotExist):
        page(title="T", name="no/such.html", who="one")
    assert shown("{% fresh %}{{ who }}{% endfresh %}")(who="two") == "two"


def test_links_to_other_languages_keep_all_else_of_the_address() -> None:
    with translation.override("en"):
        assert 'href="?language=ru"' in language_links(None)
        assert 'href="?a=1&amp;a=2&amp;q=%22%3Cb%3E&amp;language=ru"' in language_links(
            QueryDict('a=1&a=2&language=en&q="<b>')
        )
        assert 'href="?language=ru"' in language_links(QueryDict(""))
    with translation.override("ru"):
        assert 'href="?x=&amp;language=en"' in language_links(QueryDict("x="))
