"""What a field of a QuestionForm takes, in words for the worker, and which control asks for it."""

from marketplace.questions.question_form import LONGEST_TEXT, ChoiceAnswer, TextAnswer

SELECTS = frozenset({"dropdown", "combobox", "list"})
OPEN_LISTS = frozenset({"list", "multichooser"})


def control(answer: ChoiceAnswer) -> str:
    """Return radio, checkbox, select or multiple: StyleSuggestion as far as counts and labels allow."""
    if answer.style in SELECTS and answer.most == 1 and answer.has_plain_labels:
        return "select"
    if answer.style in OPEN_LISTS and answer.has_plain_labels:
        return "multiple"
    return "radio" if answer.most == 1 and answer.style != "checkbox" else "checkbox"


def size(answer: ChoiceAnswer) -> int:
    """Return how many choices of a list show at once; 0 where it is no open list."""
    return min(len(answer.choices) + 1, 8) if answer.style in OPEN_LISTS else 0


def hint(answer: TextAnswer | ChoiceAnswer) -> str:
    """Return a sentence about what is asked; empty when anything goes."""
    if isinstance(answer, ChoiceAnswer):
        return "" if control(answer) in {"radio", "select"} else f"Choose {count(answer)}."
    parts = [number(answer)] if answer.is_numeric else []
    if answer.shortest or answer.longest < LONGEST_TEXT:
        parts.append(length(answer))
    sentence = ", ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}." if sentence else ""


def count(answer: ChoiceAnswer) -> str:
    if answer.fewest == answer.most:
        return f"exactly {answer.most}"
    return f"{answer.fewest} to {answer.most}" if answer.fewest else f"up to {answer.most}"


def length(answer: TextAnswer) -> str:
    if answer.shortest == answer.longest:
        return f"exactly {_characters(answer.longest)}"
    if answer.longest == LONGEST_TEXT and answer.shortest:
        return f"at least {_characters(answer.shortest)}"
    low = f"{answer.shortest} to " if answer.shortest else "at most "
    return f"{low}{_characters(answer.longest)}"


def _characters(number: int) -> str:
    return "1 character" if number == 1 else f"{number} characters"


def number(answer: TextAnswer) -> str:
    if answer.lowest is not None and answer.highest is not None:
        return f"a number from {answer.lowest} to {answer.highest}"
    if answer.lowest is not None:
        return f"a number of at least {answer.lowest}"
    return "a number" if answer.highest is None else f"a number of at most {answer.highest}"
