"""QuestionForm and AnswerKey documents the tests send."""

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
FORM = f"{SCHEMAS}/2017-11-06/QuestionForm.xsd"
OLD_FORM = f"{SCHEMAS}/2005-10-01/QuestionForm.xsd"
KEY = f"{SCHEMAS}/2005-10-01/AnswerKey.xsd"


def question_form(*parts, namespace=FORM):
    return f'<QuestionForm xmlns="{namespace}">\n' + "\n".join(parts) + "\n</QuestionForm>"


def overview(content):
    return f"<Overview>{content}</Overview>"


def question(identifier, answer, *, content="<Text>Well?</Text>", name="", required=False):
    shown = f"<DisplayName>{name}</DisplayName>" if name else ""
    needed = "<IsRequired>true</IsRequired>" if required else ""
    return (
        f"<Question><QuestionIdentifier>{identifier}</QuestionIdentifier>{shown}{needed}"
        f"<QuestionContent>{content}</QuestionContent>"
        f"<AnswerSpecification>{answer}</AnswerSpecification></Question>"
    )


def free_text(constraints="", *, default="", lines=""):
    limits = f"<Constraints>{constraints}</Constraints>" if constraints else ""
    start = f"<DefaultText>{default}</DefaultText>" if default else ""
    height = f"<NumberOfLinesSuggestion>{lines}</NumberOfLinesSuggestion>" if lines else ""
    return f"<FreeTextAnswer>{limits}{start}{height}</FreeTextAnswer>"


def selection(*names, style="", fewest="", most="", other=False, labels=None):
    counts = f"<MinSelectionCount>{fewest}</MinSelectionCount>" if fewest != "" else ""
    counts += f"<MaxSelectionCount>{most}</MaxSelectionCount>" if most != "" else ""
    shown = f"<StyleSuggestion>{style}</StyleSuggestion>" if style else ""
    texts = labels or [f"<Text>The {name}</Text>" for name in names]
    rows = "".join(
        f"<Selection><SelectionIdentifier>{name}</SelectionIdentifier>{label}</Selection>"
        for name, label in zip(names, texts, strict=True)
    )
    alternative = "<OtherSelection/>" if other else ""
    return f"<SelectionAnswer>{counts}{shown}<Selections>{rows}{alternative}</Selections></SelectionAnswer>"


def answer_key(*questions, mapping=""):
    values = f"<QualificationValueMapping>{mapping}</QualificationValueMapping>" if mapping else ""
    return f'<AnswerKey xmlns="{KEY}">' + "".join(questions) + values + "</AnswerKey>"


def key_question(identifier, *options, default=""):
    """One question of a key; an option is (score, *selections)."""
    rows = "".join(
        "<AnswerOption>"
        + "".join(f"<SelectionIdentifier>{name}</SelectionIdentifier>" for name in names)
        + f"<AnswerScore>{score}</AnswerScore></AnswerOption>"
        for score, *names in options
    )
    otherwise = f"<DefaultScore>{default}</DefaultScore>" if default != "" else ""
    return f"<Question><QuestionIdentifier>{identifier}</QuestionIdentifier>{rows}{otherwise}</Question>"


EXAMPLE = question_form(
    overview(
        "<Title>One street, seven questions</Title>"
        "<Text>Look at the street &lt;b&gt;before&lt;/b&gt; you answer.</Text>"
        "<List><ListItem>Take your time.</ListItem><ListItem>Guess where you must.</ListItem></List>"
        '<FormattedContent><![CDATA[<p>A <b>plain</b> table:</p><table border="1"><tr><th>Day</th><th>Cars</th>'
        '</tr><tr><td>Monday</td><td align="right">7&nbsp;000</td></tr></table>]]></FormattedContent>'
        "<Binary><MimeType><Type>image</Type><SubType>png</SubType></MimeType>"
        "<DataURL>https://lab.example/street.png</DataURL><AltText>A street with trees</AltText></Binary>"
    ),
    question(
        "surface",
        selection("asphalt", "cobbles", "gravel", style="radiobutton", other=True),
        content="<Text>What is the street made of?</Text>",
        name="The surface",
        required=True,
    ),
    question(
        "seen",
        selection("cars", "bikes", "trams", "trees", style="checkbox", fewest=2, most=3),
        content="<Text>What do you see?</Text>",
        required=True,
    ),
    question(
        "season",
        selection("spring", "summer", "autumn", "winter", style="dropdown"),
        content="<Text>Which season is it?</Text>",
        required=True,
    ),
    question(
        "moods",
        selection("calm", "busy", "bleak", style="multichooser", fewest=0, most=3),
        content="<Text>How does it feel?</Text>",
    ),
    overview("<Title>In your own words</Title>"),
    question(
        "count",
        free_text('<IsNumeric minValue="0" maxValue="99"/><Length minLength="1" maxLength="4"/>'),
        content="<Text>How many people are there?</Text>",
    ),
    question(
        "code",
        free_text('<AnswerFormatRegex regex="^[a-z]{3}-\\d+$" errorText="Like abc-12, please." flags="i"/>'),
        content="<Text>Which code stands on the sign?</Text>",
    ),
    question(
        "remarks",
        free_text(lines="4", default="None."),
        content="<Text>Anything else?</Text>",
    ),
)

# Answers to all of EXAMPLE.
GOOD = {
    "q1": "2",
    "q2": ["1", "4"],
    "q3": "4",
    "q5": "7",
    "q6": "ABC-12",
    "q7": "Nothing.\r\nSecond line: é <&>",
}

SECRET = "4711"
BIRDS = question_form(
    overview("<Title>Two birds</Title>"),
    question("first", selection("wren", "robin"), name="The first bird", required=True),
    question("second", selection("jay", "owl", "tit", style="checkbox", most=2), required=True),
)
BIRDS_KEY = answer_key(
    key_question("first", (int(SECRET), "wren")),
    key_question("second", (10, "jay", "owl"), (5, "jay"), default=-1),
)


def accepted(hit, browser):
    """Have a worker accept a HIT; returns (browser, AssignmentId)."""
    return browser, browser.accept(hit["HITTypeId"])


def send(work, form):
    """Post answers to the form; return status and what the page says in the end."""
    browser, assignment_id = work
    response = browser.client.post(f"/assignments/{assignment_id}/answers", form, follow=True)
    return response.status_code, response.content.decode()


def answer(mturk, work):
    return mturk.get_assignment(AssignmentId=work[1])["Assignment"]["Answer"]
