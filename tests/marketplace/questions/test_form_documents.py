"""Documents that break QuestionForm's rules are refused, with the line and what is wrong."""

import re

import pytest

from marketplace.api import hit_operations
from marketplace.api.errors import ApiError
from marketplace.questions import question_forms
from marketplace.questions.question_forms import (
    Block,
    Choice,
    ChoiceAnswer,
    Overview,
    Pattern,
    Question,
    TextAnswer,
)
from tests.marketplace.questions.form_documents import (
    FORM,
    free_text,
    overview,
    question,
    question_form,
    selection,
)
from tests.marketplace.refusals import refusal

START = "There was an error parsing the XML question or answer data in your request. "


def test_a_form_is_read_whole():
    document = question_form(
        overview(
            "<Title>T</Title><List><ListItem>one</ListItem><ListItem>two</ListItem></List>"
            "<EmbeddedBinary><EmbeddedMimeType><Type>video</Type><SubType>mp4</SubType></EmbeddedMimeType>"
            "<DataURL>https://lab.example/a.mp4</DataURL><AltText>A film</AltText><Width>320</Width>"
            "<Height>50%</Height></EmbeddedBinary>"
        ),
        question(
            " text\n",
            free_text(
                '<IsNumeric minValue="-1"/><Length minLength="2"/>'
                '<AnswerFormatRegex regex="a" flags="i" errorText="An a."/><AnswerFormatRegex regex="b"/>',
                default="3",
                lines="2",
            ),
            required=True,
            name="Name",
        ),
        question("choice", selection("x", style="list", fewest=0, most=1, other=True)),
    )
    well = (Block(kind="text", text="Well?"),)
    form = question_forms.read(document)
    assert form.parts == (
        Overview(
            content=(
                Block(kind="title", text="T"),
                Block(kind="list", items=("one", "two")),
                Block(kind="video", url="https://lab.example/a.mp4", text="A film", width="320"),
            )
        ),
        Question(
            identifier="text",
            name="Name",
            is_required=True,
            content=well,
            answer=TextAnswer(
                default="3",
                lines=2,
                is_numeric=True,
                lowest=-1,
                shortest=2,
                patterns=(
                    Pattern(regex="a", ignore_case=True, message="An a."),
                    Pattern(regex="b", ignore_case=False, message=question_forms.WRONG_FORM),
                ),
            ),
        ),
        Question(
            identifier="choice",
            name="",
            is_required=False,
            content=well,
            answer=ChoiceAnswer(
                style="list",
                fewest=0,
                most=1,
                choices=(Choice(identifier="x", label=Block(kind="text", text="The x")),),
                other=TextAnswer(),
            ),
        ),
    )


def formatted(markup):
    return question_form(overview(f"<FormattedContent><![CDATA[{markup}]]></FormattedContent>"), GOOD)


GOOD = question("q", free_text())
UPLOAD = (
    "<FileUploadAnswer><MaxFileSizeInBytes>9</MaxFileSizeInBytes>"
    "<MinFileSizeInBytes>1</MinFileSizeInBytes></FileUploadAnswer>"
)
REFUSED = [
    (question_form(), "Line 1: Element 'QuestionForm': Missing child element(s)."),
    (question_form(GOOD, "<Wuestion/>"), "Line 3: Element 'Wuestion': This element is not expected."),
    (
        question_form(GOOD, namespace=FORM.replace("2017-11-06", "2012-01-01")),
        f"Line 1: The namespace of the document is {FORM} or ",
    ),
    (
        question_form(question("q", UPLOAD)),
        "Line 2: FileUploadAnswer is not supported, as on MTurk since December 2017.",
    ),
    (
        question_form(GOOD, overview("<Application/>")),
        "Line 3: Application is not supported, as on MTurk since December 2017.",
    ),
    (question_form(GOOD, GOOD), 'Line 3: The QuestionIdentifier "q" is used twice.'),
    (question_form(question("", free_text())), "Line 2: Element 'QuestionIdentifier':"),
    (
        question_form(question("q", selection("a", "a"))),
        'Line 2: The SelectionIdentifier "a" is used twice.',
    ),
    (
        question_form(question("q", selection("a", most=2))),
        "Line 2: MaxSelectionCount is 2, but there are 1 selections.",
    ),
    (
        question_form(question("q", selection("a", "b", fewest=2))),
        "Line 2: MinSelectionCount is more than MaxSelectionCount.",
    ),
    (question_form(question("q", selection("a", style="slider"))), "Line 2: Element 'StyleSuggestion':"),
    (
        question_form(question("q", free_text('<Length minLength="5" maxLength="4"/>'))),
        "Line 2: minLength is more than the longest answer there can be.",
    ),
    (
        question_form(question("q", free_text('<IsNumeric minValue="5" maxValue="4"/>'))),
        "Line 2: minValue is more than maxValue.",
    ),
    (
        question_form(question("q", free_text('<AnswerFormatRegex regex="(a"/>'))),
        "Line 2: The regex '(a' cannot be read:",
    ),
    (
        question_form(question("q", free_text('<AnswerFormatRegex regex="((a{100}){100}){100}"/>'))),
        "Line 2: The regex repeats too much, too often.",
    ),
    (
        question_form(question("q", free_text('<AnswerFormatRegex regex="a{000999999,}"/>'))),
        "Line 2: The regex repeats too much, too often.",
    ),
    (question_form(question("q", free_text("<AnswerFormatRegex/>"))), "Line 2: Element 'AnswerFormatRegex':"),
    (
        question_form(question("q", free_text(), content="<Text>a<b>b</b></Text>")),
        "Line 2: Element 'Text': Element content is not allowed",
    ),
    (
        question_form(
            question(
                "q",
                free_text(),
                content="<Binary><MimeType><Type>image</Type></MimeType><DataURL>javascript:alert(1)</DataURL>"
                "<AltText/></Binary>",
            )
        ),
        "Line 2: Element 'DataURL':",
    ),
    (
        f'<QuestionForm xmlns="{FORM}">' + "<Overview>" * 300 + "</Overview>" * 300 + "</QuestionForm>",
        "The document cannot be read:",
    ),
]


