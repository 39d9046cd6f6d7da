"""VTT, visual transformation telling: what happened between each two of a row of pictures, rated on three rubrics.

One output per item: n lines between n+1 numbered states. The published files call logical consistency
`logical_soundness`.
"""

from surveys.protocols.definition import Choice, Criterion, Definition, Instructions, WorkedExample


def _rubric(*levels: str) -> tuple[Choice, ...]:
    """Return the choices 5 to 1 with what each of them means."""
    return tuple(
        Choice(str(n), str(n), float(n), level) for n, level in zip(range(5, 0, -1), levels, strict=True)
    )


CRITERIA = (
    Criterion(
        "fluency",
        "Fluency",
        _rubric(
            "Every text reads well.",
            "Most texts read well; there are some slips.",
            "About one text in two reads well.",
            "A few texts are fine, but most are hard to follow.",
            "No text can be read with ease.",
        ),
        help="Only the language: leave the pictures aside.",
    ),
    Criterion(
        "relevance",
        "Relevance",
        _rubric(
            "Every text has to do with the two pictures it stands between.",
            "A few texts have nothing to do with their two pictures.",
            "One half of the texts has nothing to do with their two pictures.",
            "Most texts have nothing to do with their two pictures.",
            "No text has anything to do with its two pictures.",
        ),
        help="Each text beside the picture before it and the picture after it.",
    ),
    Criterion(
        "logical_consistency",
        "Logical consistency",
        _rubric(
            "One step leads to the next as anybody would expect.",
            "Most of the steps lead to one another as one would expect.",
            "Some of the steps lead to one another as one would expect.",
            "The steps look connected, but nobody would expect things to happen like that.",
            "The steps are not connected, or go against everything one would expect.",
        ),
        help="All texts read one after the other, as one course of events.",
        aliases=("logical_soundness",),
    ),
)
SKIP_REASONS = (
    Choice("image_missing", "A picture is missing or black"),
    Choice("image_unrelated", "A picture does not belong to the others"),
    Choice("text_missing", "A text is missing"),
    Choice("other", "Another reason"),
)
TEA = "1: an empty cup. 2: a tea bag hangs in the cup. 3: the cup is full and steams."
EXAMPLES = (
    WorkedExample(
        scene=TEA,
        question="Between the pictures:",
        answer="1 to 2, and 2 to 3",
        explanation="Put a tea bag into the cup. Pour hot water over it.",
        verdict="Fluency 5 · Relevance 5 · Logical consistency 5",
        reason="Both sentences are good, both tell what the pictures show, and this is how one makes tea.",
    ),
    WorkedExample(
        scene="The same pictures.",
        question="Between the pictures:",
        answer="1 to 2, and 2 to 3",
        explanation="Put a tea bag into the cup. Wash the cup in the sink.",
        verdict="Fluency 5 · Relevance 3 · Logical consistency 2",
        reason=(
            "The language is faultless. Only the first of the two texts fits its pictures, and nobody washes a cup "
            "that has just been made ready for tea."
        ),
    ),
    WorkedExample(
        scene="The same pictures.",
        question="Between the pictures:",
        answer="1 to 2, and 2 to 3",
        explanation="bag bag put cup the. Pour pour of it water hot.",
        verdict="Fluency 1 · Relevance 5 · Logical consistency 5",
        reason="Hard to read, but what can be made out is right. A weakness counts once, where it belongs.",
    ),
)
VTT = Definition(
    key="vtt",
    name="VTT: visual transformation telling",
    version=1,
    title="Rate texts that tell what happened between pictures",
    question_label="",
    output_label="Texts",
    outputs_per_item=1,
    criteria=CRITERIA,
    headline="relevance",
    good_from=4.0,
    items_per_hit=1,
    is_sequence=True,
    skip_reasons=SKIP_REASONS,
    instructions=Instructions(
        summary="You will see numbered pictures in a row, with a text between each two that tells what happened.",
        steps=(
            "Look at the pictures in the order of their numbers.",
            "Read each text between two pictures: it should tell what was done to get from the one to the other.",
            "Give three scores from 5 (best) to 1. What each score means stands beside it.",
        ),
        notes=(
            "The three scores are independent of each other: a faultless sentence can be about something else.",
            "With few texts some levels can’t be met exactly. Choose the one that comes closest.",
            "If the pictures make it impossible to judge, skip and say why. A skip is not a low score.",
            "Your answers are saved as you go. If you close the page, open it again and carry on.",
        ),
        examples=EXAMPLES,
    ),
)
