"""Requests that cannot be right, made from right ones by a seeded generator."""

import copy
import json
from random import Random

from botocore.model import ListShape, StructureShape

from marketplace.api import service_model
from marketplace.api.service_model import DOCUMENTED, DOCUMENTED_LISTS
from tests.marketplace.api.bodies import BODIES

PREFIX = "MTurkRequesterServiceV20170117."
ILL_TYPED = {
    "string": [5, 1.5, True, [], {}, ["3A"]],
    "integer": ["5", 1.5, True, [], {}, 10**400],
    "long": ["5", 1.5, True, [], {}, 10**400],
    "boolean": ["true", 1, 0, [], {}],
    "timestamp": ["2015-01-01", True, [], {}],
    "structure": ["x", 5, [], True],
    "list": ["x", 5, {}, True],
}
GARBAGE = [
    b"{",
    b"\xff\xfe{}",
    b"[]",
    b'"x"',
    b"5",
    b"null",
    b"[" * 100_000,
    b'{"a":' * 5_000,
    b"\x00",
    b"a=b&c=d",
    b"<xml/>",
]
NAUGHTY = ["\x00", "a\x00b", "\ud800", "\x1b[31m", "￾"]
# Ids of the scene that name something; anything else of their shape names nothing.
REFERENCES = ("HITId", "HITTypeId", "AssignmentId", "QualificationTypeId", "QualificationRequestId")
# Lists that may hold unknown ids, and answer for each of them.
FORGIVING = frozenset({"NotifyWorkers"})


def malformed(random: Random, scene):
    """Return (target, body in bytes, headers to change) of a call that must be refused."""
    operation = random.choice(sorted(BODIES))
    body = copy.deepcopy(BODIES[operation](scene))
    way = random.choice(
        [ill_typed, ill_typed, incomplete, out_of_range, out_of_range, unknown, raw, unsigned]
    )
    made = way(random, operation, body)
    return made or raw(random, operation, body)


def sent(operation, body, **changed):
    return PREFIX + operation, body if isinstance(body, bytes) else json.dumps(body).encode(), changed


def places(shape, value, *, holder=None, key=None):
    """Yield (shape, value, the dict or list it is in, its name there) of everything in a body."""
    if holder is not None:
        yield shape, value, holder, key
    if isinstance(shape, StructureShape):
        for name in sorted(value):
            yield from places(shape.members[name], value[name], holder=value, key=name)
    elif isinstance(shape, ListShape):
        for number, item in enumerate(value):
            yield from places(shape.member, item, holder=value, key=number)


def chosen(random, operation, body):
    found = list(places(service_model.input_shape(operation), body))
    return random.choice(found) if found else None


def ill_typed(random, operation, body):
    place = chosen(random, operation, body)
    if place is None:
        return None
    shape, _, holder, key = place
    holder[key] = random.choice(ILL_TYPED[shape.type_name])
    return sent(operation, body)


def incomplete(random, operation, body):
    required = sorted(service_model.input_shape(operation).required_members)
    if not required:
        return None
    name = random.choice(required)
    if random.random() < 0.5:
        del body[name]
    else:
        body[name] = None
    return sent(operation, body)


def out_of_range(random, operation, body):
    """Break a pattern, an enumeration, a length or a limit."""
    place = chosen(random, operation, body)
    if place is None:
        return None
    shape, value, holder, key = place
    wrong = wrong_values(random, shape, value, name=key)
    if not wrong:
        return None
    holder[key] = random.choice(wrong)
    return sent(operation, body)


def wrong_values(random, shape, value, *, name):
    """Return values of the right type that no member of this name may have."""
    if shape.type_name == "string":
        return strings(shape, name)
    if shape.type_name == "timestamp":
        return [-1, 10**15, 253_402_300_800]
    if shape.type_name in {"integer", "long"}:
        low, high = DOCUMENTED.get(name, (shape.metadata.get("min"), shape.metadata.get("max")))
        beyond = 2**31 if shape.type_name == "integer" else 2**63
        return [beyond, -beyond - 1, *([low - 1] if low is not None else []), *([high + 1] if high else [])]
    if isinstance(shape, ListShape) and name in DOCUMENTED_LISTS and value:
        return [[value[0]] * (DOCUMENTED_LISTS[name][1] + random.choice([1, 50]))]
    return []


def strings(shape, name):
    longest = DOCUMENTED.get(name, (0, shape.metadata.get("max")))[1]
    patterned = ["", "not an id!", "3A\n", "x" * 65] if shape.metadata.get("pattern") else []
    enumerated = ["Everything", ""] if shape.metadata.get("enum") else []
    return [*NAUGHTY, *patterned, *enumerated, *(["x" * (longest + 1)] if longest else [])]


def unknown(random, operation, body):
    """Name something that does not exist, or belongs to nobody."""
    names = [name for name in REFERENCES if name in body]
    if not names or operation in FORGIVING:
        return None
    body[random.choice(names)] = "3" + "".join(random.choices("ABCDEFGH0123456789", k=29))
    return sent(operation, body)


def raw(random, operation, body):
    if random.random() < 0.3:
        target = random.choice(
            ["", "GetHIT", f"{PREFIX}EatHIT", f"{PREFIX}", "Other.GetHIT", f"{PREFIX}gethit"]
        )
        return target, json.dumps(body).encode(), {}
    text = json.dumps(body).encode()
    cut = text[: random.randrange(1, len(text))]
    return sent(operation, random.choice([cut, cut, *GARBAGE]))


def unsigned(random, operation, body):
    """Break the signature, or what it covers, after signing."""
    changed = random.choice(
        [
            {"Authorization": ""},
            {"Authorization": "Bearer let-me"},
            {"Authorization": "AWS4-HMAC-SHA256 " + "x" * 5000},
            {"X-Amz-Date": "20150101T000000Z"},
            {"X-Amz-Date": ""},
            {"X-Amz-Target": f"{PREFIX}DeleteHIT{random.randrange(9)}"},
            {"__body": json.dumps({**body, "MaxResults": random.randrange(100)}).encode() + b" "},
        ]
    )
    return sent(operation, body, **changed)
