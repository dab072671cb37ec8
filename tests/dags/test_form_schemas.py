"""What the forms of all DAGs let through: Airflow checks it in its api-server and hands it to each task by msgpack."""

from __future__ import annotations

import copy
import itertools
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

pytestmark = pytest.mark.stack

LARGEST = 2**63 - 1  # of Postgres' bigint
VALIDATE = """
import json, resource, sys
import jsonschema
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
def check(schema, value):
    sum(1 for _ in jsonschema.Draft202012Validator(schema).iter_errors(value))
texts, lists = json.load(sys.stdin)
for schema, pumps in texts:
    for pump in pumps:
        for head in ("", "a="):
            check(schema, head + pump * (100_000 // len(pump)) + "!")
for schema in lists:
    check(schema, [{"x": n} for n in range(20_000)])
    check(schema, [n if n % 2 else str(n) for n in range(20_000)])
print("done")
"""


@pytest.fixture(scope="module")
def forms(dag_bag) -> dict[str, dict[str, Any]]:
    """The schema of each field of each form, the questions of tasks among them."""
    tasks = {f"{name}.{task.task_id}": task for name, dag in dag_bag.dags.items() for task in dag.tasks}
    holders = dag_bag.dags | tasks
    return {
        f"{name}, {field}": holder.params.get_param(field).schema
        for name, holder in holders.items()
        for field in holder.params
    }


def nodes(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The schema and every one inside it."""
    yield schema
    inner = [*schema.get("properties", {}).values()]
    inner += [
        schema[key] for key in ("items", "additionalProperties", "propertyNames") if isinstance(schema.get(key), dict)
    ]
    for part in inner:
        yield from nodes(part)


def types_of(node: dict[str, Any]) -> set[str]:
    kinds = node.get("type", [])
    return {kinds} if isinstance(kinds, str) else set(kinds)


def test_the_walk_sees_every_part_of_every_form(forms):
    assert len(forms) > 15
    known = {
        "type", "title", "description", "section", "examples", "values_display", "enum", "items", "maxItems",
        "properties", "required", "additionalProperties", "propertyNames", "maxProperties", "minLength", "maxLength",
        "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    }  # fmt: skip
    for name, schema in forms.items():
        for node in nodes(schema):
            assert set(node) <= known, name


def test_every_number_text_list_and_object_has_an_end(forms):
    """A number that msgpack cannot hold ends the task's start; ``uniqueItems`` compares each object with each other."""
    for name, schema in forms.items():
        for node in nodes(schema):
            kinds = types_of(node)
            if kinds & {"integer", "number"}:
                assert node.get("minimum", node.get("exclusiveMinimum", -(2**70))) >= -LARGEST, name
                assert node.get("maximum", node.get("exclusiveMaximum", 2**70)) <= LARGEST, name
            if "string" in kinds:
                assert "enum" in node or node.get("maxLength", 10**9) <= 10_000, name
            if "array" in kinds:
                assert node.get("maxItems", 10**9) <= 10_000, name
                assert "uniqueItems" not in node, name
            if "object" in kinds:
                is_closed = node.get("additionalProperties") is False and "properties" in node
                assert is_closed or node.get("maxProperties", 10**9) <= 10_000, name
                assert is_closed or isinstance(node.get("additionalProperties"), dict) or not node["maxProperties"], (
                    name
                )


@pytest.mark.parametrize("value", [2**63, 2**64, 10**30, -(2**64), 1e400, "x" * 20_000])
def test_what_is_too_large_is_refused_in_every_field_and_inside_every_list(dag_bag, value):
    from airflow.sdk.exceptions import ParamValidationError

    for name, dag in dag_bag.dags.items():
        for field in dag.params:
            param = copy.deepcopy(dag.params.get_param(field))
            wrapped = [{key: value} for key in ("partition", "tier", "x")]
            for wrong in (
                value,
                [value],
                [[value]],
                {"x": value},
                {"1": {"disk_bytes": value}},
                *([item] for item in wrapped),
            ):
                try:
                    param.resolve(value=wrong)
                except ParamValidationError:
                    continue
                pytest.fail(f"{name}, {field} takes {wrong!r:.80}")


def hard_texts(pattern: str) -> list[str]:
    """Beginnings of long texts, and what is repeated: what the pattern itself names, alone and in pairs."""
    matches = re.findall(r"[a-z_]{3,}", pattern)[:2]
    pairs = ("".join(pair) for pair in itertools.permutations(("=", ",", "1", "rack:a", ":"), 2))
    return [*dict.fromkeys([*"=,:./ a1", *matches, *pairs])]


def test_long_texts_and_lists_take_the_api_server_no_longer_than_their_length(forms):
    """A quadratic one needs most of a minute for one such text; the limit of CPU is for all of them."""
    schemas = {json.dumps(schema, sort_keys=True): schema for schema in forms.values()}.values()
    patterns = sorted({node["pattern"] for schema in schemas for node in nodes(schema) if "pattern" in node})
    assert len(patterns) >= 10
    texts = [({"pattern": pattern}, hard_texts(pattern)) for pattern in patterns]
    arrays = [node for schema in schemas for node in nodes(schema) if "array" in types_of(node)]
    lists = [{key: part for key, part in schema.items() if key != "items"} for schema in arrays]
    done = subprocess.run(
        [sys.executable, "-c", VALIDATE], input=json.dumps([texts, lists]), capture_output=True, text=True, check=False
    )
    assert done.stdout == "done\n", f"ended with {done.returncode}: {done.stderr[-2000:]}"
