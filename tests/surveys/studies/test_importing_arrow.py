"""Parquet, Arrow, and folders of data sets: their rows and the pictures in their cells, and what is refused."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from surveys.protocols.documents import read
from surveys.studies.importing.arrow import BROKEN, ArrowError, is_arrow, is_arrow_path, unpack
from surveys.studies.importing.reading import read_items
from tests.surveys.studies.importing_cases import png

PICTURE = {"bytes": png(), "path": "deep/50%|a.png"}
COLUMNS = {
    "uid": ["a", "b"],
    "pic": [PICTURE, {"bytes": png("blue"), "path": None}],
    "label": [1, 0],
    "chat": [[{"role": "user", "content": "Hi"}], []],
    "score": [0.5, float("nan")],
}
CLASSES = {"info": {"features": {"label": {"names": ["cat", "dog"], "_type": "ClassLabel"}}}}


def table() -> pa.Table:
    return pa.table(COLUMNS).replace_schema_metadata({"huggingface": json.dumps(CLASSES)})


def parquet(rows: pa.Table | None = None) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table() if rows is None else rows, buffer)
    return buffer.getvalue()


def stream(rows: pa.Table | None = None) -> bytes:
    rows = table() if rows is None else rows
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, rows.schema) as writer:
        writer.write_table(rows)
    return buffer.getvalue()


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def rows_of(source: Path, into: Path) -> list[dict[str, Any]]:
    into.mkdir()
    return [json.loads(line) for line in unpack(source, into=into).items.read_text().splitlines()]


def saved(folder: Path, *, name: str = "set") -> Path:
    """Lay a data set out as `save_to_disk` does, its second half in a file of its own."""
    (folder / name).mkdir(parents=True)
    files = [f"data-0000{n}-of-00002.arrow" for n in range(2)]
    for n, file in enumerate(files):
        (folder / name / file).write_bytes(stream(table().slice(n, 1)))
    (folder / name / "state.json").write_text(json.dumps({"_data_files": [{"filename": f} for f in files]}))
    (folder / name / "dataset_info.json").write_text("{}")
    return folder / name


def test_rows_and_the_pictures_in_their_cells(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(parquet())
    first, second = rows_of(tmp_path / "a.parquet", tmp_path / "out")
    assert first | {"pic": ""} == {
        "uid": "a",
        "pic": "",
        "label": "dog",
        "chat": [{"role": "user", "content": "Hi"}],
        "score": 0.5,
    }
    assert (second["label"], second["score"]) == ("cat", None)
    with zipfile.ZipFile(tmp_path / "out" / "files.zip") as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            first["pic"]: png(),
            second["pic"]: png("blue"),
        }
    assert first["pic"].endswith("-50__a.png")


@pytest.mark.parametrize("is_zipped", [False, True])
def test_the_folder_of_a_data_set_and_its_zip(tmp_path: Path, is_zipped: bool) -> None:
    source = folder = saved(tmp_path)
    if is_zipped:
        source = tmp_path / "set.zip"
        source.write_bytes(zipped({f"set/{path.name}": path.read_bytes() for path in folder.iterdir()}))
    assert is_arrow_path(source)
    assert [row["uid"] for row in rows_of(source, tmp_path / "out")] == ["a", "b"]


def test_shards_of_parquet_are_one_file(tmp_path: Path) -> None:
    parts = {f"data/train-0000{n}-of-00002.parquet": parquet(table().slice(n, 1)) for n in (1, 0)}
    (tmp_path / "a.zip").write_bytes(zipped(parts | {"README.md": b"#", "__MACOSX/._x.parquet": b"?"}))
    assert [row["uid"] for row in rows_of(tmp_path / "a.zip", tmp_path / "out")] == ["a", "b"]


def test_the_same_picture_of_two_files_is_kept_once(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(parquet(table().slice(0, 1)))
        unpacked = unpack(tmp_path / name, into=tmp_path)
    assert unpacked.files is not None
    with zipfile.ZipFile(unpacked.files) as archive:
        assert len(archive.namelist()) == 1


def test_what_is_for_others_is_left_to_them() -> None:
    assert [
        is_arrow(io.BytesIO(data)) for data in (b"", b"id_0\n", zipped({"a.png": b""}), b"PK\x03\x04")
    ] == [False] * 4
    assert is_arrow(io.BytesIO(parquet()))


def test_several_splits_are_named(tmp_path: Path) -> None:
    saved(tmp_path, name="train")
    saved(tmp_path, name="test")
    with pytest.raises(ArrowError, match=r"^It has several splits \(test, train\); bring one of them\.$"):
        unpack(tmp_path, into=tmp_path)
    parts = {f"{split}-00000-of-00001.parquet": parquet() for split in ("train", "dev")}
    (tmp_path / "a.zip").write_bytes(zipped(parts))
    with pytest.raises(ArrowError, match=r"^It has several splits \(dev, train\)"):
        unpack(tmp_path / "a.zip", into=tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        b"PAR1",
        parquet()[:-20],
        parquet()[:300] + b"\xff" * 200 + parquet()[500:],
        stream()[:200],
        b"ARROW1\0\0" + b"\xff" * 64,
        zipped({"state.json": b"nonsense", "a.arrow": stream()}),
        zipped({"state.json": b'{"_data_files": [{"filename": "gone.arrow"}]}', "a.arrow": b""}),
    ],
)
def test_what_is_broken_is_a_sentence(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(ArrowError, match=f"^{BROKEN}$"):
        unpack(tmp_path / "a", into=tmp_path)


def test_a_list_of_files_leads_nowhere_else(tmp_path: Path) -> None:
    state = json.dumps({"_data_files": [{"filename": "../../etc/passwd"}]}).encode()
    (tmp_path / "a").write_bytes(zipped({"set/state.json": state, "set/a.arrow": stream()}))
    with pytest.raises(ArrowError, match=r"^Its list of files leads out of its folder\.$"):
        unpack(tmp_path / "a", into=tmp_path)


def test_what_unpacks_to_far_more_is_stopped(tmp_path: Path, settings) -> None:
    settings.UPLOAD_MAX_BYTES = settings.IMAGE_ARCHIVE_MAX_BYTES = 2**20
    bomb = parquet(pa.table({"text": ["x" * 2**16] * 1000}))
    assert len(bomb) < 2**17
    (tmp_path / "a").write_bytes(bomb)
    with pytest.raises(ArrowError, match=r"^Its texts are more than 1 MB\.$"):
        unpack(tmp_path / "a", into=tmp_path)
    noughts = pa.table(
        {"pic": [{"bytes": bytes(2**20), "path": None}, {"bytes": b"\1" * 2**20, "path": None}]}
    )
    (tmp_path / "a").write_bytes(parquet(noughts))
    with pytest.raises(ArrowError, match=r"^The pictures in it are more than 1 MB\.$"):
        unpack(tmp_path / "a", into=tmp_path)
    (tmp_path / "a").write_bytes(zipped({"a.parquet": bytes(2**21)}))
    with pytest.raises(ArrowError, match=r"^It unpacks to more than 1 MB\.$"):
        unpack(tmp_path / "a", into=tmp_path)


CHATS = """\
protocol: chats
name: Chats
version: 1
title: Judge answers
question_label: ""
output_label: Answer
outputs_per_item: 1
headline: good
pictures: none
blocks:
  - {column: chat, kind: conversation}
  - {column: facts, kind: table}
