"""The form of a document: its fields with what they hold, and every problem beside what it is about."""

from collections.abc import Iterable, Mapping
from typing import Any

from surveys.pages.study.builder.fields import (
    CHOICES,
    CONDITION,
    ENTRIES,
    GROUP,
    LINES,
    NEW,
    OF_WAYS,
    SECTIONS,
    SELECT,
    TICK,
    Asked,
    Words,
    asked_of,
    default_of,
    in_words,
)
from surveys.pages.study.builder.parts import BuilderForm, Entries, Entry, Field, Group, Part, Section
from surveys.protocols.conditions import ANSWER
from surveys.protocols.criteria import Choice, Criterion, Number, Path, Preference, Problem, Spans
from surveys.protocols.definition import Definition, QuizQuestion
from surveys.protocols.documents import KEY
from surveys.protocols.translations import SCALES, SECTION
from surveys.protocols.trees import Tree, at

MOST_FIELDS = 3000  # a browser and Django take 5,000; an entry brings buttons too


class TooLarge(ValueError):
    """A document of more fields than a form can have."""


def form_of(tree: dict[str, Tree], *, problems: Iterable[Problem] = ()) -> BuilderForm:
    """Return the form of a document. TooLarge where it would have more fields than can be sent."""
    drawing = _Drawing(tree)
    parts = {part.path[0]: part for part in drawing.parts(Definition, ())}
    sections = [Section(one.title, [parts.pop(key) for key in one.keys if key in parts]) for one in SECTIONS]
    sections[2].parts += drawing.scales()
    sections[-1].parts += parts.values()
    form = BuilderForm(sections, [])
    _place(form, problems)
    return form


def _place(form: BuilderForm, problems: Iterable[Problem]) -> None:
    """Put each problem beside what it is about, or the nearest thing around that."""
    by_path: dict[Path, Part] = {part.path: part for part in form.parts}
    for problem in problems:
        path = (KEY, *problem.path[1:]) if problem.path[:1] == ("key",) else problem.path
        while path and path not in by_path:
            path = path[:-1]
        where = by_path[path].problems if path else form.problems
        about = f"{', '.join(map(str, problem.path[:3]))}: " if problem.path[:1] == (SECTION,) else ""
        where.append(about + in_words(problem.sentence))


