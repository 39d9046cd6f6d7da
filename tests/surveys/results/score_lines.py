"""Lines of VTT's files of human scores, made up here."""

import json


def line(item, system, scores, **keys):
    """Return one line; `scores` are fluency, relevance and logic, or None for a skip."""
    fluency, relevance, logic = scores or (-1, -1, -1)
    return {
        "index": item,
        "preds": [f"{system} says", "two things"],
        "exp": system,
        "fluency": fluency,
        "relevance": relevance,
        "logical_soundness": logic,
        "duration": 30,
        "normal": scores is not None,
        **keys,
    }


def write_lines(path, lines):
    path.write_text("".join(json.dumps(data) + "\n" for data in lines), encoding="utf-8")
    return path
