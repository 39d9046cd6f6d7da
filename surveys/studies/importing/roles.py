"""What a file's columns mean: the roles a survey type knows, guesses by names and values, a file with other columns."""

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from statistics import mean

from surveys.models import Survey
from surveys.protocols.definition import Definition
from surveys.studies.importing.plan import Problem
from surveys.studies.importing.tables import CORRECT, Row, Table, file_error, find_columns, ratings_of
from surveys.studies.planted_checks import COLUMN

OUTPUT_ANSWER, REFERENCES = "output_answer", "references"
SHOWN_VALUES = 3
MOST_REMEMBERED = 20  # kinds of files of one survey
# What people call these columns, in English, German, Russian, Spanish and French, in capitals or not, with or without
# spaces and underscores.
ALSO = {
    "item_id": "id uid uuid itemid sampleid exampleid questionid promptid rowid docid docno caseid clipid videoid vid "
    "imageid index sampleidx nr no number key segment segmentid segid kennung nummer laufnr номер ид айди "
    "идентификатор код numero número numéro",
    "image": "img imgname imagename imagefile imagepath imageurl imgurl picture picturename pictureurl file filename "
    "filepath photo images foto bild bilddatei bildname datei dateiname картинка изображение фото рисунок файл "
    "имяфайла imagen archivo fichier",
    "images": "image img pictures files states frames bilder fotos картинки изображения кадры",
    "question": "query prompt request statement label input source instruction class predictedclass predictedlabel "
    "frage klasse etikett bezeichnung aussage вопрос метка класс утверждение запрос pregunta etiqueta clase étiquette "
    "classe",
    "answer": "gold goldanswer correctanswer correct rightanswer target truth groundtruth goldlabel antwort "
    "richtigeantwort lösung ответ правильныйответ эталон respuesta réponse",
    "choices": "options answers candidates alternatives optionen antwortmöglichkeiten варианты вариантыответа opciones",
    "system": "model modelname modelid systemname sysname exp generator llm engine method modell модель система modelo "
    "modèle",
    "explanation": "output outputtext text response prediction generated generatedtext rationale caption summary "
    "translation hypothesis completion generation systemoutput reply reason why because justification wavfile "
    "audiofile videofile mt erklärung begründung warum grund ausgabe объяснение обоснование пояснение почему причина "
    "вывод текст перевод explicación justificación explication raison",
    "steps": "preds predictions output outputs texts transformations schritte шаги",
    "references": "reference referencetext goldtext humantext referenz",
    "output_answer": "modelanswer predictedanswer answerpredicted modellantwort ответмодели",
    "model_correct": "iscorrect correctprediction",
}
PICTURE_NAME = re.compile(r"\S.*\.(png|jpe?g|gif|webp|svg|bmp|tiff?)(\?\S*)?", re.IGNORECASE)
LONG_TEXT = 20  # characters of a text that says why, on average


@dataclass(frozen=True, slots=True)
class Role:
    """One thing a column can be, by our name for that column."""

    name: str
    is_required: bool
    label: str

    def __str__(self) -> str:
        same = _plain(self.label) == _plain(self.name)
        return f"“{self.label}”" if same else f"“{self.label}” ({self.name})"


@dataclass(frozen=True, slots=True)
class Found:
    """A column of a file: its first values, and the role it has or seems to have (empty: none)."""

    name: str
    values: tuple[str, ...]
    role: str


def roles_of(definition: Definition) -> tuple[Role, ...]:
    """Return the roles of a file with one output a row. That of the system is needed where outputs are compared."""
    columns = find_columns((), definition=definition)
    needed = [name for name in columns.required if name != columns.system or not definition.is_single]
    image = columns.image if definition.pictures != "none" else ""
    others = [image, columns.system, OUTPUT_ANSWER if definition.answer else CORRECT, REFERENCES, COLUMN]
    more = [name for name in dict.fromkeys(others) if name and name not in needed]
    labels = {
        columns.question: definition.question_label,
        columns.text: definition.output_label.replace("{n}", ""),
    }
    return tuple(
        Role(name, name in needed, (labels.get(name, "") or name).replace("_", " ").strip())
        for name in (*needed, *more)
    )


