"""Small batch results files in MTurk's format, made up here."""

import json

from surveys.results.frames.mturk_csv import frame_from_csv
from surveys.results.frames.pseudonyms import Pseudonyms

RATINGS = ("yes", "weak_yes", "weak_no", "no")
SHORTCOMINGS = ("incorrect_description", "insufficient_justification", "confusing_sentence")


def options(names, chosen=None):
    return {name: name == chosen for name in names}


def task(
    n,
    *,
    answer="yes",
    choices=("yes", "no", "maybe"),
    field="answer",
    image_id=None,
    ours="yes",
    gt="yes",
    ticked=((), ()),
    prefer="no_preference",
):
    """Return the keys of one task. `ours`, `gt`, `answer`, `prefer` None: left blank."""
    keys = {
        f"task{n}_{field}": options(choices, answer),
        f"task{n}_image_id": image_id or f"item-{n}",
        f"task{n}_preference": options(("expl_1", "expl_2", "no_preference"), prefer),
    }
    for side, (rating, marks) in enumerate(((ours, ticked[0]), (gt, ticked[1])), start=1):
        keys[f"task{n}_explanation{side}_explanation_justifies_answer"] = options(RATINGS, rating)
        for name in SHORTCOMINGS:
            keys[f"task{n}_explanation{side}_shortcomings_{name}"] = {"selected": name in marks}
    return keys


def row(tasks, *, assignment="A1", hit="H1", worker="W1", status="Submitted", golds=None, **cells):
    """Return the cells of one assignment; `tasks` are dicts from `task`, in order."""
    merged = {key: value for keys in tasks for key, value in keys.items()}
    inputs = {}
    for slot in range(len(tasks)):
        inputs[f"Input.answer_{slot}"] = golds[slot] if golds else "yes"
        inputs[f"Input.output_answer_{slot}"] = "yes"
        inputs[f"Input.output_explanation_{slot}"] = f"ours {slot + 1}"
        inputs[f"Input.explanation_{slot}"] = f"theirs {slot + 1}"
    return {
        "HITId": hit,
        "AssignmentId": assignment,
        "WorkerId": worker,
        "AssignmentStatus": status,
        "WorkTimeInSeconds": "120",
        "RequesterAnnotation": "BatchId:77;OriginalHitTemplateId:5;",
        **inputs,
        "Answer.taskAnswers": json.dumps([merged], sort_keys=True, separators=(",", ":"), ensure_ascii=False),
        **cells,
    }


def raw_file(rows, *, header=None):
    """Return the bytes of a file as MTurk writes it: two cells more in the header, no newline at the end."""
    names = header or list(dict.fromkeys(name for cells in rows for name in cells))
    lines = [[*names, "Approve", "Reject"], *([cells.get(name, "") for name in names] for cells in rows)]
    return "\r\n".join(",".join('"' + c.replace('"', '""') + '"' for c in cells) for cells in lines).encode()


def read(data, **options):
    """Return the frame of a batch results file of the study "s"."""
    return frame_from_csv(data, study="s", pseudonyms=Pseudonyms("key"), **options)
