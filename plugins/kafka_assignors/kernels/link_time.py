"""Compile each Python-callable kernel once with all inner kernels below it.

Numba optimises every function with all it calls: one below five callers five times. Here inner kernels stay LLVM's
intermediate code, linked once before optimisation, which halves compile time (``docs/internals/cold-start.md``).
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class _EntryLibrary(JITCodeLibrary):  # type: ignore[misc]
    def finalize(self) -> None:
        linked = _callers_first(self._linking_libraries)
        self._linking_libraries: list[Any] = linked
        super().finalize()
        for library in linked:
            for name, environment in getattr(library, "environments", {}).items():
                if self.codegen._engine.is_symbol_defined(name):
                    self.codegen.set_env(name, environment)


class _InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Environments are set once there is machine code."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.environments: dict[str, Any] = {}

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, environment: Any) -> None:
        self.environments[name] = environment

    def finalize(self) -> None:
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        return 0


def _callers_first(direct: list[Any]) -> list[Any]:
    """A linker drops code that no earlier code needs."""
    order: dict[Any, None] = {}

    def visit(library: Any) -> None:
        if isinstance(library, _InnerLibrary) and library not in order:
            for called in library._linking_libraries:
                visit(called)
        order.setdefault(library)

    for library in direct:
        visit(library)
    return list(order)[::-1]


class EntryCompiler(Compiler):  # type: ignore[misc]
    library: type[JITCodeLibrary] = _EntryLibrary

    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return list(super().define_pipelines())


class InnerCompiler(EntryCompiler):
    library = _InnerLibrary
