"""The field's words: no name of the left column of NAMES.md, and a loop names its thing.

A word that is ordinary elsewhere is refused only where it had a meaning of its own.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Refused as an identifier anywhere, with the word that replaced it.
EVERYWHERE = {
    "wishes": "parameters", "Wishes": "PlanParameters", "Ask": "PlanRequest", "build_ask": "build_request",
    "BrokerSetting": "BrokerArrays", "PartitionSetting": "PartitionArrays", "GroupQuestion": "GroupInput",
    "group_question": "group_input", "group_questions": "group_inputs", "open_run": "lock_run",
    "Picture": "FindingContext", "picture": "context", "Asker": "RequestSender", "asker": "sender",
    "ask_any": "send_to_any", "no_retry": "fail_without_retry", "gate_words": "gate_tasks",
    "OwnStrategy": "CustomAssignor", "OwnPartitioner": "CustomPartitioner", "StickyFrame": "StickyInput",
    "RowTopic": "stale partition", "ghost": "stale", "ghosts": "stale", "with_programs": "improve_with_lp",
    "takers": "receivers", "taker": "receiver", "weigh": "replica_load", "relief": "band_improvement",
    "strays": "band_violation", "untouchable": "immovable", "furthest": "worst_deviation",
    "kept_plan": "continued_plan", "earlier_plan": "previous_plan", "KeptPlan": "ContinuedPlan",
    "EarlierPlan": "PreviousPlan", "is_order": "is_explicit", "room": "capacity", "Judgement": "PlanStatus",
    "judgement": "status", "Listing": "Registration", "member_bytes": "member_metadata",
    "cluster_list": "cluster_config", "live_world": "live_cluster", "LiveWorld": "LiveCluster",
    "replay_families": "conformance",
}  # fmt: skip
# Refused as an identifier below a folder.
BELOW = {
    "plugins/kafka_rebalance": ("ask", "question", "questions", "home", "away", "void", "met", "walked", "quiet"),
    "plugins": ("FEW", "FIT", "HARD", "LESS", "CALM", "NEAR"),
    "plugins/kafka_rebalance/planner": ("slot", "leader_slot", "wish", "ROUNDING"),
    "plugins/kafka_rebalance/verify": ("taken", "said", "told"),
    "plugins/kafka_rebalance/assignors": ("listing", "frame"),
    "plugins/kafka_rebalance/partitioners": ("listing",),
    "plugins/rebalance_advisor/kafka": ("ask", "questions", "Shape", "refused", "wire"),
    "plugins/rebalance_advisor/airflow": ("judge", "every"),
    "dags": ("judge", "every"),
}
# Refused as the name of a module.
MODULES = (
    "wishes", "ask", "asker", "wire", "member_bytes", "cluster_list", "live_world", "worlds", "stay",
    "kept_plan", "earlier_plan", "replay_families", "giving_up", "gate_words", "small_lp", "leading", "plan_making",
)  # fmt: skip
SQL_WORDS = re.compile(r"--[^\n]*|'(?:[^']|'')*'|([A-Za-z_]\w*)")
# As it would stand where it is bound; sentences seldom look so. Looked for by its letters, which are rarer than commas.
EACH = re.compile(r"each\b")
BEFORE_EACH = re.compile(r"(?:\bfor\s+|[,(*]\s*|\blambda\s+)$")
AFTER_EACH = re.compile(r"\s*(?:[,=:)\]]|in\b)")
LISTED = "tests/architecture/test_names.py"


@cache
def files(suffix: str) -> tuple[str, ...]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", f"*{suffix}"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    found = tuple(name for name in listed if name != LISTED and (ROOT / name).is_file())
    assert found, f"git lists no file that ends with {suffix}"
    return found


@cache
def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def syntax(name: str) -> ast.Module:
    return ast.parse(text(name))


def has_word(words: Iterable[str], written: str) -> bool:
    """One of the words stands somewhere, be it in a sentence: only then is the syntax worth reading."""
    return re.search(rf"(?<![A-Za-z0-9])({'|'.join(sorted(words))})(?![A-Za-z0-9])", written) is not None


def identifiers(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every name that a file binds or uses, with its line."""
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield line, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield line, name
            case ast.keyword(arg=str(name)):
                yield node.value.lineno, name
            case ast.alias(name=name, asname=other):
                yield line, name.rpartition(".")[2]
                yield line, other or ""


