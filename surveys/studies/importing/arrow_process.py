"""Parquet, Arrow and folders of `datasets`, written anew as JSON lines and a ZIP of the files in their cells.

A program of its own, which `arrow` starts with limits: what reads such a file is no Python, and trusts the file.
    python arrow_process.py SOURCE ITEMS FILES MOST_BYTES_OF_ITEMS MOST_BYTES_OF_FILES
What can't be taken is a sentence on the standard error, with exit code 3.
"""

import hashlib
import json
import math
import re
import resource
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

MOST_MEMORY = 4 * 2**30  # bytes of addresses, most of them the library's own
MOST_SECONDS = 120  # of the processor
BATCH_BYTES = 32 * 2**20  # what is decoded at a time, as far as the file tells
SHARD = re.compile(r"(?P<split>.+?)-\d{5}-of-\d{5}")
UNSAFE = re.compile(r"[^\w.-]")  # in the name of a file within a cell, where | parts names and % decodes
EMBEDDED = {"bytes", "path"}  # the fields by which `datasets` keeps a picture or sound in its cell
REFUSED = 3


class Refusal(Exception):
    """The file can't be taken; the message says why."""


def main(source: Path, items: Path, files: Path, most_items: int, most_files: int) -> None:
    writer = Writer(most_items=most_items, most_files=most_files)
    with (
        tempfile.TemporaryDirectory() as folder,
        items.open("w", encoding="utf-8") as lines,
        zipfile.ZipFile(files, "a", zipfile.ZIP_STORED) as archive,
    ):
        for record in records(source, folder=Path(folder), most_bytes=most_files):
            writer.write(record, lines=lines, archive=archive)


class Writer:
    """Writes a record a line, and the files of its cells under names made of their bytes: the same one only once."""

    def __init__(self, *, most_items: int, most_files: int) -> None:
        self.n_left, self.n_files_left = most_items, most_files
        self.most_items, self.most_files = most_items, most_files
        self.found: list[tuple[str, bytes]] = []

    def write(self, record: dict[str, Any], *, lines: Any, archive: zipfile.ZipFile) -> None:
        line = json.dumps({name: self.plain(value, column=name) for name, value in record.items()})
        self.n_left -= len(line) + 1
        if self.n_left < 0:
            raise Refusal(f"Its texts are more than {self.most_items // 2**20} MB.")
        lines.write(f"{line}\n")
        for name, data in self.found:
            if name in archive.NameToInfo:
                continue
            self.n_files_left -= len(data)
            if self.n_files_left < 0:
                raise Refusal(f"The pictures in it are more than {self.most_files // 2**20} MB.")
            archive.writestr(name, data)
        self.found.clear()

    def plain(self, value: Any, *, column: str) -> Any:
        """Return a value as JSON has it, a file by the name it gets."""
        if isinstance(value, bytes):
            return self.named(value, path="")
        if isinstance(value, dict) and value.keys() == EMBEDDED:
            data = value["bytes"]
            return self.named(data, path=value["path"] or "") if data is not None else value["path"]
        if isinstance(value, dict):
            return {str(name): self.plain(part, column=column) for name, part in value.items()}
        if isinstance(value, list | tuple):
            return [self.plain(part, column=column) for part in value]
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        return value if value is None or isinstance(value, str | int | bool) else str(value)

    def named(self, data: bytes, *, path: str) -> str:
        digest = hashlib.sha256(data).hexdigest()[:16]
        last = UNSAFE.sub("_", PurePosixPath(path.replace("\\", "/")).name).lstrip(".")[-100:]
        self.found.append((f"{digest}-{last}" if last else digest, data))
        return self.found[-1][0]


