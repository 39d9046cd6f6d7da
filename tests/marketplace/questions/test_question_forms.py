"""QuestionForm as a HIT's question, end to end: boto3 publishes, a worker without JavaScript answers."""

import re
from xml.etree import ElementTree

import pytest

from marketplace.models import Assignment
from tests.marketplace.question_documents import OPENING
from tests.marketplace.questions.form_documents import (
    EXAMPLE,
    GOOD,
    OLD_FORM,
    accepted,
    answer,
    free_text,
    overview,
    question,
    question_form,
    selection,
    send,
)


@pytest.fixture
def publish(mturk, new_hit):
    """A function that publishes a document and returns its HIT as boto3 reports it."""
    return lambda document: mturk.get_hit(HITId=new_hit(Question=document))["HIT"]


@pytest.fixture
def work(publish, new_worker):
    """A function that publishes a document and has a worker accept it: (browser, AssignmentId)."""
    return lambda document=EXAMPLE: accepted(publish(document), new_worker())


def problems(page):
    """Return what the page says is wrong, by question."""
    found = re.findall(r'<p class="wrong" id="(q\d+)-errors">(.*?) </p>', page)
    return dict(found)


def test_the_requester_reads_the_question_as_it_was_sent(publish):
    assert publish(EXAMPLE)["Question"] == EXAMPLE


def test_the_answers_are_written_as_mturk_writes_them(mturk, work):
    job = work()
    status, page = send(job, GOOD)
    assert (status, '<p id="submitted">' in page) == (200, True)
    rows = [
        ("surface", "<SelectionIdentifier>cobbles</SelectionIdentifier>"),
        (
            "seen",
            "<SelectionIdentifier>cars</SelectionIdentifier><SelectionIdentifier>trees</SelectionIdentifier>",
        ),
        ("season", "<SelectionIdentifier>winter</SelectionIdentifier>"),
        ("moods", ""),
        ("count", "<FreeText>7</FreeText>"),
        ("code", "<FreeText>ABC-12</FreeText>"),
        ("remarks", "<FreeText>Nothing.\nSecond line: &#233; &lt;&amp;&gt;</FreeText>"),
    ]
    body = "".join(
        f"<Answer><QuestionIdentifier>{name}</QuestionIdentifier>{value}</Answer>" for name, value in rows
    )
    assert answer(mturk, job) == f"{OPENING}{body}</QuestionFormAnswers>"
    ElementTree.fromstring(answer(mturk, job))


def test_an_alternative_text_stands_alone_or_beside_a_choice(mturk, work):
    alone, beside = work(), work()
    send(alone, GOOD | {"q1": [], "q1-other": "mud"})
    send(beside, GOOD | {"q1-other": "and mud"})
    assert "<QuestionIdentifier>surface</QuestionIdentifier><OtherSelectionText>mud</" in answer(mturk, alone)
    assert (
        "<SelectionIdentifier>cobbles</SelectionIdentifier><OtherSelectionText>and mud</OtherSelectionText>"
    ) in answer(mturk, beside)


def test_gaps_are_named_the_first_is_focused_and_nothing_is_lost(work):
    job = work()
    status, page = send(job, {"q2": ["1"], "q5": "100", "q6": "abc", "q7": "Kept <b>"})
    assert status == 422
    assert problems(page) == {
        "q1": "This question needs an answer.",
        "q2": "Choose 2 to 3; you chose 1.",
        "q3": "This question needs an answer.",
        "q5": "Enter a number from 0 to 99.",
        "q6": "Like abc-12, please.",
    }
    assert re.findall(r'id="(\S+)"[^>]* autofocus', page) == ["q1"]
    assert re.findall(r'<li><a href="#(q\d+)">(.*?)</a>', page) == [
        ("q1", "The surface"),
        ("q2", "Question 2"),
        ("q3", "Question 3"),
        ("q5", "Question 5"),
        ("q6", "Question 6"),
    ]
    assert "Kept &lt;b&gt;</textarea>" in page
    assert re.search(r'name="q2" value="1"[^>]* checked', page)
    assert Assignment.objects.get().status == "Open"
    assert send(job, GOOD)[0] == 200