def guessed(header: Iterable[str], *, definition: Definition, rows: Sequence[Row] = ()) -> dict[str, str]:
    """Return {role: column} as the names suggest, and for what is needed yet, the values; a column has one role."""
    names = list(header)
    found = _by_name(names, definition=definition)
    free = {name: [row.cells.get(name, "") for row in rows] for name in names if name not in found.values()}
    for role, is_like in _likeness(definition).items():
        alike = [name for name, values in free.items() if any(values) and is_like([v for v in values if v])]
        if role not in found and len(alike) == 1:
            found[role] = alike[0]
            del free[alike[0]]
    return found


def _likeness(definition: Definition) -> dict[str, Callable[[list[str]], bool]]:
    """Return how the values of a column look that is needed: two columns that look alike are no guess."""
    columns = find_columns((), definition=definition)
    needed = {role.name for role in roles_of(definition) if role.is_required or role.name == columns.image}
    asked = _are_questions if definition.answer else _repeat
    likeness = {columns.image: _are_pictures, columns.text: _are_long, columns.question: asked}
    return {role: is_like for role, is_like in likeness.items() if role in needed and role != "steps"}


def _are_pictures(values: list[str]) -> bool:
    return all(PICTURE_NAME.fullmatch(value.strip()) for value in values)


def _are_long(values: list[str]) -> bool:
    return mean(map(len, values)) >= LONG_TEXT and all(" " in value.strip() for value in values)


def _are_questions(values: list[str]) -> bool:
    return all(value.rstrip().endswith(("?", "？")) for value in values)


def _repeat(values: list[str]) -> bool:
    """Tell whether they are few short words, none of them a number, each of which stands there often."""
    few = set(values)
    return 2 * len(few) <= len(values) and not any(_is_number(value) or len(value) > 40 for value in few)


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[-+]?[\d.,]+", text.strip()))


def _by_name(header: list[str], *, definition: Definition) -> dict[str, str]:
    """Return {role: column}: our own names go before what people call them, and these before the type's labels."""
    free = {_plain(name): name for name in reversed(header) if _plain(name)}
    found: dict[str, str] = {}
    labels = {role.name: _plain(role.label) for role in roles_of(definition)}
    labels |= {block.column: _plain(block.label) for block in definition.blocks}
    by_name = (
        {name: [_plain(name)] for name in labels},
        {name: ALSO.get(name, "").split() for name in labels},
    )
    for spellings in (*by_name, {name: [label] for name, label in labels.items()}):
        for role, names in spellings.items():
            match = next((name for name in names if name in free), None)
            if role not in found and match is not None:
                found[role] = free.pop(match)
    return found


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFC", name)).casefold()


def is_understood(table: Table, *, definition: Definition) -> bool:
    """Tell whether a file's columns need no explanation: a batch CSV, or each one needed goes by a name we know."""
    if "id_0" in table.header or not table.rows:
        return True
    return set(find_columns(table.header, definition=definition).required) <= set(table.header)


def remembered(survey: Survey, *, header: Iterable[str]) -> dict[str, str]:
    """Return {role: column} as it was chosen for the last file with these columns in this survey; empty without one."""
    names = sorted(header)
    return next((dict(known["roles"]) for known in survey.columns if known["header"] == names), {})


def remember(survey: Survey, *, header: Iterable[str], roles: Mapping[str, str]) -> None:
    """Keep what a file's columns meant for the next one that has the same."""
    names = sorted(header)
    others = [known for known in survey.columns if known["header"] != names]
    survey.columns = [{"header": names, "roles": dict(roles)}, *others][:MOST_REMEMBERED]
    survey.save(update_fields=["columns"])


def found_columns(table: Table, *, roles: Mapping[str, str]) -> list[Found]:
    """Return a file's columns in their order; `roles` is {role: column}."""
    by_column = {column: role for role, column in roles.items()}
    return [
        Found(
            name, tuple(row.cells.get(name, "") for row in table.rows[:SHOWN_VALUES]), by_column.get(name, "")
        )
        for name in table.header
    ]


def by_our_names(roles: Mapping[str, str], *, definition: Definition) -> dict[str, str]:
    """Return {role: column}, with a role that was called as files call its column (`label`, `preds`) by our name."""
    known = {one.name for one in roles_of(definition)}
    names = {role: role if role in known else _our_name(role, definition=definition) for role in roles}
    return {role if names[role] in roles else names[role]: column for role, column in roles.items()}


