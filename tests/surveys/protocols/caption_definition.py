"""A survey type nobody has thought of: is a caption faithful to its picture? This file is all there is to it."""

from surveys.protocols.criteria import Choice, Criterion
from surveys.protocols.definition import Definition, Instructions

CAPTION = Definition(
    key="caption",
    name="Captions: faithful?",
    version=1,
    title="Say whether captions are faithful to their pictures",
    question_label="",
    output_label="Caption",
    outputs_per_item=1,
    criteria=(
        Criterion(
            "faithful",
            "How faithful is the caption?",
            tuple(Choice(str(n), str(n), float(n)) for n in range(1, 8)),
        ),
        Criterion(
            "invents",
            "Does it mention something that is not there?",
            (Choice("yes", "Yes", 1.0), Choice("no", "No", 0.0)),
        ),
        Criterion("comment", "What would you change?", is_text=True),
    ),
    headline="faithful",
    good_from=6.0,
    items_per_hit=2,
    instructions=Instructions(
        summary="You will see pictures with a caption each.",
        steps=("Compare the caption with the picture.", "Answer the three questions."),
        reminder="A short caption can be as faithful as a long one.",
    ),
)
