"""The XAI survey: five criteria, 1 to 5, of a sentence that explains the label a classifier gave a picture.

One output per item. "Reflecting" is what a person believes of the decision process: nobody can see it in a sentence.
"""

from surveys.protocols.definition import (
    Choice,
    Criterion,
    Definition,
    Instructions,
    QuizQuestion,
    WorkedExample,
)

EXTENT = ("Not at all", "Slightly", "Moderately", "Mostly", "Completely")
QUALITY = ("Very poor", "Poor", "Fair", "Good", "Very good")


def _scale(words: tuple[str, ...]) -> tuple[Choice, ...]:
    return tuple(Choice(str(n), str(n), float(n), word) for n, word in enumerate(words, 1))


CRITERIA = (
    Criterion("fluency", "Fluency", _scale(EXTENT), help="Is its language correct and natural to read?"),
    Criterion("clarity", "Clarity", _scale(EXTENT), help="Can you tell at once what it means?"),
    Criterion(
        "convincing", "Convincing", _scale(EXTENT), help="Does it give you good reasons for this label?"
    ),
    Criterion(
        "reflecting_decision_process",
        "Reflecting the decision process",
        _scale(EXTENT),
        help="Does it tell how the system may have come to this label?",
    ),
    Criterion(
        "overall_quality",
        "Overall quality",
        _scale(QUALITY),
        help="Taking everything together, how good is this explanation?",
    ),
)
BOWL = "An orange lies in a round white bowl on a window sill."
EXAMPLES = (
    WorkedExample(
        scene=BOWL,
        question="Label the system gave:",
        answer="goldfish bowl",
        explanation="There is a round, pale rim, and inside it, in the middle, something small and orange.",
        verdict="Convincing 4 · Reflecting 5",
        reason=(
            "The label is wrong, and that costs nothing. The sentence names what is there to be seen and where, "
            "and one can follow how it was taken for a goldfish in its bowl."
        ),
    ),
    WorkedExample(
        scene="The same picture.",
        question="Label the system gave:",
        answer="goldfish bowl",
        explanation="Some fruit at a window.",
        verdict="Convincing 1 · Reflecting 1",
        reason="True of the picture, but no reason to say goldfish bowl, and no trace of how the system came to it.",
    ),
    WorkedExample(
        scene="The same picture.",
        question="Label the system gave:",
        answer="orange",
        explanation="It is an orange, because people like to keep oranges in a bowl.",
        verdict="Convincing 4 · Reflecting 1",
        reason=(
            "A sensible reason, and many would accept it. Yet it tells a habit of people, and nothing of what in "
            "this picture made the system say orange rather than apple."
        ),
    ),
    WorkedExample(
        scene="The same picture.",
        question="Label the system gave:",
        answer="orange",
        explanation="Many points in the middle of the picture have an orange colour.",
        verdict="Convincing 2 · Reflecting 4",
        reason=(
            "A system may well have decided like this, and the sentence says by what and where. It is a weak reason "
            "all the same: a ball or a lamp can have that colour too."
        ),
    ),
)
CAT = "A grey cat has curled up on the bonnet of a parked car."
QUIZ = (
    QuizQuestion(
        scene=f"{CAT} Label: raccoon. Explanation: “The tail has dark rings and lies around the body.”",
        question="You are sure that it is a cat. What does that mean for your ratings?",
        choices=(
            Choice("all_lower", "I rate everything lower, because the label is wrong."),
            Choice("overall_lower", "I rate only the overall quality lower."),
            Choice("no_effect", "Nothing. I rate the explanation as if the label were not my concern."),
        ),
        answer="no_effect",
        feedback=(
            "Systems make mistakes, and a good explanation can show us how. Whether the label is right plays no part "
            "in any of the five ratings."
        ),
    ),
    QuizQuestion(
        scene=f"{CAT} Label: cat. Explanation: “The engine is still warm, and cats love warm places.”",
        question="Which description fits this explanation best?",
        choices=(
            Choice("both", "It convinces, and it tells how the system decided."),
            Choice("convincing_only", "It may convince, but it does not tell how the system decided."),
            Choice("reflecting_only", "It tells how the system decided, but it does not convince."),
        ),
        answer="convincing_only",
        feedback=(
            "The reason is plausible to us. But a warm engine can’t be seen in a picture, so the label can’t have come "
            "from it: a high rating for convincing, a low one for reflecting the decision process."
        ),
    ),
    QuizQuestion(
        scene=f"{CAT} Label: cat.",
        question="Which of these explanations reflects the decision process most?",
        choices=(
            Choice("popular", "“Cats are among the animals that people keep most often.”"),
            Choice("seen", "“On the bonnet there are two pointed ears, whiskers and a long tail.”"),
            Choice("sure", "“It is quite obviously a cat.”"),
        ),
        answer="seen",
        feedback=(
            "It names what can be seen and where, which is all a classifier has to go by. The others would fit any "
            "picture of a cat."
        ),
    ),
)
XAI = Definition(
    key="xai",
    name="XAI: five criteria",
    version=1,
    title="Rate explanations of labels that a system gave to pictures",
    question_label="Label the system gave",
    output_label="Explanation",
    outputs_per_item=1,
    criteria=CRITERIA,
    headline="overall_quality",
    good_from=4.0,
    quiz=QUIZ,
    instructions=Instructions(
        summary="You will see pictures, the label a system gave to each, and a text that is to explain the label.",
        steps=(
            "Look at the picture, and at the label beside it. A system chose it from a fixed list of labels.",
            "Read the explanation. It may be short or long, and may have any form.",
            "Give five ratings from 1 to 5. Every one is needed; the question stands beside each.",
        ),
        notes=(
            "Convincing asks about you: do the reasons given make the label seem right to choose?",
            "Reflecting the decision process asks about the system: does the text say what in this picture led to "
            "the label? A text can do one of the two without the other.",
            "Labels can be wrong. A text that explains well how a wrong label came about deserves high ratings.",
            "Your answers are saved as you go. If you close the page, open it again and carry on.",
        ),
        examples=EXAMPLES,
        reminder="The label may be wrong. Rate only the explanation: a wrong label is no reason for a lower rating.",
    ),
)
