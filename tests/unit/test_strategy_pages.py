"""Each strategy has a page that names the registry's versions, and whose examples are what is answered."""

import json
import re
from pathlib import Path

import pytest

from kafka_rebalance.assignors import registry as assignors
from kafka_rebalance.conformance.cases import answer
from kafka_rebalance.partitioners import registry as partitioners

PAGES = Path(__file__).parents[2] / "docs" / "strategies"
EXAMPLE = re.compile(r"```json case\n(.*?)\n```\s+```json answer\n(.*?)\n```", re.DOTALL)
EXAMPLES = [(page.name, *match) for page in sorted(PAGES.glob("*.md")) for match in EXAMPLE.findall(page.read_text())]
HEADINGS = ("## Versions", "## Promise", "## Worked example", "## Traps", "## Complexity")


@pytest.mark.parametrize("listing", assignors.BUILT_IN, ids=lambda listing: listing.name)
def test_an_assignor_has_a_page_with_its_versions(listing: assignors.Listing) -> None:
    text = (PAGES / f"{listing.name.split('@')[0]}.md").read_text()
    assert f"- `{listing.name}`: {listing.versions} (run by: {listing.side.value})" in text
    assert [each for each in HEADINGS if each not in text] == []


@pytest.mark.parametrize("listing", partitioners.BUILT_IN, ids=lambda listing: listing.name)
def test_a_partitioner_stands_in_its_page(listing: partitioners.Listing) -> None:
    assert f"| `{listing.name}` | {listing.versions} |" in (PAGES / "partitioners.md").read_text()


@pytest.mark.parametrize(
    ("page", "case", "expected"), EXAMPLES, ids=[f"{each[0]}-{i}" for i, each in enumerate(EXAMPLES)]
)
def test_a_pages_example_is_what_replay_answers(page: str, case: str, expected: str) -> None:
    assert answer(json.loads(case)) == json.loads(expected), page


def test_the_pages_hold_examples_at_all() -> None:
    assert len(EXAMPLES) >= 13
