"""All that could be changed in a file: cosmic-ray's operators, and one of ours for the conditions of a query."""

import copy
import difflib
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names
from parso.tree import NodeOrLeaf

# Of cosmic-ray's operators those whose changes are still plausible code: `Q() << Q()` fails wherever it is run.
BINARY = (
    "Add_Sub",
    "Sub_Add",
    "Mul_Div",
    "Div_Mul",
    "FloorDiv_Mul",
    "Mod_Mul",
    "BitOr_BitAnd",
    "BitAnd_BitOr",
)
COMPARISONS = ("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "Is", "IsNot")
OPERATORS = (
    *(f"core/ReplaceBinaryOperator_{pair}" for pair in BINARY),
    *(
        f"core/ReplaceComparisonOperator_{a}_{b}"
        for a in COMPARISONS
        for b in COMPARISONS
        if ("Is" in a) == ("Is" in b)
    ),
    *(f"core/ReplaceUnaryOperator_Delete_{kind}" for kind in ("Not", "Invert")),
    *(f"core/Replace{pair}" for pair in ("TrueWithFalse", "FalseWithTrue", "AndWithOr", "OrWithAnd")),
    *("core/AddNot", "core/NumberReplacer", "core/RemoveDecorator", "core/ZeroIterationForLoop"),
    *("core/ReplaceBreakWithContinue", "core/ReplaceContinueWithBreak", "core/ExceptionReplacer"),
)
CONDITIONS = {"filter", "exclude", "get", "Q", "Exists"}
OURS = "RemoveCondition"


@dataclass(frozen=True, order=True)
class Mutation:
    """The `occurrence`-th change (from 0) that an operator can make in a file."""

    path: Path
    operator: str
    occurrence: int


class RemoveCondition(Operator):
    """Leave one of several conditions out: `filter(a=1, b=2)` becomes `filter(b=2)`. Of two, the second is wider."""

    def mutation_positions(self, node: NodeOrLeaf) -> Any:
        for argument in self._conditions(node):
            yield argument.start_pos, argument.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        condition = self._conditions(node)[index]
        at = node.children.index(condition)
        shorter = copy.copy(node)
        cut = slice(at, at + 2) if at + 1 < len(node.children) else slice(at - 1, at + 1)
        shorter.children = [child for child in node.children if child not in node.children[cut]]
        return shorter

    @classmethod
    def examples(cls) -> tuple[()]:
        return ()

    def _conditions(self, node: Any) -> list[Any]:
        if node.type != "arglist" or self._called(node) not in CONDITIONS:
            return []
        return [
            child for child in node.children if child.type == "argument" and child.children[0].type == "name"
        ]

    def _called(self, node: Any) -> str:
        before = node.parent.get_previous_sibling()
        return before.get_last_leaf().value if before is not None else ""


def operator_of(name: str) -> Operator:
    return RemoveCondition() if name == OURS else get_operator(name)()


def diff(mutation: Mutation, *, root: Path) -> str:
    """Return what the mutation changes, as a unified diff of one line of context."""
    before = (root / mutation.path).read_text()
    after, name = mutated(mutation, root=root), str(mutation.path)
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), name, name, lineterm="", n=1)
    return "\n".join(lines)


def changed_lines(mutation: Mutation, *, root: Path) -> list[int]:
    """Return the lines of the file that the mutation changes, from 1."""
    before = (root / mutation.path).read_text().splitlines()
    after = mutated(mutation, root=root).splitlines()
    matched = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return [
        line + 1
        for what, first, last, _, _ in matched.get_opcodes()
        if what != "equal"
        for line in range(first, max(last, first + 1))
    ]


def mutated(mutation: Mutation, *, root: Path) -> str:
    """Return the file's code with the mutation in it."""
    code = mutate_code(
        (root / mutation.path).read_text(), operator_of(mutation.operator), mutation.occurrence
    )
    if code is None:
        raise ValueError(f"{mutation} changes nothing")
    return str(code)


def places(path: Path, *, root: Path) -> list[list[Mutation]]:
    """Return the mutations of a file by place: what stands in one place can be changed in many ways."""
    nodes = list(ast_nodes(get_ast((root / path).read_text())))
    found: dict[Any, list[Mutation]] = defaultdict(list)
    for name in sorted({*OPERATORS, OURS} & {*operator_names(), OURS}):
        occurrence = 0
        for node in nodes:
            for position in operator_of(name).mutation_positions(node):
                if not (_is_annotation(node) or _is_no_sum(node, name)):
                    found[position].append(Mutation(path, name, occurrence))
                occurrence += 1
    return [found[position] for position in sorted(found)]


def _is_no_sum(node: Any, name: str) -> bool:
    """Tell whether a binary operator's sign is none here: the star of `f(a, *, b)`, say."""
    return "BinaryOperator" in name and node.parent.type not in {"arith_expr", "term", "expr", "and_expr"}


def _is_annotation(node: Any) -> bool:
    """Tell whether a node stands in a type: nothing that runs depends on it."""
    while node.parent is not None:
        parent = node.parent
        if parent.type in {"annassign", "tfpdef"} and "=" not in [
            str(c.get_code()).strip() for c in parent.children
        ]:
            return True
        if parent.type == "annassign" and node is parent.children[1]:
            return True
        if parent.type == "funcdef" and parent.annotation is node:
            return True
        node = parent
    return False
