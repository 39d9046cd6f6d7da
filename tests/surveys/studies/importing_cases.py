"""Small item files, pictures and archives to import."""

import csv
import io
import json
import zipfile

from PIL import Image

from surveys.studies.importing.plan import Plan
from surveys.studies.importing.reading import read_items
from tests.protocols import VQAX

BASES = (
    "id",
    "question",
    "answer",
    "output_answer",
    "output_explanation",
    "explanation",
    "other_answer1",
    "other_answer2",
    "img_name",
)


def slot(n: int, **changes: str) -> dict[str, str]:
    """Return one question of a VQA-X batch CSV; every text tells its number."""
    return {
        "id": f"item-{n}",
        "question": f"What is in picture {n}?",
        "answer": "cat",
        "output_answer": "cat",
        "output_explanation": f"it has whiskers {n}",
        "explanation": f"it purrs {n}",
        "other_answer1": "bat",
        "other_answer2": "dog",
        "img_name": f"{n}.png",
    } | changes


def table(rows: list[list[str]]) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue().encode()


def batch_csv(*hits: list[dict[str, str]], without: tuple[str, ...] = ()) -> bytes:
    """Return a batch CSV of the given HITs; each is a list of slots."""
    columns = [f"{base}_{k}" for base in BASES for k in range(len(hits[0]))]
    columns = [column for column in columns if column not in without]
    rows = [[hit[int(c.rsplit("_", 1)[1])][c.rsplit("_", 1)[0]] for c in columns] for hit in hits]
    return table([["index", *columns], *([str(n), *row] for n, row in enumerate(rows))])


def long_rows(item: str = "a", **changes: str) -> list[dict[str, str]]:
    """Return the two lines of one item in the long layout."""
    shared = {
        "item_id": item,
        "image": f"{item}.png",
        "question": "What?",
        "choices": "dog|cat",
        "answer": "cat",
    }
    return [
        shared | {"system": system, "explanation": f"{system} says so"} | changes
        for system in ("model", "ground_truth")
    ]


def long_csv(rows: list[dict[str, str]]) -> bytes:
    return table([list(rows[0]), *(list(row.values()) for row in rows)])


def jsonl(rows: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def png(colour: str = "red", *, size: tuple[int, int] = (3, 2)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, "PNG")
    return file.getvalue()


def archive(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as written:
        for name, data in files.items():
            written.writestr(name, data)
    return file.getvalue()


def read(data: bytes, *, definition=VQAX, **options) -> Plan:
    return read_items(data, definition=definition, **options)


def places(plan: Plan) -> list[tuple[str, int | None, int | None, str, str]]:
    return [(p.severity.value, p.row, p.line, p.column, p.message) for p in plan.problems]


def xai_row(item: str = "a", **changes: str) -> dict[str, str]:
    """Return one line of the XAI survey's CSV."""
    return {
        "item_id": item,
        "image": f"{item}.png",
        "label": "goldfish",
        "explanation": "Something orange in a bowl.",
        "system": "lime",
    } | changes


def vtt_row(item: object = 8, **changes: object) -> dict[str, object]:
    """Return one line of VTT's published JSONL: one sample as one rater scored it."""
    return {
        "index": item,
        "preds": ["add coffee", "pour milk"],
        "label": ["grind the beans", "brew the coffee"],
        "BLEU_4": [0.25, 0.0],
        "exp": "cst",
        "fluency": 3,
        "logical_soundness": -1,
        "normal": False,
    } | changes
