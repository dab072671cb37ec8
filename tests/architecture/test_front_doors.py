"""Each private name of another package that our code uses has its reason in ``docs/internals/front-doors.md``.

A private name is not ours where no code of ours makes it. Three more signs, for what an ``import`` does not show:
a method or a field of a class that no code of ours reads (a base class of another package does), an attribute of
``self`` that a class with such a base sets outside ``__init__``, and names like ``_this_``, which are protocols.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "internals" / "front-doors.md"
FOLDERS = ("plugins", "spark_jobs")
MOST_ROWS = 8
# Python's documentation explains them.
DOCUMENTED = {"_exit", "_replace", "_asdict", "_fields", "_fields_", "_pack_"}
# Modules that the documentation of their package calls internal, or leaves out; and those of them that it explains.
INTERNAL = ("numba.core", "numba.np", "kafka.net", "airflow.api_fastapi")
EXPLAINED = ("numba.core.event",)


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name != "_" and name not in DOCUMENTED


@cache
def is_ours(module: str) -> bool:
    return (ROOT / "plugins" / module.partition(".")[0]).is_dir() or (ROOT / module.partition(".")[0]).is_dir()


class Sources:
    """All our modules, parsed."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.nodes = [node for text in texts.values() for node in ast.walk(ast.parse(text))]
        self.classes = {node.name: node for node in self.nodes if isinstance(node, ast.ClassDef)}
        self.imported = {
            alias.asname or alias.name
            for node in self.nodes
            if isinstance(node, ast.ImportFrom) and node.module and not is_ours(node.module)
            for alias in node.names
        }
        self.made = set(self._made())
        self.read = {
            node.attr if isinstance(node, ast.Attribute) else node.id
            for node in self.nodes
            if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load)
        }

    def names(self) -> set[str]:
        """Private names and internal modules of other packages."""
        results = set()
        for node in self.nodes:
            if isinstance(node, ast.Attribute):
                results.add(node.attr)
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in ("getattr", "setattr")
            ):
                results |= {word.value for word in node.args[1:2] if isinstance(word, ast.Constant)}
        results = {name for name in results if private(name) and (name not in self.made or name.endswith("_"))}
        return results | set(self._imports()) | set(self._read_by_others())

    def _imports(self) -> Iterator[str]:
        for node in self.nodes:
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                modules = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            else:
                continue
            for module in modules:
                if not is_ours(module):
                    yield from filter(private, module.split("."))
            if not any(module in EXPLAINED for module in modules):
                yield from (modules[0] for package in INTERNAL if f"{modules[0]}.".startswith(f"{package}."))

    def _has_foreign_base(self, node: ast.ClassDef) -> bool:
        names = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases]
        return any(
            self._has_foreign_base(self.classes[name]) if name in self.classes else name in self.imported
            for name in names
        )

    def _made(self) -> Iterator[str]:
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node.name
            elif isinstance(node, ast.arg):
                yield node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
            elif (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and ast.unparse(node.func) == "object.__setattr__"
            ):
                yield from (word.value for word in node.args[1:2] if isinstance(word, ast.Constant))
            if isinstance(node, ast.ClassDef):
                body = node.body
                if self._has_foreign_base(node):
                    body = [part for part in body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
                yield from (
                    part.attr
                    for statement in body
                    for part in ast.walk(statement)
                    if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
                )

    def _read_by_others(self) -> Iterator[str]:
        """Members of classes that no code of ours reads; a decorated one has its reader in the decorator."""
        for node in self.nodes:
            for part in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                    names = [] if part.decorator_list else [part.name]
                elif isinstance(part, ast.Assign):
                    names = [target.id for target in part.targets if isinstance(target, ast.Name)]
                else:
                    continue
                yield from (name for name in names if private(name) and name not in self.read)


def our_texts() -> dict[str, str]:
    return {str(path): path.read_text() for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))}


def table_rows() -> list[str]:
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    return lines[2:]


def test_the_table_lists_each_private_name_that_our_code_uses() -> None:
    rows = table_rows()
    listed = {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    assert Sources(our_texts()).names() == listed
    assert len(rows) <= MOST_ROWS


def test_each_sign_is_seen() -> None:
    text = """
import numba.core.codegen, orjson, _socket
from numba.core import event
from numba.core.caching import Cache
from foreign import Base, _hidden

class Ours:
    _mine = 1
    _for_others = None
    _protocol_: int

    def __init__(self):
        self._value = self._mine

    def _unread(self):
        return other._secret, getattr(other, "_origin", None), self._value, self._protocol_, other._replace()

class Derived(Base):
    def __init__(self):
        self._own = 1

    def finish(self):
        self._finished = self._own
        self._inherited()

    def _override(self):
        pass

    @decorated
    def _decorated(self):
        pass
"""
    assert Sources({"a": text}).names() == {
        "numba.core.codegen", "_socket", "numba.core.caching", "_hidden", "_for_others", "_protocol_", "_unread",
        "_secret", "_origin", "_finished", "_inherited", "_override",
    }  # fmt: skip
