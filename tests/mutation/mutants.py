"""Mutants of a module: one comparison, operator, number, truth value or returned value changed in its syntax tree."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.Pow: ast.Mult,
}  # fmt: skip


# No change at all: what the tests say of it shows that they can be run.
UNCHANGED = -1


@dataclass(frozen=True)
class Mutant:
    """``number``: which of the module's changes, in the order of ``changes``; ``lines``: of the statement it is in."""

    path: str
    line: int
    lines: tuple[int, ...]
    is_in_kernel: bool
    number: int
    before: str
    after: str


def mutants_of(path: Path, root: Path) -> list[Mutant]:
    """All of a module. Sentences, annotations, what decorators are told and ``strict`` of ``zip`` are left alone."""
    tree = ast.parse(path.read_text())
    results, kernels, statements = [], _kernel_lines(tree), _statements(tree)
    for number, (node, changed) in enumerate(changes(tree)):
        line = node.lineno  # type: ignore[attr-defined]
        results.append(
            Mutant(
                str(path.relative_to(root)), line, statements.get(id(node), (line,)), line in kernels, number,
                _shown(node), _shown(changed),
            )
        )  # fmt: skip
    return results


def _kernel_lines(tree: ast.Module) -> set[int]:
    """Lines of functions with a decorator that compiles them."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {
        line
        for function in functions
        if any(ast.unparse(decorator).endswith("kernel") for decorator in function.decorator_list)
        for line in range(function.lineno, (function.end_lineno or function.lineno) + 1)
    }


def _statements(tree: ast.Module) -> dict[int, tuple[int, ...]]:
    """Identity of a node → the lines of the innermost statement it is in; of its head only, where it has a body."""
    results: dict[int, tuple[int, ...]] = {}
    for statement in (node for node in ast.walk(tree) if isinstance(node, ast.stmt)):
        inner = getattr(statement, "body", None)
        last = inner[0].lineno - 1 if inner else statement.end_lineno or statement.lineno
        lines = tuple(range(statement.lineno, max(last, statement.lineno) + 1))
        results |= {id(node): lines for node in ast.walk(statement)}  # outer ones first: inner ones stay
    return results


def mutated(source: str, number: int) -> ast.Module:
    """The tree with that change made."""
    tree = ast.parse(source)
    if number == UNCHANGED:
        return tree
    node, changed = next(change for i, change in enumerate(changes(tree)) if i == number)
    return ast.fix_missing_locations(_Replaced(node, changed).visit(tree))


def changes(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.AST]]:
    """(node, what stands in its place), in the order of the source."""
    for node in _code(tree):
        for changed in _changed(node):
            yield node, ast.copy_location(changed, node)


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes that do something: no annotation, decorator, sentence or docstring."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_params", "format_spec"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_left_alone(child):
                yield from _code(child)


def _is_left_alone(node: ast.AST) -> bool:
    """A sentence, or a guard against a mistake of our own that no input leads to."""
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.keyword) and node.arg == "strict")


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    twin = copy.copy(node)
    if isinstance(twin, ast.Compare):
        for i, operator in enumerate(twin.ops):
            ops = list(twin.ops)
            ops[i] = _COMPARISONS[type(operator)]()
            yield ast.Compare(twin.left, ops, twin.comparators)
    elif isinstance(twin, ast.BinOp | ast.AugAssign) and type(twin.op) in _OPERATORS:
        twin.op = _OPERATORS[type(twin.op)]()
        yield twin
    elif isinstance(twin, ast.BoolOp):
        yield ast.BoolOp(ast.And() if isinstance(twin.op, ast.Or) else ast.Or(), twin.values)
    elif isinstance(twin, ast.UnaryOp) and isinstance(twin.op, ast.Not):
        yield twin.operand
    elif isinstance(twin, ast.Constant) and isinstance(twin.value, bool | int | float):
        yield ast.Constant(not twin.value if isinstance(twin.value, bool) else _other(twin.value))
    elif isinstance(twin, ast.Return) and twin.value is not None and not isinstance(twin.value, ast.Constant):
        yield ast.Return(ast.Constant(None))


def _other(value: float) -> float:
    """One more, as other tools do: twice a tolerance of 1e-12 would be the same program."""
    return value + 1


def _shown(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 70 else text[:67] + "..."


class _Replaced(ast.NodeTransformer):
    def __init__(self, node: ast.AST, changed: ast.AST) -> None:
        self._node, self._changed = node, changed

    def visit(self, node: ast.AST) -> ast.AST:
        """The changed node in place of the one."""
        return self._changed if node is self._node else self.generic_visit(node)
