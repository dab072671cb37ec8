"""Imported settings as a table of ``clusters.toml``: what was taken over as keys, all else as comments."""

from __future__ import annotations

import json
import shlex
from typing import Any

from kafka_rebalance.visible_text import visible
from rebalance_advisor.cli.coming_from.imported import Imported
from rebalance_advisor.request.run_request import OPTIONS


def cluster_table(cluster: str, imported: Imported, capacity: str | None) -> list[str]:
    """The lines of a file that ``clusters.toml`` may hold as it is. ``capacity`` is the path of a capacity file."""
    settings: dict[str, Any] = {"connection": f"kafka_{cluster}"}
    settings |= {} if capacity is None else {"capacity": capacity}
    keys = [f"{key} = {_toml(value)}" for key, value in (settings | imported.options).items()]
    words = [*_comment("What differs", imported.notes), *_comment("Not taken over", imported.left_out)]
    shell = visible(_shell(imported.options, capacity))
    return [f"[clusters.{_toml(cluster)}]", *keys, "", f"# In a shell: {shell}", *words]


def _comment(title: str, lines: tuple[str, ...]) -> list[str]:
    return ["#", f"# {title}:", *(f"#   {visible(line)}" for line in lines)] if lines else []


def _shell(options: dict[str, Any], capacity: str | None) -> str:
    words = [] if capacity is None else ["--capacity", capacity]
    known = {option.name: option for option in OPTIONS}
    for key, value in options.items():
        if not known[key].is_in_shell:
            continue
        for part in value if isinstance(value, list) else [value]:
            words += [known[key].flag, str(part)]
    return shlex.join(["rebalance-advisor", "plan", "cluster.json", *words])


def _toml(value: Any) -> str:
    """Numbers, texts and lists of texts: JSON but for DEL, which TOML wants escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
