"""Machine code is made once for each kernel that Python calls, with all inner kernels below it: link-time optimisation.

Left alone, numba optimises every compiled function together with all that it calls, however deep, and makes machine
code of the lot: a function at the bottom of five callers is optimised five times over, and code that only other kernels
run is made for nobody. Here an inner kernel is kept as LLVM's intermediate code, and what Python calls links each of
them once before it is optimised. That halves the time to compile; what is computed is the same.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from kafka_assignors.kernels.cheap_compiling import cheaply


class _EntryLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code of a kernel that Python calls."""

    def finalize(self) -> None:
        linked = _callers_first(self._linking_libraries)
        self._linking_libraries: list[Any] = linked
        super().finalize()
        for library in linked:
            if isinstance(library, _InnerLibrary):
                library.environments.set_all()


class _InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code of an inner kernel: nothing that runs by itself."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.environments = _LaterEnvironments(codegen)

    @property
    def codegen(self) -> Any:
        return self.environments

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._final_module.verify()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        self._ensure_finalized()
        return 0


class _LaterEnvironments:
    """What numba tells the code generator about an inner kernel, kept until there is machine code."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen
        self._environments: dict[str, Any] = {}

    def set_env(self, name: str, environment: Any) -> None:
        self._environments[name] = environment

    def set_all(self) -> None:
        for name, environment in self._environments.items():
            if self._codegen._engine.is_symbol_defined(name):
                self._codegen.set_env(name, environment)


def _callers_first(direct: list[Any]) -> list[Any]:
    """All libraries below, each once and after all that call it: a linker drops what nothing has asked for so far."""
    order: list[Any] = []
    seen: set[Any] = set()

    def visit(library: Any) -> None:
        if library in seen:
            return
        seen.add(library)
        if isinstance(library, _InnerLibrary):
            for called in library._linking_libraries:
                visit(called)
        order.append(library)

    for library in direct:
        visit(library)
    return order[::-1]


class EntryCompiler(Compiler):  # type: ignore[misc]
    """Compiles what Python calls, and on the way all inner kernels below it."""

    def compile_extra(self, func: Any) -> Any:
        """Compile ``func``."""
        with cheaply():
            return super().compile_extra(func)

    def define_pipelines(self) -> list[Any]:
        _use(self.state, _EntryLibrary)
        return list(super().define_pipelines())


class InnerCompiler(Compiler):  # type: ignore[misc]
    """Compiles what only kernels call."""

    def define_pipelines(self) -> list[Any]:
        _use(self.state, _InnerLibrary)
        return list(super().define_pipelines())


def _use(state: Any, kind: type[JITCodeLibrary]) -> None:
    state.library = kind(state.targetctx.codegen(), state.func_id.func_qualname)
    state.library.enable_object_caching()