def _our_name(name: str, *, definition: Definition) -> str:
    ours = astuple(find_columns((), definition=definition))
    theirs = astuple(find_columns((name,), definition=definition))
    same = (mine or REFERENCES for mine, other in zip(ours, theirs, strict=True) if other == name)
    return next(same, name)


def problems_of(
    roles: Mapping[str, str], *, header: Iterable[str], definition: Definition
) -> Iterator[Problem]:
    """Yield what is wrong with {role: column}: roles and columns nobody knows, and those that are missing.

    A role with an empty column is left out on purpose, even if a column has its name.
    """
    known = {role.name: role for role in roles_of(definition)}
    columns = list(header)
    for role, column in roles.items():
        if role not in known:
            yield file_error(f'There is no role "{role}"; known: {", ".join(known)}.', column=column)
        elif column and column not in columns:
            yield file_error(f"The file has no such column; it has {', '.join(columns)}.", column=column)
    for one in known.values():
        if one.is_required and not roles.get(one.name, one.name in columns):
            yield file_error(f"No column is {one}; the file has {', '.join(columns)}.", line=1)


def renamed(table: Table, *, roles: Mapping[str, str], definition: Definition, system: str) -> Table:
    """Return the table with its columns by our names, and of the others only the ratings.

    A column that was given no role has none, whatever it is called. Where no column is the system, all rows are of
    `system`.
    """
    by_name = {role.name for role in roles_of(definition)} - set(roles)
    names = {**{name: name for name in by_name}, **{column: role for role, column in roles.items() if column}}
    kept = [name for name in table.header if name in names or name in set(ratings_of(definition))]
    header = [names.get(name, name) for name in kept]
    column = find_columns((), definition=definition).system
    is_added = find_columns(tuple(header), definition=definition).system not in header
    added = {column: system} if is_added else {}
    rows = tuple(_renamed(row, names=names, kept=kept, added=added) for row in table.rows)
    problems = tuple(replace(p, column=names.get(p.column, p.column)) for p in table.problems)
    return Table((*header, *added), rows, problems)


def _renamed(row: Row, *, names: Mapping[str, str], kept: list[str], added: Mapping[str, str]) -> Row:
    cells = {names.get(name, name): row.cells[name] for name in kept if name in row.cells}
    lists = {names.get(name, name): row.lists[name] for name in kept if name in row.lists}
    return Row(row.number, row.line, {**cells, **added}, lists)


EXAMPLES = {
    "choices": "red|green|blue",
    "answer": "blue",
    "images": "a1_1.png|a1_2.png",
    "image": "a1.png",
    "steps": "What happens between the two pictures.",
    "system": "my-model",
    "item_id": "a1",
    "output_answer": "blue",
    "model_correct": "true",
}

ENDINGS = {"picture": "png", "audio": "wav", "video": "mp4"}


def _files_of(definition: Definition) -> dict[str, str]:
    """Return {column: what kind of file it names}."""
    columns = find_columns((), definition=definition)
    of_output = {columns.text: definition.output_file_kind} if definition.output_file_kind else {}
    return {**dict(columns.files), **of_output}


def template_csv(definition: Definition) -> str:
    """Return a file to fill in: every column there can be, and an item as an example."""
    names = [role.name for role in roles_of(definition)]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(names)
    for system in _systems(definition):
        writer.writerow([_inert(_example(name, definition, system)) for name in names])
    return out.getvalue()


def _inert(example: str) -> str:
    """Leave out an example that a spreadsheet would run: somebody else may have written the survey type."""
    return "" if example.startswith(("=", "+", "-", "@", "\t")) else example


def _systems(definition: Definition) -> list[str]:
    n_shown = (definition.outputs_per_item or 2) + definition.takes_more
    models = [f"model-{n}" for n in range(1, n_shown + 1)]
    return [*models[:-1], definition.reference_system] if definition.reference_system else models


def _example(name: str, definition: Definition, system: str) -> str:
    fixed = definition.answer.choices if definition.answer else ()
    if name == "answer" and fixed:
        return fixed[0].value
    if name == "system":
        return system
    if name == OUTPUT_ANSWER:
        return "" if system == definition.reference_system else _example("answer", definition, system)
    if name in (COLUMN, REFERENCES):
        return ""
    if kind := _files_of(definition).get(name):
        return f"a1-{system}.{ENDINGS[kind]}"
    return EXAMPLES.get(name, f"Your {name.replace('_', ' ')} here")
