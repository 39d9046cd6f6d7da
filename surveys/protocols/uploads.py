"""What a document has to keep to that is new here; those that are kept already are read without."""

from collections.abc import Collection, Iterator, Sequence

from surveys.protocols import documents
from surveys.protocols.criteria import Choice, Path, Problem, numbered
from surveys.protocols.definition import RESERVED, Definition, is_drawing

MOST_VERSION = 1_000_000
# Columns of the exported files, and what a page's script looks for.
COLUMNS = {
    "answer", "answer_correct", "assignment_id", "active_seconds", "about", "batch", "channel", "decision",
    "definition", "gold", "hit_id", "included", "is_repeat", "is_skipped", "item_id", "language", "model_correct",
    "output_answer", "place", "position", "quiz_passed", "seconds", "shown_position", "skip_reason", "status", "study",
    "surplus", "system", "text", "work_seconds", "worker", "worker_id",
}  # fmt: skip


def read(text: str | bytes, *, name: str, pictures: Collection[str] = ()) -> Definition:
    """Return the definition of a document that is new here. `pictures` are the names of the files that came with it.

    Raises DocumentError with a sentence for each thing that is wrong, up to twenty of them.
    """
    return documents.read(text, name=name, also=lambda definition: refusals(definition, pictures=pictures))


def refusals(definition: Definition, *, pictures: Collection[str] = ()) -> Iterator[Problem]:
    """Yield what no page could send, no column keep and no file tell apart."""
    if not 1 <= definition.version <= MOST_VERSION:
        yield Problem(("version",), f"A version is a number from 1 to {MOST_VERSION:,}.")
    yield from _keys(definition)
    yield from _values(definition)
    yield from _braces(definition)
    yield from _pictures(definition, pictures)


def _keys(definition: Definition) -> Iterator[Problem]:
    keys: list[tuple[Path, str, set[str]]] = [
        (("criteria", n, "key"), one.key, COLUMNS) for n, one in enumerate(definition.criteria, 1)
    ]
    if definition.preference:
        keys.append((("preference", "key"), definition.preference.key, COLUMNS | RESERVED))
    for path, key, taken in keys:
        if key in taken:
            sentence = (
                f"{key!r} has a meaning of its own in forms and exported files; call the question otherwise."
            )
            yield Problem(path, sentence)


def _values(definition: Definition) -> Iterator[Problem]:
    """A form sends nothing for an empty value, and other ends of lines than a value of several has."""
    lists: list[tuple[Path, Sequence[Choice]]] = [
        *((("criteria", n, "choices"), one.choices) for n, one in enumerate(definition.criteria, 1)),
        *((("quiz", n, "choices"), one.choices) for n, one in enumerate(definition.quiz, 1)),
        (("answer", "choices"), definition.answer.choices if definition.answer else ()),
        (("skip_reasons",), definition.skip_reasons),
    ]
    for path, choices in lists:
        for n, choice in enumerate(choices, 1):
            if len(choice.value.splitlines()) != 1:
                yield Problem((*path, n, "value"), "A value is one line of text.")


def _braces(definition: Definition) -> Iterator[Problem]:
    labels: list[tuple[Path, str]] = [(("output_label",), definition.output_label)]
    if definition.preference:
        labels.append((("preference", "output_label"), definition.preference.output_label))
    for path, label in labels:
        if set("{}") & set(numbered(label, 1)):
            yield Problem(path, "The only thing in braces is {n}, the output's number.")


def _pictures(definition: Definition, pictures: Collection[str]) -> Iterator[Problem]:
    """Yield the pictures of the instructions that are no drawings and not among these files."""
    for part in ("background", "examples"):
        for n, one in enumerate(getattr(definition.instructions, part), 1):
            if one.picture and not is_drawing(one.picture) and one.picture not in pictures:
                sentence = (
                    f"There is no picture “{one.picture}”. Upload a ZIP with the document and its pictures."
                )
                yield Problem(("instructions", part, n, "picture"), sentence)
