"""The mutants of a few lines: each kind of change, what is left alone, whose lines they stand on, what is a kernel."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.mutation import __main__ as mutate
from tests.mutation.mutants import UNCHANGED, Mutant, mutants_of, mutated
from tests.mutation.small_cases import COMPILED, GATES, INTERPRETED, SUITES, Reached

ROOT = Path(__file__).parents[3]


def mutants(folder: Path, source: str) -> list[tuple[str, str]]:
    """(before, after) of all, in the order of the source."""
    path = folder / "module.py"
    path.write_text(source)
    return [(mutant.before, mutant.after) for mutant in mutants_of(path, folder)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", [("a < b", "a <= b")]),
        ("x = a <= b", [("a <= b", "a < b")]),
        ("x = a > b", [("a > b", "a >= b")]),
        ("x = a == b", [("a == b", "a != b")]),
        ("x = a in b", [("a in b", "a not in b")]),
        ("x = a is None", [("a is None", "a is not None")]),
        ("x = a < b >= c", [("a < b >= c", "a <= b >= c"), ("a < b >= c", "a < b > c")]),
        ("x = a + b", [("a + b", "a - b")]),
        ("x = a * b", [("a * b", "a / b")]),
        ("x = a % b", [("a % b", "a * b")]),
        ("x = a & b", [("a & b", "a | b")]),
        ("x -= a", [("x -= a", "x += a")]),
        ("x = a @ b", []),  # of matrices: nothing else that fits
        ("x = a and b", [("a and b", "a or b")]),
        ("x = not a", [("not a", "a")]),
        ("x = -a", []),
        ("x = 5", [("5", "6")]),
        ("x = 0.25", [("0.25", "1.25")]),
        ("x = True", [("True", "False")]),
        ("x = None", []),
        ("x = 'text', b'bytes'", []),
    ],
)
def test_each_kind_of_change(tmp_path: Path, source: str, expected: list[tuple[str, str]]) -> None:
    assert mutants(tmp_path, source) == expected


def test_returned_values_are_lost_but_constants_only_change(tmp_path: Path) -> None:
    source = "def f(a):\n    if a:\n        return a\n    return 3\n\ndef g():\n    return\n"
    assert mutants(tmp_path, source) == [("return a", "return None"), ("3", "4")]


def test_sentences_annotations_decorators_and_guards_are_left_alone(tmp_path: Path) -> None:
    source = '''"""A docstring of 1 line."""
@dataclass(frozen=True)
class Row:
    """Has 2 fields."""
    names: tuple[Literal[3], ...]

@given(max_examples=4)
def f(a: Literal[5]) -> Literal[6]:
    raise ValueError(f"{a + 7} is no {a:>8}")
    zip(a, a, strict=True)
'''
    assert mutants(tmp_path, source) == []


SOURCE = """LIMIT = 2

@kernel
def fast(a):
    return a + 1

@inner_kernel
def faster(a):
    while a < 3:
        a = (
            a *
            2
        )
    return a

def slow(a):
    if a < 4:
        return a - 5
