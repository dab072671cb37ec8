"""The pages list every strategy with the registry's versions, and their examples are what ``replay`` answers."""

import json
import re
from pathlib import Path

from kafka_assignors import registry as assignors
from kafka_assignors.connect import CONNECT_COOPERATIVE, CONNECT_EAGER
from kafka_assignors.high_availability import HIGH_AVAILABILITY
from kafka_assignors.partitioners import registry as partitioners
from kafka_assignors.streams import STREAMS_STICKY
from kafka_rebalance.placement.recorded_cases import answer

DOCS = Path(__file__).parents[2] / "docs"
PAGES = DOCS / "internals" / "strategies"
EXAMPLE = re.compile(r"```json case\n(.*?)\n```\s+```json answer\n(.*?)\n```", re.DOTALL)


def registered() -> list[tuple[str, str, str]]:
    """Return name, versions and who runs it of every strategy."""
    run_by = [(assignor.name, assignor.versions, assignor.side.value) for assignor in assignors.BUILT_IN]
    run_by += [(assignor.name, assignor.versions, "streams") for assignor in STREAMS_STICKY]
    run_by += [(assignor.name, assignor.versions, "leader") for assignor in HIGH_AVAILABILITY]
    return run_by + [
        (assignor.name, assignor.versions, "connect") for assignor in (*CONNECT_EAGER, *CONNECT_COOPERATIVE)
    ]


def test_the_pages_list_every_strategy_with_its_versions() -> None:
    lines = {page.stem: set(page.read_text().splitlines()) for page in PAGES.glob("*.md")}
    lines |= dict.fromkeys(("connect-eager", "connect-cooperative"), lines["connect"])
    missing = [
        line
        for name, versions, side in registered()
        if (line := f"- `{name}`: {versions} (run by: {side})") not in lines[name.partition("@")[0]]
    ]
    rows = [f"| `{partitioner.name}` | {partitioner.versions} |" for partitioner in partitioners.BUILT_IN]
    assert missing + [row for row in rows if not any(line.startswith(row) for line in lines["partitioners"])] == []


def test_the_manual_has_a_section_with_the_releases_of_every_strategy() -> None:
    sections = {
        part.partition("\n")[0]: " ".join(part.split())
        for part in (DOCS / "strategies.md").read_text().split("\n## ")[1:]
    }
    missing = [
        (name, versions)
        for name, versions, _ in registered()
        if re.search(
            rf"(?<![\d.]){re.escape(re.sub(r'^[^0-9]*', '', versions))}(?![\d.]*\d)",
            sections.get(name.partition("@")[0], "").split(" 1. ")[0],
        )
        is None
    ]
    assert missing == []


def test_the_examples_of_the_pages_are_what_replay_answers() -> None:
    examples = [(page.name, *match) for page in PAGES.glob("*.md") for match in EXAMPLE.findall(page.read_text())]
    assert len(examples) > 10
    assert [page for page, case, expected in examples if answer(json.loads(case)) != json.loads(expected)] == []
