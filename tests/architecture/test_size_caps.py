"""One idea a file: most are under 300 lines, an algorithm that is one idea up to 600; a folder holds about 15 files."""

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = sorted(path for folder in ("plugins", "spark_jobs", "dags", "stack") for path in (ROOT / folder).rglob("*.py"))
FILE_CAP, FUNCTION_CAP, FOLDER_CAP, ARGUMENT_CAP = 600, 60, 16, 7
BANNED_STEMS = {"utils", "util", "common", "helpers", "helper", "manager", "misc"}


def test_files_and_their_functions_stay_small() -> None:
    """Few arguments, too: what comes together is a parameter class or a record. Kernels as well."""
    long, wide = {}, {}
    for path in FILES:
        source = path.read_text()
        assert len(source.splitlines()) <= FILE_CAP, path
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                if not isinstance(node, ast.Lambda):
                    long[place] = (node.end_lineno or node.lineno) - node.lineno + 1
                wide[place] = len(arguments_of(node))
    assert {place: lines for place, lines in long.items() if lines > FUNCTION_CAP} == {}
    assert {place: count for place, count in wide.items() if count > ARGUMENT_CAP} == {}


def arguments_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    """Names of all arguments, ``*args`` and ``**options`` among them; ``self`` is not counted."""
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
    return [argument.arg for argument in given if argument is not None and argument.arg not in ("self", "cls")]


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert not [path for path in FILES if path.stem in BANNED_STEMS]


def test_a_folder_can_be_taken_in() -> None:
    counts = Counter(path.parent for path in FILES if path.name != "__init__.py")
    assert {folder: count for folder, count in counts.items() if count > FOLDER_CAP} == {}
