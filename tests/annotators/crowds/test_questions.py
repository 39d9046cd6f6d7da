import pytest

from annotators.crowds.mturk.questions import (
    EXTERNAL_QUESTION_NS,
    AnswerError,
    external_question,
    parse_answers,
)
from marketplace.questions import hit_questions as marketplace_questions
from marketplace.questions.answer_documents import document

NS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"


def answers_of(body: str, *, head: str = '<?xml version="1.0" encoding="ASCII"?>', ns: str = NS) -> str:
    return f'{head}<QuestionFormAnswers xmlns="{ns}">{body}</QuestionFormAnswers>'


def field(name: str, text: str) -> str:
    return f"<Answer><QuestionIdentifier>{name}</QuestionIdentifier><FreeText>{text}</FreeText></Answer>"


def test_external_question_escapes_the_address() -> None:
    assert external_question("https://lab.example/hits/7/?a=1&b=<ы>") == (
        f'<ExternalQuestion xmlns="{EXTERNAL_QUESTION_NS}">'
        "<ExternalURL>https://lab.example/hits/7/?a=1&amp;b=&lt;ы&gt;</ExternalURL>"
        "<FrameHeight>0</FrameHeight></ExternalQuestion>"
    )


@pytest.mark.parametrize(
    "text",
    ["Красный автобус", "😀 🚌", "a & b < c > \"d\" 'e'", "line 1\nline 2\ttab", "", "]]>", "x" * 200_000],
)
def test_answers_survive_the_marketplaces_document(text: str) -> None:
    assert parse_answers(document({"taskAnswers": text, "comment": "ok"})) == {
        "taskAnswers": text,
        "comment": "ok",
    }


def test_answers_are_found_whatever_the_date_of_the_namespace() -> None:
    expected = {"c1": "yes"}
    assert parse_answers(answers_of(field("c1", "yes"))) == expected
    assert (
        parse_answers(answers_of(field("c1", "yes"), ns=NS.replace("2005-10-01", "2014-08-15"))) == expected
    )
    assert parse_answers(f"<QuestionFormAnswers>{field('c1', 'yes')}</QuestionFormAnswers>") == expected


def test_answers_may_come_in_another_order_of_elements() -> None:
    body = "<Answer><FreeText>yes</FreeText><QuestionIdentifier>c1</QuestionIdentifier></Answer>"
    assert parse_answers(answers_of(body)) == {"c1": "yes"}


def test_letters_beyond_a_declared_ascii_encoding_are_read() -> None:
    assert parse_answers(answers_of(field("c1", "да 😀"))) == {"c1": "да 😀"}


def test_an_answer_without_text_is_empty() -> None:
    body = "<Answer><QuestionIdentifier>c1</QuestionIdentifier></Answer>"
    assert parse_answers(answers_of(body)) == {"c1": ""}


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    "broken",
    [
        "",
        "not xml",
        "<QuestionFormAnswers>",
        answers_of(field("c1", "a & b")),
        answers_of(field("c1", "\x01")),
        answers_of(field("c1", "&#0;")),
        answers_of(field("c1", "\ud800")),
        answers_of(field("c1", "&b;"), head=BOMB),
    ],
)
def test_what_is_not_an_answer_document_is_refused(broken: str) -> None:
    with pytest.raises(AnswerError):
        parse_answers(broken)


def test_a_doctype_is_named_as_the_reason() -> None:
    with pytest.raises(AnswerError, match="declares a DOCTYPE"):
        parse_answers(answers_of("", head=BOMB))


def test_the_marketplace_reads_the_question_we_send() -> None:
    question = marketplace_questions.parse(external_question("https://lab.example/?a=1&b=2"))
    assert (question.url, question.frame_height) == ("https://lab.example/?a=1&b=2", 0)
