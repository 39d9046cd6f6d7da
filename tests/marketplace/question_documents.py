"""Documents the tests send."""

SCHEMA = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"


def external_question(url: str, *, height: str = "0") -> str:
    return (
        f'<ExternalQuestion xmlns="{SCHEMA}"><ExternalURL>{url}</ExternalURL>'
        f"<FrameHeight>{height}</FrameHeight></ExternalQuestion>"
    )


QUESTION = external_question("https://lab.example/hits/7?lang=en&amp;v=2")


def html_question(html: str, *, height: str = "0") -> str:
    schema = SCHEMA.replace("2006-07-14/ExternalQuestion", "2011-11-11/HTMLQuestion")
    return (
        f'<HTMLQuestion xmlns="{schema}"><HTMLContent><![CDATA[{html}]]></HTMLContent>'
        f"<FrameHeight>{height}</FrameHeight></HTMLQuestion>"
    )


OPENING = (
    '<?xml version="1.0" encoding="ASCII"?><QuestionFormAnswers xmlns="http://mechanicalturk.amazonaws.com/'
    'AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd">'
)
