"""Which door a file of answers goes through."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from surveys.protocols.definition import Definition
from surveys.protocols.registry import get_definition
from surveys.results.frames.annotations import read_annotations
from surveys.results.frames.base import Frame
from surveys.results.frames.csv_table import SourceError, read_table
from surveys.results.frames.mturk_csv import KINDS, frame_from_table
from surveys.results.frames.pseudonyms import Pseudonyms
from surveys.results.frames.responses import frame_from_responses, is_responses

JSONL = (".jsonl", ".ndjson")
LINES_ARE = "vtt"


def read_results(
    paths: Sequence[Path],
    *,
    system: str = "model",
    definition: Definition | None = None,
    pseudonyms: Pseudonyms | None = None,
) -> Frame:
    """Read one CSV (MTurk's batch results or raw responses) or any number of JSONL files with human scores.

    `system` names the model where the file doesn't (MTurk's); `definition` is found out where none is given, JSONL
    being VTT's. Raises SourceError, which names the place, and OSError.
    """
    if all(path.suffix.lower() in JSONL for path in paths):
        return read_annotations(
            paths, definition=definition or get_definition(LINES_ARE), pseudonyms=pseudonyms
        )
    if len(paths) > 1:
        raise SourceError("several files make one study only where they are JSONL")
    try:
        return _read_csv(paths[0], system=system, definition=definition, pseudonyms=pseudonyms)
    except SourceError as error:
        raise error.in_file(str(paths[0])) from error


def _read_csv(
    path: Path, *, system: str, definition: Definition | None, pseudonyms: Pseudonyms | None
) -> Frame:
    with path.open("rb") as stream:
        table = read_table(stream, kinds=KINDS)
    if is_responses(table):
        return frame_from_responses(table, study=path.stem, definition=definition, pseudonyms=pseudonyms)
    return frame_from_table(
        table, study=path.stem, system=system, definition=definition, pseudonyms=pseudonyms
    )


def sources_of(paths: Sequence[Path]) -> list[list[Path]]:
    """Return the files that make a study each: a CSV is one, and all JSONL files together are one.

    Raises SourceError for a file that is given twice.
    """
    if twice := [path for path, n in Counter(path.resolve() for path in paths).items() if n > 1]:
        raise SourceError("the file is given twice").in_file(str(twice[0]))
    lines = [path for path in paths if path.suffix.lower() in JSONL]
    return [*([path] for path in paths if path not in lines), *([lines] if lines else [])]


def names_of(sources: Sequence[Sequence[Path]]) -> list[str]:
    """Return what each study is called: by its files, and by their folder where files of two are called alike."""
    stems = [" + ".join(path.stem for path in paths) for paths in sources]
    times = Counter(stems)
    return [
        stem if times[stem] == 1 else f"{paths[0].resolve().parent.name}/{stem}"
        for stem, paths in zip(stems, sources, strict=True)
    ]