class _Drawing:
    """One document while its form is drawn."""

    def __init__(self, tree: dict[str, Tree]) -> None:
        self.tree = tree
        self.n_fields = 0
        scales = tree.get(SCALES)
        self.scale_names = tuple(scales) if isinstance(scales, dict) else ()

    def parts(self, kind: type, path: Path) -> list[Part]:
        """Return what is asked of a part of the document at `path`."""
        return [part for one in asked_of(kind) if (part := self._part(one, kind, path)) is not None]

    def scales(self) -> list[Part]:
        """Return the lists of choices that questions share."""
        return [self._choices(Asked("", CHOICES, Words(""), of=Choice), Criterion, (SCALES, name))
                for name in self.scale_names]  # fmt: skip

    def _part(self, asked: Asked, kind: type, path: Path) -> Part | None:
        here = (*path, asked.key)
        if not self._is_wanted(asked, kind, path):
            return None
        if asked.kind == ENTRIES:
            return self._entries(asked, here)
        if asked.kind == CHOICES:
            return self._choices(asked, kind, here)
        if asked.kind == GROUP:
            return self._group(asked, here)
        if asked.kind == CONDITION:
            return self._condition(asked, here)
        return self._field(asked, kind, here)

    def _is_wanted(self, asked: Asked, kind: type, path: Path) -> bool:
        """Tell whether a key is of any use here: that of a number not of a text, and so on."""
        if at(self.tree, (*path, asked.key)) is not None:
            return True
        if kind is Preference:
            of = next((way for way, keys in OF_WAYS.items() if asked.key in keys), None)
            return of in (None, self._text((*path, "by")) or "choice")
        return kind is not Criterion or self._is_of_kind(asked, path)

    def _is_of_kind(self, asked: Asked, path: Path) -> bool:
        is_listed = self._says(path, "is_checklist")
        has = [at(self.tree, (*path, key)) is not None for key in ("number", "spans")]
        is_written = self._says(path, "is_text") or any(has)
        return {
            "choices": not is_written,
            "exclusive": is_listed,
            "is_optional": is_listed or is_written,
        }.get(asked.key, asked.kind != GROUP)

    def _text(self, path: Path) -> str:
        held = at(self.tree, path)
        return held if isinstance(held, str) else ""

    def _says(self, path: Path, key: str) -> bool:
        return at(self.tree, (*path, key)) in ("true", "yes")

    def _field(self, asked: Asked, kind: type, path: Path) -> Field:
        self._count()
        held = at(self.tree, path)
        value = held if isinstance(held, str) else ""
        if asked.kind == LINES:
            lines = held if isinstance(held, list) else []
            value = "\n".join(" ".join(one.split()) for one in lines if isinstance(one, str))
        if (not value and asked.kind in (SELECT, TICK)) or held is None:
            value = default_of(kind, asked.key)
        options = self._options(asked, kind, path, value=value)
        return Field(
            path, asked.words.label, asked.words.help, is_more=asked.words.is_more,
            kind=SELECT if options else asked.kind, value=value, options=options, is_required=asked.is_required,
            redraws=path == ("preference", "by"), is_of_document=bool(options) and asked.kind != SELECT,
        )  # fmt: skip

    def _options(self, asked: Asked, kind: type, path: Path, *, value: str) -> tuple[tuple[str, str], ...]:
        """Return what is chosen among, nothing where it is written."""
        if path == ("headline",):
            return self._headlines(value)
        if kind is QuizQuestion and asked.key == "answer":
            return _with(self._values(path[:-1]), value)
        if kind is Criterion and asked.key == "exclusive":
            return _with([("", "None of them"), *self._values(path[:-1])], value)
        if kind is Spans and asked.key in ("of", "missing_in"):
            none = "The output’s text" if asked.key == "of" else "Nothing: it is not asked"
            return _with([("", none), *self._texts()], value)
        return tuple((one, (asked.words.names or {}).get(one, one)) for one in asked.options)

    def _texts(self) -> list[tuple[str, str]]:
        """Return (column, heading) of the blocks in which can be marked."""
        held = self.tree.get("blocks")
        blocks = [one for one in held if isinstance(one, dict)] if isinstance(held, list) else []
        return [
            (str(one.get("column", "")), str(one.get("label") or one.get("column", "")))
            for one in blocks
            if one.get("kind", "text") == "text" and one.get("format", "plain") == "plain"
        ]

    def _headlines(self, value: str) -> tuple[tuple[str, str], ...]:
        scales = [one for one in self._criteria() if self._is_scale(one)]
        preference = self.tree.get("preference")
        chosen = [*scales, preference] if isinstance(preference, dict) else scales
        return _with([(str(one.get("key", "")), str(one.get("label", ""))) for one in chosen], value)

    def _is_scale(self, criterion: Mapping[str, Tree]) -> bool:
        is_other = "number" in criterion or any(
            criterion.get(key) in ("true", "yes") for key in ("is_checklist", "is_text")
        )
        return not is_other and criterion.get("per_output") not in ("false", "no")

    def _criteria(self) -> list[dict[str, Tree]]:
        found = self.tree.get("criteria")
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    def _values(self, path: Path) -> list[tuple[str, str]]:
        """Return (value, label) of the choices of whatever stands at a place."""
        choices = at(self.tree, (*path, "choices"))
        if isinstance(choices, str):
            choices = at(self.tree, (SCALES, choices))
        entries = choices if isinstance(choices, list) else []
        return [
            (str(one.get("value", "")), str(one.get("label", ""))) for one in entries if isinstance(one, dict)
        ]

    def _group(self, asked: Asked, path: Path) -> Group:
        is_set = at(self.tree, path) is not None
        of: Any = asked.of
        return Group(
            path, asked.words.label, asked.words.help, is_more=asked.words.is_more and not is_set,
            inner=self.parts(of, path) if is_set else [], is_set=is_set,
            is_optional=not asked.is_required and of not in (Number, Spans),  # those are what their question is
            adds=[(what, label) for what, (label, _) in NEW.get(of, {}).items()],
        )  # fmt: skip

    def _entries(self, asked: Asked, path: Path) -> Entries:
        held = at(self.tree, path)
        entries = held if isinstance(held, list) else []
        of: Any = asked.of
        return Entries(
            path, asked.words.label, asked.words.help, is_more=asked.words.is_more and not entries,
            entries=[self._entry(of, (*path, n), one, n_all=len(entries)) for n, one in enumerate(entries, 1)],
            adds=[(what, label) for what, (label, _) in NEW.get(of, {}).items()],
        )  # fmt: skip

    def _entry(self, of: type, path: Path, held: Tree, *, n_all: int) -> Entry:
        texts = held if isinstance(held, dict) else {}
        named = [texts.get(key) for key in ("label", "title", "question", "scene", "column")]
        heading = next((text for text in named if isinstance(text, str) and text), "")
        return Entry(
            path, _kind_of(of, texts), inner=self.parts(of, path), n=int(path[-1]), of=n_all, heading=heading
        )

    def _choices(self, asked: Asked, kind: type, path: Path) -> Entries:
        held = at(self.tree, path)
        is_shared = path[0] == SCALES
        label = f"Shared choices “{path[-1]}”" if is_shared else asked.words.label
        listing = Entries(path, label, asked.words.help, is_more=asked.words.is_more and not held)
        if isinstance(held, str) and held:
            listing.scale = held
        entries = held if isinstance(held, list) else []
        is_graded = path[-1] == "severities"
        has_scores = is_graded or (kind is Criterion and not self._says(path[:-1], "is_checklist"))
        for n, one in enumerate(entries, 1):
            given = one if isinstance(one, dict) else {}
            inner = [p for p in self.parts(Choice, (*path, n))
                     if p.path[-1] != "score" or has_scores or "score" in given]  # fmt: skip
            if kind is not Criterion and not is_graded:
                inner = [p for p in inner if p.path[-1] != "description" or "description" in given]
            listing.entries.append(
                Entry((*path, n), "Choice", inner=inner, n=n, of=len(entries), is_row=True)
            )
        listing.adds = [] if listing.scale else [("choice", "Add a choice")]
        listing.scales = () if is_shared or kind is not Criterion else self.scale_names
        return listing

    def _condition(self, asked: Asked, path: Path) -> Group:
        """A condition is two fields: the earlier question and, once it is chosen, which of its answers."""
        self._count()
        held = at(self.tree, path)
        given = held if isinstance(held, dict) else {}
        question = str(given.get("question", ""))
        earlier = self._earlier(path)
        options = _with(
            [("", "Always asked"), *((key, label) for key, (label, _) in earlier.items())], question
        )
        inner: list[Part] = [
            Field(
                (*path, "question"),
                asked.words.label,
                kind=SELECT,
                value=question,
                options=options,
                redraws=True,
                is_of_document=True,
            )
        ]
        if question:
            _, values = earlier.get(question, ("", []))
            ticked = [one for key in ("is", "ticked") for one in _list(given.get(key))]
            inner.append(
                Field(
                    (*path, "values"),
                    "is answered by",
                    kind="ticks",
                    options=_with(values, *ticked),
                    held=tuple(ticked),
                    is_of_document=True,
                )
            )
        return Group(path, "", inner=inner)

    def _earlier(self, path: Path) -> dict[str, tuple[str, list[tuple[str, str]]]]:
        """Return the questions that one may depend on, {key: (label, values)}."""
        found = {}
        if isinstance(answer := self.tree.get("answer"), dict) and self._values(("answer",)):
            found[ANSWER] = (str(answer.get("label", "")), self._values(("answer",)))
        me = at(self.tree, path[:-1])
        about = isinstance(me, dict) and _is_about_item(me)
        for n, one in enumerate(self._criteria()[: int(path[1]) - 1], 1):
            if _is_about_item(one) == about and (values := self._values(("criteria", n))):
                found[str(one.get("key", ""))] = (str(one.get("label", "")), values)
        return found

    def _count(self) -> None:
        self.n_fields += 1
        if self.n_fields > MOST_FIELDS:
            raise TooLarge(f"The document has more than {MOST_FIELDS:,} fields.")


def _is_about_item(criterion: Mapping[str, Tree]) -> bool:
    return criterion.get("per_output") in ("false", "no")


def _list(tree: "Tree | None") -> list[str]:
    return [one for one in tree if isinstance(one, str)] if isinstance(tree, list) else []


def _with(options: Iterable[tuple[str, str]], *values: str) -> tuple[tuple[str, str], ...]:
    """Return options with what is held among them, if it is none of them."""
    found = dict(options)
    return tuple({**found, **{one: one for one in values if one not in found}}.items())


def _kind_of(of: type, texts: Mapping[str, Tree]) -> str:
    """Return what an entry is, in a word."""
    if of is not Criterion:
        return {"Block": "Column", "WorkedExample": "Example", "QuizQuestion": "Question"}.get(
            of.__name__, of.__name__
        )
    if named := next((key for key in ("number", "spans") if key in texts), ""):
        return {"number": "Number", "spans": "Marking"}[named]
    return "Text" if "is_text" in texts else "Checklist" if "is_checklist" in texts else "Scale"
