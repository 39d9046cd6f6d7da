"""Markdown of an item's text: what it may say, and that nothing in it acts."""

import pytest

from surveys.templatetags.markdown import markdown


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a *b*\n**c** `<d>`", '<p dir="auto">a <em>b</em>\n<strong>c</strong> <code>&lt;d&gt;</code></p>\n'),
        ("3. a", '<ol start="3" dir="auto">\n<li dir="auto">a</li>\n</ol>\n'),
        ("> a", '<blockquote dir="auto">\n<p dir="auto">a</p>\n</blockquote>\n'),
        ("```js\n<b>\n```", '<pre dir="auto"><code>&lt;b&gt;\n</code></pre>\n'),
        ("# a", '<p dir="auto"># a</p>\n'),
        ("[a](https://example.org/)", '<p dir="auto">a</p>\n'),
        ("[a](javascript:alert(1))", '<p dir="auto">[a](javascript:alert(1))</p>\n'),
        ("<https://example.org/>", '<p dir="auto">&lt;https://example.org/&gt;</p>\n'),
        ('![a <b>](https://example.org/b.png "c")', '<p dir="auto">a &lt;b&gt;</p>\n'),
        ("<script>a</script>", '<p dir="auto">&lt;script&gt;a&lt;/script&gt;</p>\n'),
        ('<img src=x onerror="a">', '<p dir="auto">&lt;img src=x onerror="a"&gt;</p>\n'),
        ("<div>\n\n<!-- a", '<p dir="auto">&lt;div&gt;</p>\n<p dir="auto">&lt;!-- a</p>\n'),
        ("a <b\u202e>", '<p dir="auto">a &lt;b\u202e&gt;</p>\n'),
    ],
)
def test_what_becomes_of_it(text: str, html: str) -> None:
    assert markdown(text) == html
