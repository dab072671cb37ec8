"""Told once on stderr: that kernels are being compiled, which a first run after an install waits for."""

from __future__ import annotations

import sys
from typing import Any

from numba.core import event

from rebalance_advisor.terminal import write_lines

_NOTICE = "       kernels are compiled, once after each installation: the first run takes a minute or two longer"


class _FirstCompile(event.Listener):
    def __init__(self) -> None:
        self._is_told = False

    def on_start(self, _event: Any) -> None:
        """A kernel was not found on disk."""
        if not self._is_told:
            self._is_told = True
            write_lines(sys.stderr, _NOTICE)
            sys.stderr.flush()

    def on_end(self, _event: Any) -> None:
        """Nothing is said of each."""


def tell_of_first_compile() -> None:
    """Say on stderr when the first kernel has to be compiled; nothing where all of them are on disk already."""
    event.register("numba:compile", _FirstCompile())