"""


def test_a_mutant_knows_its_statement_and_whether_it_is_compiled(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(SOURCE)
    known = {mutant.before: (mutant.line, mutant.lines, mutant.is_in_kernel) for mutant in mutants_of(path, tmp_path)}
    assert known == {
        "2": (12, (10, 11, 12, 13), True),  # the second 2; the one of LIMIT comes first
        "return a + 1": (5, (5,), True), "a + 1": (5, (5,), True), "1": (5, (5,), True),
        "a < 3": (9, (9,), True), "3": (9, (9,), True), "a * 2": (11, (10, 11, 12, 13), True),
        "return a": (14, (14,), True),
        "a < 4": (17, (17,), False), "4": (17, (17,), False), "return a - 5": (18, (18,), False),
        "a - 5": (18, (18,), False), "5": (18, (18,), False),
    }  # fmt: skip
    first = mutants_of(path, tmp_path)[0]
    assert (first.before, first.lines, first.is_in_kernel, first.number, first.path) == (
        "2",
        (1,),
        False,
        0,
        "module.py",
    )


def test_one_change_is_made_and_nothing_else() -> None:
    everything = ast.unparse(mutated(SOURCE, UNCHANGED))
    assert everything == ast.unparse(ast.parse(SOURCE))
    texts = {ast.unparse(mutated(SOURCE, number)) for number in range(14)}
    assert len(texts) == 14
    for text in texts:
        pairs = zip(text.splitlines(), everything.splitlines(), strict=True)
        assert sum(changed != line for changed, line in pairs) == 1


def test_a_kernel_is_put_to_interpreted_tests_and_the_gates_to_their_own() -> None:
    def asked(path: str, *, is_in_kernel: bool = False) -> list[str]:
        return [suite.name for suite in SUITES if suite.is_asked_of(path, is_in_kernel=is_in_kernel)]

    assert asked("plugins/kafka_rebalance/verify/faults.py") == ["compiled"]
    assert asked("plugins/kafka_rebalance/planner/solve.py") == ["compiled", "interpreted"]
    assert asked("plugins/kafka_rebalance/planner/solve.py", is_in_kernel=True) == ["interpreted"]
    assert asked("plugins/rebalance_advisor/gates/run.py") == ["compiled", "gates"]


@pytest.mark.parametrize("suite", [COMPILED, INTERPRETED, GATES])
def test_every_path_of_a_suite_is_there(suite) -> None:
    for path in (*suite.tests, *suite.left_out, *suite.source.split(",")):
        assert (ROOT / path).exists(), path
    assert all(any(path.startswith(tests) for tests in suite.tests) for path in suite.left_out)


def test_declarations_alone_are_put_to_the_tests_of_their_folder() -> None:
    """No test runs a line of them; a module with functions is put to those that reach it."""
    seconds = {"tests/unit/planner/params/test_a.py::test": 1.0, "tests/unit/plans/test_b.py::test": 0.1}
    lines = {"plugins/kafka_rebalance/planner/params/solve_params.py": {1: [""], 2: [""]}}
    found = Reached(COMPILED, lines, {}, seconds)
    mutant = Mutant(
        "plugins/kafka_rebalance/planner/params/solve_params.py",
        2,
        (2,),
        is_in_kernel=False,
        number=0,
        before="",
        after="",
    )
    assert mutate.tests_for(mutant, found) == ["tests/unit/planner/params/test_a.py::test"]
    lines[mutant.path][9] = ["tests/unit/plans/test_b.py::test"]
    assert mutate.tests_for(mutant, found) == ["tests/unit/plans/test_b.py::test"]


def test_survivors_that_were_printed_are_found_again_by_what_they_change(tmp_path: Path, monkeypatch) -> None:
    """A line of code and two blank ones stand above them since."""
    (tmp_path / "m.py").write_text("if a < 4:\n    b = 2 + c(2)\nwhile a < 4:\n    pass\n")
    known = mutants_of(tmp_path / "m.py", tmp_path)
    lines = [mutate.shown("survived", mutant) for mutant in known if mutant.before in ("a < 4", "2")]
    (tmp_path / "m.py").write_text("a = b\n\n\n" + (tmp_path / "m.py").read_text())
    monkeypatch.setattr(mutate, "ROOT", tmp_path)
    found = mutate.printed(["2225 passed", *lines, "seed 1: {'survived': 4}"])
    assert [(mutant.line, mutant.before) for mutant in found] == [(4, "a < 4"), (5, "2"), (5, "2"), (6, "a < 4")]
    assert len({mutant.number for mutant in found}) == 4
    with pytest.raises(SystemExit, match="holds no x  →  y any more"):
        mutate.printed(["unreached: m.py:1 #0: x  →  y"])