def test_the_switch_to_go_on_stays_as_it_is_when_there_are_gaps(work):
    browser, _ = job = work()
    switch = '<input type="checkbox" name="accept_next" value="1"{}>'
    assert switch.format("") in send(job, {})[1]
    browser.client.post("/work/accept-next", {"accept_next": "1"})
    assert switch.format(" checked") in send(job, {})[1]


def test_fields_name_their_hint_and_what_is_wrong(work):
    _, page = send(work(), {"q5": "x"})
    found = re.findall(r'<(?:input type="text"|select|textarea) id="(q\d)"([^>]*)>', page)
    fields = {name: (re.findall(r'described\w+="(.*?)"', rest), " required" in rest) for name, rest in found}
    assert fields == {
        "q3": (["q3-errors"], True),
        "q4": (["q4-hint"], False),
        "q5": (["q5-hint q5-errors"], True),
        "q6": ([], False),
        "q7": ([], False),
    }


WRONG = [
    ({"q1": "4"}, "q1", "Select a valid choice. 4 is not one of the available choices."),
    ({"q2": ["1", "2", "3", "4"]}, "q2", "Choose 2 to 3; you chose 4."),
    ({"q5": ""}, "q5", "This question needs an answer."),
    ({"q5": "1e1"}, "q5", "Enter a number from 0 to 99."),
    ({"q5": "1_0"}, "q5", "Enter a number from 0 to 99."),
    ({"q5": "00007"}, "q5", "This answer has 1 to 4 characters; yours has 5."),
    ({"q5": "NaN"}, "q5", "Enter a number from 0 to 99."),
    ({"q7": "x" * 100_001}, "q7", "This answer has at most 100000 characters; yours has 100001."),
]


@pytest.mark.parametrize(("changes", "name", "problem"), WRONG, ids=range(len(WRONG)))
def test_answers_outside_the_constraints_are_not_taken(work, changes, name, problem):
    status, page = send(work(), GOOD | changes)
    assert (status, problems(page)) == (422, {name: problem})


def test_a_question_without_a_need_may_stay_empty(mturk, work):
    document = question_form(
        question("text", free_text('<IsNumeric/><AnswerFormatRegex regex="\\S"/>')),
        question("choice", selection("a", "b", most=2, fewest=2, style="checkbox")),
        question("none", selection("a", fewest=0), required=True),
    )
    job = work(document)
    assert send(job, {})[0] == 200
    assert answer(mturk, job).count("<Answer>") == 3
    assert "<FreeText></FreeText>" in answer(mturk, job)


def test_a_pattern_that_takes_for_ever_finds_nothing(work):
    slow = free_text('<AnswerFormatRegex regex="^(a|aa)+$"/>')
    status, page = send(work(question_form(question("slow", slow))), {"q1": "a" * 60 + "!"})
    assert (status, problems(page)) == (422, {"q1": "This answer does not have the form that is asked for."})


def test_what_xml_cannot_hold_is_left_out(mturk, work):
    job = work(question_form(question("text", free_text())))
    send(job, {"q1": "a\x00b\x0bc"})
    assert "<FreeText>abc</FreeText>" in answer(mturk, job)


CONTROLS = [
    ("radiobutton", 1, "radio"),
    ("", 1, "radio"),
    ("checkbox", 1, "checkbox"),
    ("dropdown", 1, "select"),
    ("combobox", 1, "select"),
    ("list", 1, "select size"),
    ("multichooser", 1, "select size multiple"),
    ("radiobutton", 2, "checkbox"),
    ("", 2, "checkbox"),
    ("checkbox", 2, "checkbox"),
    ("dropdown", 2, "checkbox"),
    ("combobox", 2, "checkbox"),
    ("list", 2, "select size multiple"),
    ("multichooser", 2, "select size multiple"),
]


