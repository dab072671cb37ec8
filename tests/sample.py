"""Tables of cases: the fast tests run a sample, ``make test-all`` the rest (docs/internals/testing.md)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import wraps
from pathlib import Path
from typing import Any

import pytest


def sample(values: Iterable[Any], fast: Collection[Any]) -> list[Any]:
    """Return all values as parameters, one item each; those that are not in ``fast`` are slow."""
    _, rest = _split(values := list(values), fast)
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)), marks=pytest.mark.slow if value in rest else ()
        )
        for value in values
    ]


def for_each(
    names: str,
    values: Iterable[Any],
    fast: Collection[Any] | None = None,
    rest_mark: pytest.MarkDecorator = pytest.mark.slow,
    rest_items: int = 1,
    whole_step: int | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that runs a test with each value in turn, in one item.

    ``names`` are arguments of the test, as for ``pytest.mark.parametrize``. With ``fast``, all other values are in
    ``rest_items`` further items, which have ``rest_mark``: several where one would last longer than a minute. A failure
    does not end the loop: the first one is raised with a note of all values that failed. Each value has a ``tmp_path``
    of its own; it shares all other fixtures. With the whole search only every ``whole_step``-th value of the sample (of
    ``fast`` every fourth, else all) is asked: the fast tests ask the others with the brief one.
    """
    arguments = [name.strip() for name in names.split(",")]
    chosen, rest = _split(list(values), fast)
    step = whole_step or (4 if rest else 1)
    if not _is_search_brief():
        chosen = chosen[::step]
    batches = [pytest.param(*_columns(chosen, arguments), id="sample" if rest else "all")]
    for number in range(rest_items if rest else 0):
        name = "rest" if rest_items == 1 else f"rest {number + 1}"
        batches.append(pytest.param(*_columns(rest[number::rest_items], arguments), id=name, marks=rest_mark))

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def run_each(**fixtures: Any) -> None:
            __tracebackhide__ = True
            rows = list(zip(*(fixtures.pop(name) for name in arguments), strict=True))
            failures: list[tuple[str, BaseException]] = []
            for number, row in enumerate(rows):
                case = dict(zip(arguments, row, strict=True))
                try:
                    test(**fixtures | _own_folder(fixtures, number) | case)
                except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001
                    failures.append((", ".join(f"{name}={value!r:.200}" for name, value in case.items()), failure))
            if failures:
                failed, first = "; ".join(case for case, _ in failures[:50]), failures[0][1]
                first.add_note(f"{len(failures)} of {len(rows)} cases failed, the first of them above: {failed}")
                raise first

        return pytest.mark.parametrize(arguments, batches)(run_each)

    return decorate


def _is_search_brief() -> bool:
    from tests.brief_search import is_brief  # the planner, which most tables do not need

    return is_brief()


def _split(values: list[Any], fast: Collection[Any] | None) -> tuple[list[Any], list[Any]]:
    """Return the values of the sample, and the others."""
    assert values, "no cases: a loop over nothing proves nothing"
    if fast is None:
        return values, []
    unknown = [value for value in fast if value not in values]
    assert not unknown, f"the sample names what is not there: {unknown}"
    return [value for value in values if value in fast], [value for value in values if value not in fast]


def _columns(values: list[Any], arguments: list[str]) -> list[tuple[Any, ...]]:
    """Return the values of each argument."""
    rows = [(value,) for value in values] if len(arguments) == 1 else values
    return list(zip(*rows, strict=True))


def _own_folder(fixtures: dict[str, Any], number: int) -> dict[str, Path]:
    """Return a new ``tmp_path`` for one case of a test that asks for one."""
    if "tmp_path" not in fixtures:
        return {}
    folder: Path = fixtures["tmp_path"] / str(number)
    folder.mkdir()
    return {"tmp_path": folder}
