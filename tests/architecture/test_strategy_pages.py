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


@pytest.mark.parametrize("registration", assignors.BUILT_IN, ids=lambda registration: registration.name)
def test_an_assignor_has_a_page_with_its_versions(registration: assignors.Registration) -> None:
    text = (PAGES / f"{registration.name.split('@')[0]}.md").read_text()
    assert f"- `{registration.name}`: {registration.versions} (run by: {registration.side.value})" in text
    assert [heading for heading in HEADINGS if heading not in text] == []


@pytest.mark.parametrize("registration", partitioners.BUILT_IN, ids=lambda registration: registration.name)
def test_a_partitioner_stands_in_its_page(registration: partitioners.Registration) -> None:
    assert f"| `{registration.name}` | {registration.versions} |" in (PAGES / "partitioners.md").read_text()


@pytest.mark.parametrize(
    ("page", "case", "expected"), EXAMPLES, ids=[f"{example[0]}-{i}" for i, example in enumerate(EXAMPLES)]
)
def test_a_pages_example_is_what_replay_answers(page: str, case: str, expected: str) -> None:
    assert answer(json.loads(case)) == json.loads(expected), page


def test_the_table_of_clients_claims_what_is_registered_with_its_releases() -> None:
    """``docs/clients.md``: a cell that says exact stands for a class, in the releases of its row."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in (PAGES.parent / "clients.md").read_text().splitlines()
        if line.startswith("|")
    ]
    strategies = rows[0][2:]
    claimed = {
        (row[0].partition(" (")[0].lower(), strategies[i], release)
        for row in rows[2:]
        for i, cell in enumerate(row[2:])
        if cell.startswith("exact")
        for release in row[1].split(", ")
    }
    registered = {
        # The table's rows of kafka-python are its two lines.
        (f"{one.client} {release[0]}" if one.client == "kafka-python" else str(one.client), one.strategy, release)
        for one in assignors.BUILT_IN
        if one.client is not assignors.Client.JAVA
        for release in (one.releases.first, one.releases.last)
    }
    assert sorted(claimed ^ registered) == []


def test_the_pages_hold_examples_at_all() -> None:
    assert len(EXAMPLES) >= 13
