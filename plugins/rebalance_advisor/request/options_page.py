"""``docs/options.md`` from the options: ``python -m rebalance_advisor.request.options_page > docs/options.md``."""

from __future__ import annotations

import json
import sys

from kafka_rebalance.options.option import Option
from rebalance_advisor.request.run_request import OPTIONS
from rebalance_advisor.terminal import write_lines

_HEAD = """# Options of a run

Made from the dataclasses in `rebalance_advisor/request/run_request.py` and `kafka_rebalance/options/plan_options.py` by
 `python -m rebalance_advisor.request.options_page`.

A shell (`rebalance-advisor plan`, `advise`), the form of a cluster's DAG `advise_NAME`, its REST call (`conf`), its
table in `clusters.toml` (where they are the defaults of form, schedule and REST call) and a stored run
(`advisor.run.parameters`) know the same options by the same names: `remove_broker` is `--remove-broker` in a shell.
Where a shell takes an option several times (…), JSON holds a list. What is left out or null is not asked for; amounts
and shares are numbers, or texts as in a shell (`"500GB"`, `"10%"`).
An unknown key is refused by name, in a shell with exit code 2, elsewhere by the first task, `check_request`, before
anything is collected; so is a value that cannot be, and what contradicts another option or the cluster (broker 99).
The same options give the same `plan.json`, byte for byte.
"""


def options_page() -> str:
    sections = dict.fromkeys(option.section for option in OPTIONS)
    return "\n".join([_HEAD, *map(_table, sections)])


def _table(section: str) -> str:
    rows = [_row(option) for option in OPTIONS if option.section == section]
    head = [f"## {section.capitalize()}", "", "| key | shell | field of the form | JSON | what it says |"]
    return "\n".join([*head, "|---|---|---|---|---|", *rows, ""])


def _row(option: Option) -> str:
    shell = f"`{option.flag} {option.metavar}".rstrip() + "`" if option.is_in_shell else "INPUT"
    default = "" if option.default is None else f", `{json.dumps(option.default)}` if left out"
    cells = (f"`{option.name}`", shell, option.title, _json_words(option) + default, option.help)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _json_words(option: Option) -> str:
    schema = option.schema["items"] if option.is_repeated else option.schema
    types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    kinds = [kind for kind in types if kind != "null"]
    one = " or ".join("true, false" if kind == "boolean" else kind for kind in reversed(kinds))
    if "enum" in schema:
        one = " or ".join(f"`{json.dumps(choice)}`" for choice in schema["enum"] if choice is not None)
    if option.example:
        one = f"object: `{option.example}`"
    return f"list of: {one}" if option.is_repeated else one


if __name__ == "__main__":
    write_lines(sys.stdout, *options_page().splitlines())
