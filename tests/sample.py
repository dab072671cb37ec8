"""A table of cases of which the fast tests run a sample and ``make test-all`` the rest (docs/internals/testing.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def sample(values: Iterable[Any], fast: Collection[Any]) -> list[Any]:
    """All values, as parameters; those that are not in ``fast`` are slow. A tuple is one value for each argument."""
    values = list(values)
    unknown = [value for value in fast if value not in values]
    assert not unknown, f"the sample names what is not there: {unknown}"
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)), marks=() if value in fast else pytest.mark.slow
        )
        for value in values
    ]