@pytest.mark.parametrize(("document", "message"), REFUSED[:-1], ids=range(len(REFUSED) - 1))
def test_a_form_that_breaks_the_rules_is_refused(mturk, values, document, message):
    said = refusal(mturk.create_hit, **values | {"Question": document})
    assert said[:2] == (400, "ParameterValidationError")
    assert said[3].startswith(START + message)
    assert re.search(r" \(\d{13} s\)$", said[3])
    assert mturk.list_hits()["NumResults"] == 0


MARKUP = [
    ("<script>alert(1)</script>", "<script> is not a supported tag."),
    ("<div>x</div>", "<div> is not a supported tag."),
    ("<p style='color:red'>x</p>", "<p> takes no attribute style."),
    ("<p onclick='x()'>x</p>", "<p> takes no attribute onclick."),
    ("<a href='javascript:x()'>x</a>", "The href of <a> is not an address of a supported kind."),
    ("<a href='JAVASCRIPT://x'>x</a>", "The href of <a> is not an address of a supported kind."),
    ("<img src='data:image/svg+xml,x' alt=''/>", "The src of <img> is not an address of a supported kind."),
    ("<img src='https://lab.example/a.png'/>", "<img> needs the attribute alt."),
    ("<P>x</P>", "<P> is not a supported tag."),
    (
        "<svg xmlns='http://www.w3.org/2000/svg'/>",
        "<{http://www.w3.org/2000/svg}svg> is not a supported tag.",
    ),
    ("<!-- x -->", "Comments, CDATA and processing instructions are not allowed."),
    ("<?php x ?>", "Comments, CDATA and processing instructions are not allowed."),
    ("<b><i>x</b></i>", "Opening and ending tag mismatch"),
    ("</div><p>x</p><div>", "Extra content at the end of the document"),
    ("<p>x", "Opening and ending tag mismatch"),
    ("&nosuch;", "Entity 'nosuch' not defined"),
    ("&LT;script>alert(1)&LT;/script>", "<script> is not a supported tag."),
]


@pytest.mark.parametrize(("markup", "message"), MARKUP, ids=range(len(MARKUP)))
def test_markup_outside_the_listed_subset_is_refused(mturk, values, markup, message):
    said = refusal(mturk.create_hit, **values | {"Question": formatted(markup)})
    assert said[:2] == (400, "ParameterValidationError")
    assert said[3].startswith(f"{START}Line 2: FormattedContent: {message}")


def test_listed_markup_is_written_as_html_that_keeps_to_its_place():
    given = (
        'I <b>like</b> &eacute;&nbsp;&lt;x&gt;<br/><a href="https://lab.example/?a=1&amp;b=2" target="_top" '
        'tabindex="9" title="&quot;&gt;">there</a><img src="http://lab.example/a.png" alt="A"/>'
    )
    (overview_part, _) = question_forms.read(formatted(given)).parts
    (block,) = overview_part.content
    assert block.markup == (
        'I <b>like</b> é\xa0&lt;x&gt;<br><a href="https://lab.example/?a=1&amp;b=2" '
        'title=\'"&gt;\' target="_blank" rel="noopener noreferrer">there</a>'
        '<img src="http://lab.example/a.png" alt="A">'
    )


@pytest.mark.parametrize(
    ("document", "code"), [(question_form(), "XMLParseError"), (formatted("<x/>"), "XHTMLParseError")]
)
def test_the_wire_carries_the_code_that_older_clients_look_for(values, document, code):
    """boto3 leaves it out, for the service model does not know ParameterValidationError."""
    with pytest.raises(ApiError) as caught:
        hit_operations.read_offer(values | {"Question": document})
    assert caught.value.body["TurkErrorCode"] == f"AWS.MechanicalTurk.{code}"


DOCTYPE = f'<!DOCTYPE QuestionForm [<!ENTITY a "b">]><QuestionForm xmlns="{FORM}">&a;</QuestionForm>'
UNREADABLE = [DOCTYPE, "<QuestionForm", question_form(GOOD).replace("Well?", "&b;"), REFUSED[-1][0]]


@pytest.mark.parametrize("document", UNREADABLE, ids=range(len(UNREADABLE)))
def test_what_is_no_plain_xml_is_refused_before_its_rules_are_looked_at(mturk, values, document):
    said = refusal(mturk.create_hit, **values | {"Question": document})
    assert said[:3] == (400, "RequestError", "XMLParseError")


@pytest.mark.parametrize("encoding", ["UTF-16", "ISO-8859-1", "ASCII", "no-such"])
def test_a_declared_encoding_is_not_believed(encoding):
    document = f'<?xml version="1.0" encoding="{encoding}"?>' + question_form(
        question("q", free_text(), content="<Text>\u00e9\u4e16</Text>")
    )
    (asked,) = question_forms.read(document).questions
    assert asked.content == (Block(kind="text", text="é世"),)
