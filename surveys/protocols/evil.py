"""e-ViL's human evaluation of explanations, as run by OFA-X, in three variants that share one screen.

Scale values and labels: Kayser et al., "e-ViL: A Dataset and Benchmark for Natural Language Explanations in
Vision-Language Tasks", ICCV 2021 (yes 1, weak yes 2/3, weak no 1/3, no 0).
"""

from surveys.protocols.definition import (
    AnswerQuestion,
    Choice,
    Criterion,
    Definition,
    Instructions,
    Preference,
    WorkedExample,
)

GROUND_TRUTH = "ground_truth"

JUSTIFIES = Criterion(
    key="justifies",
    label="Does the explanation justify the answer?",
    choices=(
        Choice("yes", "Yes", 1.0),
        Choice("weak_yes", "Weak yes", 2 / 3),
        Choice("weak_no", "Weak no", 1 / 3),
        Choice("no", "No", 0.0),
    ),
)
SHORTCOMINGS = Criterion(
    key="shortcomings",
    label="What is wrong with it?",
    help="Tick everything that applies, or None.",
    choices=(
        Choice("incorrect_description", "Incorrect description of the image"),
        Choice("insufficient_justification", "Insufficient justification"),
        Choice("confusing_sentence", "Confusing sentence"),
        Choice("none", "None"),
    ),
    is_checklist=True,
    exclusive="none",
)
PREFERENCE = Preference(
    key="preference",
    label="Which explanation is better?",
    output_label="Explanation {n}",
    none_label="No preference",
)
VQAX_EXAMPLES = (
    WorkedExample(
        scene="A red bus stands at a bus stop; two people with umbrellas wait beside it.",
        question="What is the weather like?",
        answer="rainy",
        explanation="The people at the stop hold open umbrellas.",
        verdict="Yes · None",
        reason="It is true of the picture, and it is the very thing that tells us it rains.",
    ),
    WorkedExample(
        scene="The same picture.",
        question="What is the weather like?",
        answer="rainy",
        explanation="There is a bus in the street.",
        verdict="No · Insufficient justification",
        reason="True, but a bus says nothing about the weather.",
    ),
    WorkedExample(
        scene="The same picture.",
        question="What is the weather like?",
        answer="rainy",
        explanation="A man in a blue raincoat is standing in the bus.",
        verdict="Weak no · Incorrect description of the image",
        reason="A raincoat would be a hint, but nobody in the picture wears one.",
    ),
)
ESNLIVE_EXAMPLES = (
    WorkedExample(
        scene="Three children in rubber boots jump into a puddle; a dog lies on a bench and watches them.",
        question="The dog is swimming.",
        answer="contradiction",
        explanation="A dog that lies on a bench is not in the water.",
        verdict="Yes · None",
        reason="It names what the picture shows and why the statement can't be true with it.",
    ),
    WorkedExample(
        scene="The same picture.",
        question="The children are brothers and sisters.",
        answer="neutral",
        explanation="The children are jumping into a puddle.",
        verdict="Weak no · Insufficient justification",
        reason="True, but it does not say why the picture leaves open whether they are related.",
    ),
    WorkedExample(
        scene="The same picture.",
        question="Children are playing outside.",
        answer="entailment",
        explanation="Jumping puddle is the outside of children playing.",
        verdict="Weak yes · Confusing sentence",
        reason="The right idea is in it, but it takes a second reading to find it.",
    ),
)
VCR_EXAMPLES = (
    WorkedExample(
        scene="In a restaurant a woman holds out her plate; a man in an apron bends over it with a ladle.",
        question="Why does the man bend forward?",
        answer="He is serving the woman.",
        explanation="He wears an apron and his ladle is right above her plate.",
        verdict="Yes · None",
        reason="Both details are in the picture, and together they tell us what he is doing.",
    ),
    WorkedExample(
        scene="The same picture.",
        question="Why does the man bend forward?",
        answer="He is serving the woman.",
        explanation="They are in a restaurant.",
        verdict="Weak no · Insufficient justification",
        reason="It fits, but many other things happen in a restaurant.",
    ),
    WorkedExample(
        scene="The same picture.",
        question="Why does the man bend forward?",
        answer="He is serving the woman.",
        explanation="The woman hands him a menu.",
        verdict="No · Incorrect description of the image",
        reason="She holds a plate, and a menu would not explain why he serves her.",
    ),
)
STEPS = (
    "Look at the picture and read the text beside it.",
    "Choose the answer you believe is right. Your own judgement counts.",
    "Read each of the two explanations. Say how far it justifies the right answer.",
    "Tick what is wrong with the explanation, or None.",
    "Say which of the two explanations is better, or that you have no preference.",
)
NOTES = (
    "Judge what an explanation says, not its spelling or its length.",
    "The two explanations come in no particular order, and the order changes from question to question.",
    "Your answers are saved as you go. If you close the page, open it again and carry on.",
)


def _variant(
    key: str,
    name: str,
    question_label: str,
    answer: AnswerQuestion,
    summary: str,
    examples: tuple[WorkedExample, ...],
) -> Definition:
    return Definition(
        key=key,
        name=name,
        version=1,
        title="Judge two explanations of an answer about a picture",
        question_label=question_label,
        output_label="Explanation {n}",
        outputs_per_item=2,
        reference_system=GROUND_TRUTH,
        answer=answer,
        criteria=(JUSTIFIES, SHORTCOMINGS),
        preference=PREFERENCE,
        headline="justifies",
        minimum_correct=3,
        instructions=Instructions(summary=summary, steps=STEPS, notes=NOTES, examples=examples),
    )


VQAX = _variant(
    "evil-vqax",
    "e-ViL: VQA-X",
    "Question",
    AnswerQuestion(label="Which answer is right?"),
    "You will see pictures, each with a question and two explanations of its answer.",
    VQAX_EXAMPLES,
)
ESNLIVE = _variant(
    "evil-esnlive",
    "e-ViL: e-SNLI-VE",
    "Statement",
    AnswerQuestion(
        label="How does the statement relate to the picture?",
        choices=(
            Choice("entailment", "Entailment: the picture shows that it is true"),
            Choice("neutral", "Neutral: it may be true, the picture does not say"),
            Choice("contradiction", "Contradiction: the picture shows that it is false"),
        ),
        is_ordered=True,
    ),
    "You will see pictures, each with a statement and two explanations of how the two relate.",
    ESNLIVE_EXAMPLES,
)
VCR = _variant(
    "evil-vcr",
    "e-ViL: VCR",
    "Question",
    AnswerQuestion(label="Which answer is right?"),
    "You will see film stills, each with a question and two explanations of its answer.",
    VCR_EXAMPLES,
)
