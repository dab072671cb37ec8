"""The manual: its size, its links, and the page of finding codes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_rebalance.findings.finding import CODES
from kafka_rebalance.render.remedies import WHAT_TO_DO
from stack.finding_codes import codes_page

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REFERENCE = {"boards.md", "finding-codes.md", "licences.md", "options.md", "settings.md", "supported.md"}
TWELVE = (
    "install.md", "connect.md", "configuration.md", "read-an-advisory.md", "carry-out-a-plan.md", "groups.md",
    "strategies.md", "sql-and-grafana.md", "operate-and-secure.md", "scale.md", "migrate.md", "extend.md",
)  # fmt: skip
FURTHER = ("README.md", "benchmarks.md", "glossary.md")
LINKED = [
    path
    for folder in (ROOT, DOCS, DOCS / "internals", DOCS / "internals" / "strategies", ROOT / "sql")
    for path in sorted(folder.glob("*.md"))
]
_CODE = re.compile(r"```.*?```", re.DOTALL)
_LINK = re.compile(r"(?<!`)\]\(([^)\s]+)\)")


def count_words(*pages: Path) -> int:
    """Return the number of words as ``wc -w`` counts them."""
    return sum(len(page.read_text("utf-8").split()) for page in pages)


def anchors(page: Path) -> Iterator[str]:
    """Yield the anchor of each heading as GitHub makes it."""
    for heading in re.findall(r"^#+ (.+)$", _CODE.sub("", page.read_text("utf-8")), re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_the_manual_is_twelve_pages_a_glossary_and_benchmarks() -> None:
    assert {page.name for page in DOCS.glob("*.md")} == {*TWELVE, *FURTHER, *REFERENCE}


def test_the_manual_is_short() -> None:
    twelve = count_words(*(DOCS / name for name in TWELVE))
    assert twelve <= 15_000
    assert count_words(ROOT / "README.md") < 900
    assert twelve + count_words(ROOT / "README.md", *(DOCS / name for name in FURTHER)) <= 17_000
    assert count_words(ROOT / "CHANGELOG.md") < 400


@pytest.mark.parametrize("name", TWELVE)
def test_a_page_opens_with_a_command_or_a_picture(name: str) -> None:
    opening = (DOCS / name).read_text("utf-8").split("\n## ")[0]
    assert "```" in opening or "![" in opening


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page: Path) -> None:
    broken = []
    for link in _LINK.findall(_CODE.sub("", page.read_text("utf-8"))):
        if link.startswith(("http://", "https://", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in set(anchors(target))):
            broken.append(link)
    assert broken == []


def test_the_page_of_finding_codes_is_made_of_the_codes() -> None:
    assert WHAT_TO_DO.keys() == CODES.keys()
    assert (DOCS / "finding-codes.md").read_text("utf-8") == codes_page()
