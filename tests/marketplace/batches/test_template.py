"""Placeholders and the values that go into them."""

import pytest

from marketplace.batches.template import Template

NASTY = """</p><script>"x" 'y' `z` & ${q} \\"""


def test_values_are_escaped_in_text_and_attributes():
    page = Template("<p title='${a}'>${ b }</p>${a}").filled({"a": "x'\"<&", "b": "<bin_817>"})
    assert page == "<p title='x&#x27;&quot;&lt;&amp;'>&lt;bin_817&gt;</p>x&#x27;&quot;&lt;&amp;"


def test_a_value_cannot_leave_an_attribute_without_quotes():
    page = Template("<img src=${a} alt=''>${a}").filled({"a": "x onerror=alert(1)"})
    assert page == "<img src=x&#32;onerror=alert(1) alt=''>x onerror=alert(1)"


def test_raw_values_go_in_as_they_are():
    template = Template('<p>${a}</p><script>f("${a}")</script>', is_raw=True)
    assert template.filled({"a": "<b>"}) == '<p><b></p><script>f("<b>")</script>'


SCRIPTS = {
    '"${a}"': '"\\u0022\\u003C/script\\u003E\\u000A"',
    "'${a}'": "'\\u0022\\u003C/script\\u003E\\u000A'",
    "`${a}`": "`\\u0022\\u003C/script\\u003E\\u000A`",
    "// ${a}": "// \\u0022\\u003C/script\\u003E\\u000A",
    "f(${a})": 'f("\\u0022\\u003C/script\\u003E\\u000A")',
}


@pytest.mark.parametrize(("code", "filled"), SCRIPTS.items())
def test_a_value_in_a_script_stays_inside_its_string(code, filled):
    page = Template(f"<script>{code}</script>").filled({"a": '"</script>\n'})
    assert page == f"<script>{filled}</script>"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("7", "7"),
        ('{"a": "<"}', '{"a": "\\u003c"}'),
        ("true", "true"),
        ("word", '"word"'),
        ("1;alert(1)", '"1\\u003Balert(1)"'),
    ],
)
def test_json_is_an_expression_in_a_script_and_all_else_a_string(value, written):
    assert Template("<script>x = ${a};</script>").filled({"a": value}) == f"<script>x = {written};</script>"


def test_a_value_between_backticks_is_not_run():
    assert Template("<script>`${a}`</script>").filled({"a": "${b}"}) == "<script>`\\u0024{b}`</script>"


def test_a_handler_is_script_inside_an_attribute():
    page = Template("""<a onclick="f('${a}', ${b})">${a}</a>""").filled({"a": "it's", "b": '{"c": 1}'})
    assert page == """<a onclick="f('it\\u0027s', {&quot;c&quot;: 1})">it&#x27;s</a>"""


def test_a_script_that_is_only_text_is_escaped_as_text():
    page = Template('<script type="text/x-template"><p>${a}</p></script>').filled({"a": "<"})
    assert page == '<script type="text/x-template"><p>&lt;</p></script>'


def test_javascripts_own_placeholders_are_left_alone():
    template = Template("<p>${a}</p><script>`${row} ${a}`; '${b}'</script>")
    assert template.names(["a"]) == ["a", "b"]
    assert template.filled({"a": "1"}) == "<p>1</p><script>`${row} 1`; '${b}'</script>"


def test_a_name_is_found_by_its_line():
    assert Template("<p>\n\n${x} ${y}\n${x}").line_of("x") == 3


def test_a_value_is_not_filled_again():
    assert Template("${a}${b}").filled({"a": "${b}", "b": NASTY.replace("<", "")})[:4] == "${b}"


@pytest.mark.parametrize(
    "piece", ["<a", '<a"', "<script>", "<script", "${", "${a", "<a onclick='", "`", "/*"]
)
def test_a_malicious_template_is_read_in_proportion_to_its_length(piece):
    """It would take minutes otherwise."""
    html = piece * (65_000 // len(piece))
    assert Template(html).filled({"b": "x"}) == html
