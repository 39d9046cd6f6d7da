"""What researchers' pages make of what is given to them."""

import pytest

from surveys.templatetags.researcher import breakable


@pytest.mark.parametrize(
    ("name", "html"),
    [
        ("captioning_meteor", "captioning_<wbr>meteor"),
        ("gpt-4/a_b-", "gpt-<wbr>4/<wbr>a_<wbr>b-"),
        ("a__b", "a__<wbr>b"),
        ("модель_б", "модель_<wbr>б"),
        ("", ""),
        ("<b>_<i>", "&lt;b&gt;_&lt;i&gt;"),
    ],
)
def test_a_name_breaks_behind_its_signs(name: str, html: str) -> None:
    assert breakable(name) == html