criteria:
  - key: good
    label: Is it good?
    choices: [{value: 1, label: 1, score: 1}, {value: 2, label: 2, score: 2}]
instructions: {summary: Read., steps: [Read.]}
"""
TURNS = [
    {"role": "system", "content": None},
    {"role": "user", "content": [{"type": "text", "text": "Two\n\nlines: see"}, {"type": "image_url"}]},
    {"from": "gpt: 4", "value": "No."},
]


def test_turns_and_fields_fit_what_a_protocol_shows() -> None:
    definition = read(CHATS, name="chats")
    record = {
        "item_id": 1,
        "system": "m",
        "out": {"text": "Yes.", "n": 3},
        "chat": TURNS,
        "facts": {"Colour: of": "red", "Size": 4},
        "tokens": [{"word": "a", "p": 1}, {"word": "b"}],
    }
    plan = read_items(json.dumps(record).encode(), definition=definition, columns={"explanation": "out.text"})
    assert plan.errors == ()
    assert plan.header == (
        *("item_id", "system", "out", "out.text", "out.n", "chat", "chat.role", "chat.content"),
        *(
            "chat.from",
            "chat.value",
            "facts",
            "facts.Colour: of",
            "facts.Size",
            "tokens",
            "tokens.word",
            "tokens.p",
        ),
    )
    item = plan.items[0]
    shown = {block.column: block.parts(item.payload["blocks"][block.column]) for block in definition.blocks}
    assert item.outputs[0].text == "Yes."
    assert shown == {
        "chat": (("system", ""), ("user", "Two\nlines: see\n[image_url]"), ("gpt 4", "No.")),
        "facts": (("Colour of", "red"), ("Size", "4")),
    }