def control(page):
    (kind,) = set(re.findall(r'<input type="(radio|checkbox)" name="q1"', page)) or {"select"}
    tag = next(iter(re.findall(r"<select[^>]*>", page)), "")
    return " ".join([kind, *re.findall(r" (size|multiple)\b", tag)])


@pytest.mark.parametrize(("style", "most", "expected"), CONTROLS)
def test_the_style_is_followed_as_far_as_the_counts_allow(work, style, most, expected):
    browser, assignment_id = work(question_form(question("q", selection("a", "b", style=style, most=most))))
    hit = Assignment.objects.get(assignment_id=assignment_id).hit
    page = browser.client.get(f"/projects/{hit.hit_type.type_id}/tasks/{hit.hit_id}").content.decode()
    assert control(page) == expected


SEVERAL = [("checkbox", 200), ("list", 200), ("multichooser", 200), ("radiobutton", 422), ("", 422)]


@pytest.mark.parametrize(("style", "status"), SEVERAL)
def test_without_a_maximum_some_styles_take_several(work, style, status):
    document = question_form(question("q", selection("a", "b", style=style)))
    assert send(work(document), {"q1": ["1", "2"]})[0] == status


def test_pictures_and_markup_as_choices_are_never_a_list_that_cannot_show_them(work, publish, new_worker):
    picture = (
        "<Binary><MimeType><Type>image</Type></MimeType><DataURL>https://lab.example/a.png</DataURL>"
        "<AltText>A cat</AltText></Binary>"
    )
    labels = [picture, "<FormattedContent><![CDATA[<i>dog</i>]]></FormattedContent>"]
    hit = publish(question_form(question("q", selection("a", "b", style="dropdown", labels=labels))))
    page = new_worker().client.get(f"/projects/{hit['HITTypeId']}/tasks").content.decode()
    assert control(page) == "radio"
    assert '<img src="https://lab.example/a.png" alt="A cat">' in page
    assert '<span class="markup"><i>dog</i></span>' in page


def test_the_preview_shows_the_form_disabled_and_says_so(publish, client):
    hit = publish(EXAMPLE)
    response = client.get(f"/projects/{hit['HITTypeId']}/tasks", headers={"host": "localhost"})
    page = response.content.decode()
    assert '<fieldset id="task" class="sheet" disabled>' in page
    assert "This is a preview." in page
    assert "Look at the street &lt;b&gt;before&lt;/b&gt; you answer." in page
    assert '<td align="right">7\xa0000</td>' in page
    assert ("<iframe" in page, "/answers" in page) == (False, False)
    assert response["Content-Security-Policy"].startswith("default-src 'none'; script-src 'self'")


def test_identifiers_stay_with_the_requester(publish, new_worker):
    hit = publish(
        question_form(question("gold-7", selection("right", "wrong", labels=["<Text>A</Text>"] * 2)))
    )
    page = new_worker().client.get(f"/projects/{hit['HITTypeId']}/tasks").content.decode()
    assert re.findall(r'<input type="radio" name="(\w+)" value="(\w+)"', page) == [("q1", "1"), ("q1", "2")]
    assert [word in page for word in ("gold-7", "right", "wrong")] == [False, False, False]


def test_a_form_for_who_may_not_preview_is_not_shown(new_hit, mturk, new_worker):
    guard = {
        "QualificationTypeId": "00000000000000000040",
        "Comparator": "GreaterThan",
        "IntegerValues": [0],
        "ActionsGuarded": "PreviewAndAccept",
    }
    hit = mturk.get_hit(HITId=new_hit(Question=EXAMPLE, QualificationRequirements=[guard]))["HIT"]
    page = new_worker().client.get(f"/projects/{hit['HITTypeId']}/tasks").content.decode()
    assert "What is the street made of?" not in page


def test_the_older_schema_and_its_unclosed_address_are_taken(work):
    old = question_form(overview("<Text>Old</Text>"), question("q", free_text()), namespace=OLD_FORM)
    assert send(work(old), {"q1": "x"})[0] == 200
