"""One concept per file: a file that outgrows the cap wants to be two."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(path for room in ("plugins", "spark_jobs", "dags", "stack") for path in (ROOT / room).rglob("*.py"))
FILE_CAP, FUNCTION_CAP = 400, 60
BANNED_STEMS = {"utils", "util", "common", "helpers", "helper", "manager", "misc"}


@pytest.mark.parametrize(
    "folder", sorted({path.parent for path in FILES}), ids=lambda path: str(path.relative_to(ROOT))
)
def test_files_and_their_functions_stay_small(folder: Path) -> None:
    for path in folder.glob("*.py"):
        source = path.read_text()
        assert len(source.splitlines()) <= FILE_CAP, path
        long = {
            node.name: node.end_lineno - node.lineno + 1
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and node.end_lineno - node.lineno + 1 > FUNCTION_CAP
        }
        assert not long, f"{path}: functions above {FUNCTION_CAP} lines: {long}"


def test_no_room_is_called_after_nothing() -> None:
    assert not [path for path in FILES if path.stem in BANNED_STEMS]
