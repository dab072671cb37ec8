"""The page of what was tried names tests that there are, and the releases and versions that they run on."""

import re
from pathlib import Path

import pytest

from stack.kafka.tools import NEWEST, OLDER
from tests.live.test_live_releases import KRAFT, RELEASES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "supported.md").read_text("utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+(?:\.py)?)(?:::(\w+))?`", PAGE)))


def test_every_test_of_the_page_is_there() -> None:
    """Paths, and names of functions in their files; none stands there without its file."""
    missing = [
        (path, name)
        for path, name in NAMED
        if not (ROOT / path).exists() or (name and f"\ndef {name}(" not in (ROOT / path).read_text("utf-8"))
    ]
    assert missing == []
    assert len(NAMED) > 30
    assert re.findall(r"`test_\w+`", PAGE) == []


def test_the_releases_of_the_page_are_those_of_the_tests_and_ci_runs_what_it_says() -> None:
    rows = re.findall(r"(?m)^\| ([\d.]+) \| (KRaft|ZooKeeper) \| (CI|by hand) \|", PAGE)
    in_ci = {(NEWEST, KRAFT, "CI"), (OLDER, KRAFT, "CI")}
    assert set(rows) == in_ci | {(version, mode, "by hand") for version, mode in RELEASES}
    assert len(rows) == len(set(rows))


@pytest.mark.parametrize("package", ["apache-airflow", "pyspark"])
def test_versions_are_those_of_the_lock(package: str) -> None:
    locked = re.search(rf'name = "{package}"\nversion = "([\d.]+)"', (ROOT / "uv.lock").read_text("utf-8"))
    assert locked is not None
    assert f"| {package} | {locked[1]} | as locked" in PAGE
