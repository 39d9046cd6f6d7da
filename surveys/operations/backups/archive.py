"""The archive: a ZIP of `database/<table>.jsonl` and `media/...`, and a manifest that vouches for each of them.

The manifest is written last, when every size and SHA-256 is known. Reading trusts nothing: names, types, sizes and sums
are compared with the manifest before anybody acts on the contents.
"""

import hashlib
import json
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any

FORMAT = 1
MANIFEST = "manifest.json"
DATABASE, MEDIA = "database/", "media/"
OWN = ".restore-"  # how the folders begin that a restore works in
PACKED = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
CHUNK = 1 << 20
KNOWN = {"members", "migrations", "columns", "tables", "missing", "key"}
LONGEST_MANIFEST = 256 << 20
LONGEST_LINE = 64 << 20  # a row of a table; the longest document a marketplace takes is far below it
UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    RuntimeError,
    NotImplementedError,
    OSError,
    ValueError,
    ArithmeticError,
    MemoryError,
)


class BackupError(Exception):
    """A backup can't be made or restored; the message is a sentence for a person."""


class Member:
    """A member being written, and what the manifest will say of it."""

    def __init__(self, target: IO[bytes]) -> None:
        self._target = target
        self._digest = hashlib.sha256()
        self._size = 0

    def write(self, data: bytes) -> None:
        self._target.write(data)
        self._digest.update(data)
        self._size += len(data)

    def facts(self) -> dict[str, Any]:
        return {"size": self._size, "sha256": self._digest.hexdigest()}


class Writer:
    """Writes members one after another, then the manifest."""

    def __init__(self, file: zipfile.ZipFile) -> None:
        self._file = file
        self._members: dict[str, dict[str, Any]] = {}

    @contextmanager
    def member(self, name: str, *, compress: bool = True) -> Iterator[Member]:
        """Give something to write the member `name` to; pictures gain nothing from being compressed."""
        info = zipfile.ZipInfo(name)
        info.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
        with self._file.open(info, "w", force_zip64=True) as target:
            member = Member(target)
            yield member
        self._members[name] = member.facts()

    def has(self, name: str) -> bool:
        return name in self._members

    def finish(self, facts: dict[str, Any]) -> None:
        manifest = {"format": FORMAT, **facts, "members": self._members}
        self._file.writestr(MANIFEST, json.dumps(manifest, indent=1))


class Reader:
    """A verified archive: whatever is read from it is what was written."""

    def __init__(self, file: zipfile.ZipFile, *, manifest: dict[str, Any]) -> None:
        self._file = file
        self.manifest = manifest

    @property
    def columns(self) -> dict[str, list[str]]:
        columns: dict[str, list[str]] = self.manifest["columns"]
        return columns

    @property
    def n_rows(self) -> dict[str, int]:
        n_rows: dict[str, int] = self.manifest["tables"]
        return n_rows

    def names(self, folder: str) -> list[str]:
        """Return the names of the members under `folder`, without it."""
        members = self.manifest["members"]
        return [name.removeprefix(folder) for name in members if name.startswith(folder)]

    def check_tables(self) -> None:
        """Raise BackupError if the tables are not those of the manifest."""
        written = {f"{table}.jsonl" for table in self.columns}
        if set(self.names(DATABASE)) != written or set(self.n_rows) != set(self.columns):
            raise BackupError("The archive is not sound: its tables are not those of its manifest.")

    def rows(self, table: str) -> Iterator[list[Any]]:
        """Yield a table's rows; BackupError for a line that is too long to be one."""
        with self._file.open(f"{DATABASE}{table}.jsonl") as lines:
            while line := lines.readline(LONGEST_LINE):
                if not line.endswith(b"\n"):
                    raise BackupError(f"The archive is not sound: a row of {table} has no end.")
                yield json.loads(line)

    def extract(self, name: str, *, to: Path) -> None:
        to.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open(MEDIA + name) as source, to.open("xb") as target:
            shutil.copyfileobj(source, target, CHUNK)