def records(source: Path, *, folder: Path, most_bytes: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file, or of all parts of a data set in a folder or a ZIP."""
    if source.is_dir():
        names = sorted(path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file())
        paths = [source / name for name in parts_of(names, read=lambda name: (source / name).read_bytes())]
    elif zipfile.is_zipfile(source) and source.open("rb").read(2) == b"PK":
        paths = list(unzipped(source, into=folder, most_bytes=most_bytes))
    else:
        paths = [source]
    tables = (rows_of(path) for path in paths)
    yield from chain.from_iterable(tables)


def unzipped(source: Path, *, into: Path, most_bytes: int) -> Iterator[Path]:
    """Yield the parts of a data set, each under a name of ours: whatever the archive calls them."""
    with zipfile.ZipFile(source) as archive:
        names = [one.filename for one in archive.infolist() if not one.is_dir()]
        parts = parts_of(sorted(names), read=archive.read)
        if sum(archive.getinfo(name).file_size for name in parts) > most_bytes:
            raise Refusal(f"It unpacks to more than {most_bytes // 2**20} MB.")
        for number, name in enumerate(parts):
            path = into / f"{number}{PurePosixPath(name).suffix}"
            with archive.open(name) as packed, path.open("wb") as file:
                while chunk := packed.read(2**20):
                    file.write(chunk)
            yield path


def parts_of(names: list[str], *, read: Any) -> list[str]:
    """Return the files with the rows, in order: as `state.json` lists them, else all Parquet, else all Arrow files."""
    names = [name for name in names if not any(part[:1] in "._" for part in PurePosixPath(name).parts)]
    states = [name for name in names if PurePosixPath(name).name == "state.json"]
    if len(states) > 1:
        raise one_only(sorted(PurePosixPath(name).parent.name for name in states))
    if states:
        return listed(states[0], json.loads(read(states[0])))
    found = [name for name in names if name.endswith(".parquet")]
    found = found or [name for name in names if name.endswith(".arrow")]
    splits = sorted({split_of(name) for name in found})
    if len(splits) > 1:
        raise one_only(splits)
    return found


def split_of(name: str) -> str:
    """Return the split by a part's name, as `datasets` calls them: train-00000-of-00002.parquet."""
    stem = PurePosixPath(name).stem
    shard = SHARD.fullmatch(stem)
    return shard["split"] if shard else stem if stem in ("train", "test", "validation") else ""


def one_only(splits: list[str]) -> Refusal:
    return Refusal(f"It has several splits ({', '.join(splits)[:200]}); bring one of them.")


def listed(name: str, state: Any) -> list[str]:
    if state.get("_indices_data_files"):
        raise Refusal("Its rows are an order of others; write it anew after `flatten_indices()`.")
    folder = PurePosixPath(name).parent
    files = [PurePosixPath(one["filename"]) for one in state["_data_files"]]
    if any(len(file.parts) != 1 or file.name == ".." for file in files):
        raise Refusal("Its list of files leads out of its folder.")
    return [(folder / file).as_posix() for file in files]


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of one Parquet or Arrow file, the classes of `datasets` by their names."""
    with path.open("rb") as file:
        start = file.read(6)
    batches = (
        parquet_batches(path) if start[:4] == b"PAR1" else arrow_batches(path, is_file=start == b"ARROW1")
    )
    for batch in batches:
        classes = classes_of(batch.schema)
        for number in range(batch.num_rows):
            record = {name: batch.column(name)[number].as_py() for name in batch.schema.names}
            yield {name: class_name(value, classes.get(name)) for name, value in record.items()}


def parquet_batches(path: Path) -> Iterator[pa.RecordBatch]:
    """A value that a dictionary repeats is as large as its column's part at most: so many rows are decoded at once."""
    with pq.ParquetFile(path) as file:
        facts = file.metadata
        sizes = [
            facts.row_group(group).column(column).total_uncompressed_size
            for group in range(facts.num_row_groups)
            for column in range(facts.num_columns)
        ]
        yield from file.iter_batches(batch_size=max(1, min(1000, BATCH_BYTES // max([1, *sizes]))))


def arrow_batches(path: Path, *, is_file: bool) -> Iterator[pa.RecordBatch]:
    with pa.memory_map(str(path)) as source:
        if is_file:
            file = pa.ipc.open_file(source)
            yield from (file.get_batch(number) for number in range(file.num_record_batches))
        else:
            yield from pa.ipc.open_stream(source)


def classes_of(schema: pa.Schema) -> dict[str, list[str]]:
    """Return {column: names} of the columns whose numbers are classes, as `datasets` notes them in the schema."""
    noted = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
    features = noted.get("info", {}).get("features", {})
    return {name: one["names"] for name, one in features.items() if isinstance(one, dict) and "names" in one}


def class_name(value: Any, names: list[str] | None) -> Any:
    is_class = names and isinstance(value, int) and 0 <= value < len(names)
    return names[value] if names and is_class else value


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    pa.set_cpu_count(1)
    try:
        source, items, files = map(Path, sys.argv[1:4])
        main(source, items, files, *map(int, sys.argv[4:6]))
    except Refusal as refusal:
        sys.stderr.write(str(refusal))
        sys.exit(REFUSED)
