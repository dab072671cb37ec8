"""Entries of ``clusters.toml`` for the demo and for clusters on the command line."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

_HEAD = """\
# Which clusters the DAGs advise: name -> Airflow connection, folder of dumps, or file. Each one has DAGs of its own,
# advise_NAME and collect_NAME. What else may stand in a table: docs/configuration.md.
# Add yours; lines that stand here are never changed by the stack, but for "demo", "demo-…", "live" and "input".
"""


def write_entry(file: Path, name: str, entry: Mapping[str, str]) -> None:
    text = file.read_text(encoding="utf-8") if file.exists() else _HEAD
    clusters = tomllib.loads(text).get("clusters", {})
    if clusters.get(name) == dict(entry):
        return
    lines = _without(text.splitlines(), name)
    table = [f"[clusters.{name}]", *(f"{key} = {json.dumps(value)}" for key, value in entry.items())]
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_suffix(".new")
    fresh.write_text("\n".join([*lines, "", *table]).strip() + "\n", encoding="utf-8")
    fresh.replace(file)


def _without(lines: list[str], name: str) -> list[str]:
    kept, is_inside = [], False
    for line in lines:
        if line.strip().startswith("["):
            is_inside = line.strip() == f"[clusters.{name}]"
        if not is_inside:
            kept.append(line)
    return kept