@contextmanager
def verified(path: Path, *, room: int) -> Iterator[Reader]:
    """Open an archive and compare every member with the manifest.

    `room` is the number of bytes the contents may have. BackupError if anything is damaged, missing, too much,
    or not from this program.
    """
    with open_zip(path) as file:
        try:
            manifest = read_manifest(file)
            check_names(file, manifest["members"])
            check_types(file)
            check_sizes(file, manifest["members"])
            check_room(manifest["members"].values(), room=room)
            for name, facts in manifest["members"].items():
                check_member(file, name, facts=facts)
        except (*UNREADABLE, KeyError, TypeError, AttributeError) as error:
            raise BackupError(f"{path.name} is damaged: {error}") from error
        yield Reader(file, manifest=manifest)


@contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        file = zipfile.ZipFile(path)
    except FileNotFoundError as error:
        raise BackupError(f"There is no file {path}.") from error
    except UNREADABLE as error:
        raise BackupError(f"{path.name} is not a backup, or not all of one: {error}") from error
    with file:
        yield file


def read_manifest(file: zipfile.ZipFile) -> dict[str, Any]:
    if MANIFEST not in file.namelist() or file.getinfo(MANIFEST).file_size > LONGEST_MANIFEST:
        raise BackupError("The archive has no manifest: it is not a backup.")
    manifest: dict[str, Any] = json.loads(file.read(MANIFEST))
    if manifest.get("format") != FORMAT:
        raise BackupError(
            f"The archive has format {manifest.get('format')!r}; this version reads format {FORMAT}."
        )
    if not manifest.keys() >= KNOWN:
        raise BackupError("The archive is not sound: its manifest is not complete.")
    return manifest


def check_names(file: zipfile.ZipFile, members: dict[str, Any]) -> None:
    found = file.namelist()
    if sorted(found) != sorted([MANIFEST, *members]):
        raise BackupError("The archive is not sound: its members are not those of its manifest.")
    for name in members:
        if not is_safe(name):
            raise BackupError(f"The archive is not sound: {name!r} is no name for a member.")


def is_safe(name: str) -> bool:
    """Say whether a member's name stays below its folder on every system."""
    parts = PurePosixPath(name).parts
    is_plain = "/".join(parts) == name and not any(sign in name for sign in "\\:\0")
    is_below = ".." not in parts and name.startswith((DATABASE, MEDIA)) and len(parts) > 1
    return is_plain and is_below and not parts[1].startswith(OWN)


def check_types(file: zipfile.ZipFile) -> None:
    """Raise BackupError for what is no plain file: a link, a device, a folder; or packed as none of ours is."""
    for member in file.infolist():
        kind = stat.S_IFMT(member.external_attr >> 16)
        if kind not in {0, stat.S_IFREG} or member.is_dir():
            raise BackupError(f"The archive is not sound: {member.filename!r} is no plain file.")
        if member.compress_type not in PACKED or member.flag_bits & 0x1:
            raise BackupError(f"The archive is not sound: {member.filename!r} is packed in another way.")


def check_sizes(file: zipfile.ZipFile, members: dict[str, Any]) -> None:
    """Compare the sizes that ZIP and manifest declare, before a byte is unpacked."""
    for name, facts in members.items():
        if type(facts["size"]) is not int or facts["size"] != file.getinfo(name).file_size:
            raise BackupError(f"The archive is damaged: {name!r} has not the size that was written.")


def check_room(members: Iterable[dict[str, Any]], *, room: int) -> None:
    total = sum(facts["size"] for facts in members)
    if total > room:
        raise BackupError(f"The archive holds {total} bytes; there is room for {room}.")


def check_member(file: zipfile.ZipFile, name: str, *, facts: dict[str, Any]) -> None:
    """Read a member to its end; BackupError unless it has the SHA-256 that the manifest says."""
    digest = hashlib.sha256()
    with file.open(name) as source:
        while data := source.read(CHUNK):
            digest.update(data)
    if digest.hexdigest() != facts["sha256"]:
        raise BackupError(f"The archive is damaged: {name} is not what was written (SHA-256).")