def keys(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Keys that a file writes into mappings or reads out of them."""
    for node in ast.walk(tree):
        match node:
            case ast.Dict(keys=found):
                written = [key for key in found if key is not None]
            case ast.Subscript(slice=key):
                written = [key]
            case _:
                continue
        for key in written:
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.lineno, key.value


def refused_in(name: str) -> set[str]:
    return {
        *EVERYWHERE,
        *(word for folder, words in BELOW.items() if name.startswith(f"{folder}/") for word in words),
    }


def wrong_identifiers(name: str, tree: ast.AST) -> list[str]:
    refused = refused_in(name)
    return [f"{name}:{line}: {word}" for line, word in identifiers(tree) if word.strip("_") in refused]


def may_bind_each(written: str) -> bool:
    """Its syntax is worth reading."""
    return any(
        BEFORE_EACH.search(written, max(0, found.start() - 12), found.start())
        or (not written[found.start() - 1 : found.start()].isalnum() and AFTER_EACH.match(written, found.end()))
        for found in EACH.finditer(written)
    )


def wrong_loops(name: str, tree: ast.AST) -> list[str]:
    """Bindings of ``each``; a method of that name (``fields.each(...)``) is none."""
    loops = (node for node in ast.walk(tree) if isinstance(node, ast.Name | ast.arg))
    return [
        f"{name}:{node.lineno}: each" for node in loops if "each" in (getattr(node, "id", ""), getattr(node, "arg", ""))
    ]


@pytest.mark.parametrize("part", ["plugins", "spark_jobs", "dags", "stack", "tests"])
def test_no_identifier_is_a_private_word(part: str) -> None:
    names = [name for name in files(".py") if name.startswith(f"{part}/") and "version" not in name]
    assert names
    suspects = [name for name in names if has_word(refused_in(name), text(name))]
    assert [fault for name in suspects for fault in wrong_identifiers(name, syntax(name))] == []


def test_a_loop_names_the_thing() -> None:
    suspects = [name for name in files(".py") if may_bind_each(text(name))]
    assert [fault for name in suspects for fault in wrong_loops(name, syntax(name))] == []


def test_no_module_has_a_private_name() -> None:
    assert [name for name in files(".py") if Path(name).stem.removeprefix("test_") in MODULES] == []


def test_no_key_of_a_document_is_a_private_word() -> None:
    names = [name for name in files(".py") if not name.startswith("tests/") and has_word(EVERYWHERE, text(name))]
    assert [
        f"{name}:{line}: {word}" for name in names for line, word in keys(syntax(name)) if word in EVERYWHERE
    ] == []  # fmt: skip


def test_no_sql_identifier_is_a_private_word() -> None:
    """An applied migration never changes, and ``schema.sql`` shows what it made: what they call ``each`` stays."""
    refused, fixed = {*EVERYWHERE, "said", "judge"}, ("sql/migrations/", "sql/schema.sql")
    assert [
        f"{name}: {word}"
        for name in files(".sql")
        for word in SQL_WORDS.findall((ROOT / name).read_text(encoding="utf-8"))
        if word in refused or (word == "each" and not name.startswith(fixed))
    ] == []


def test_a_template_names_the_thing_too() -> None:
    written = {name: re.findall(r"{%-? *for (\w+)", text(name)) for name in files(".html")}
    assert any(written.values())
    assert [name for name, loops in written.items() if "each" in loops] == []


def test_it_would_see_them() -> None:
    tree = ast.parse("def f(wishes, *, _home=1):\n    return [x.strays for each in wishes if g(relief=each)]\n")
    found = wrong_identifiers("stack/x.py", tree)
    assert sorted(found) == [
        f"stack/x.py:{line}: {word}" for line, word in ((1, "wishes"), (2, "relief"), (2, "strays"), (2, "wishes"))
    ]
    assert len(wrong_identifiers("plugins/kafka_rebalance/x.py", tree)) == 5, "and _home"
    assert len(wrong_loops("x.py", tree)) == 2
    bound = ("for each in x", "for a, each in x", "lambda each: 1", "def f(each): 1", "each = 1", "each: int = 1")
    assert all(may_bind_each(line) for line in (*bound, "with x as each: 1", "def f(a, *each): 1", "[each] = x"))
    assert list(keys(ast.parse("{'room': 1}; a['ghost']"))) == [(1, "room"), (1, "ghost")]
    assert has_word(("ghost",), "x = _ghost_")
    assert not has_word(("ghost",), "ghostly = 'aghost'")
