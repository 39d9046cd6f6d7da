"""What the columns of a file with one output a row are called: our name first, then those of published files."""

from collections.abc import Iterator
from dataclasses import dataclass

from surveys.protocols.definition import Definition

ID = ("item_id", "index", "sample_idx", "id")
SYSTEM = ("system", "exp")
CORRECT = "model_correct"


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns one file uses. `question` and `references` are empty where there are none.

    `is_rated`: it holds ratings too, so that a row is one rating and the same output can come in several.
    """

    id: str
    image: str
    question: str
    answer: tuple[str, ...]
    system: str
    text: str
    references: str
    has_images: bool
    is_rated: bool

    @property
    def of_item(self) -> tuple[str, ...]:
        """The columns in which all rows of an item agree."""
        image = self.image if self.has_images else ""
        return tuple(filter(None, (image, self.question, *self.answer)))

    @property
    def required(self) -> tuple[str, ...]:
        return (self.id, *self.of_item, self.system, self.text)

    @property
    def used(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(None, (*self.required, self.image, self.references, CORRECT))))


def find_columns(header: tuple[str, ...], *, definition: Definition) -> Columns:
    """Return what the columns are called in a file with this header; one it lacks goes by our name.

    VTT's files call the steps `preds` and the reference steps `label`; the XAI survey's label is the question.
    """
    is_sequence = definition.is_sequence
    images = ("images", "image") if is_sequence else ("image", "images")
    image = _first(images, header)
    questions = ("question", "statement") if is_sequence else ("question", "statement", "label")
    references = ("references", "reference", *(["label"] if is_sequence else []))
    return Columns(
        id=_first(ID, header),
        image=image,
        question=_first(questions, header) if definition.question_label else "",
        answer=tuple(_answer(definition)),
        system=_first(SYSTEM, header),
        text=_first(("steps", "preds") if is_sequence else ("explanation", "text"), header),
        references=next((name for name in references if name in header), ""),
        has_images=image in header or not is_sequence,
        is_rated=any(name in header for name in _criteria(definition)),
    )


def is_long(header: tuple[str, ...]) -> bool:
    """Say whether a header looks like one output a row."""
    return "item_id" in header or not (set(header).isdisjoint(ID) or set(header).isdisjoint(SYSTEM))


def _first(names: tuple[str, ...], header: tuple[str, ...]) -> str:
    return next((name for name in names if name in header), names[0])


def _answer(definition: Definition) -> Iterator[str]:
    if definition.answer:
        yield "answer"
        if not definition.answer.choices:
            yield "choices"


def _criteria(definition: Definition) -> Iterator[str]:
    for criterion in definition.criteria:
        yield from (criterion.key, *criterion.aliases)
