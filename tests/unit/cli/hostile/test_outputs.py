"""Outputs for a cluster with a hostile name equal those for a plain name, except the name, which is text."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from kafka_assignors.visible_text import is_hidden, visible
from kafka_rebalance.csv_text import unguarded
from kafka_rebalance.render import render_document
from rebalance_advisor.cli.main import main as cli
from tests.sample import for_each
from tests.unit.cli.hostile.cluster import cluster_document
from tests.unit.cli.hostile.names import HARMLESS, HOSTILE
from tests.unit.cli.hostile.readers import Page, figures_alike, markdown, screen_lines, without_name

pytestmark = pytest.mark.usefixtures("brief_search")

SEARCHED_TWICE = (
    HARMLESS,
    *(HOSTILE[kind] for kind in ("cursor up", "one-byte CSI", "line feed", "override", "script")),
)
OPTIONS = ("--balance-within", "10%", "--no-frontier")
# One name for each border: terminal, lines, invisible characters, page, Markdown, CSV.
IN_FAST = ("cursor up", "line separator", "override", "script", "markdown link", "formula")
NAMES = for_each("name", HOSTILE.values(), fast=[HOSTILE[kind] for kind in IN_FAST])


@dataclass(frozen=True)
class Outputs:
    """Outputs for a cluster with ``name`` in all places: files by name, the terminal's lines by command."""

    name: str
    files: dict[str, str]
    said: dict[str, tuple[int, str]]


def outputs_of(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> Outputs:
    """``advise``, ``verify`` and ``check`` of every name; the commands that search once more, of a few."""
    source, out = folder / "cluster.json", folder / "out"
    source.write_text(json.dumps(cluster_document(name)))
    runs = {
        "advise": ["advise", str(source), "--out", str(out), *OPTIONS],
        "verify": ["verify", str(out), str(source)],
        "check": ["check", str(out), str(source)],
    }
    if name in SEARCHED_TWICE:
        runs["plan"] = ["plan", str(source), "--out", str(folder / "plan"), *OPTIONS]
        runs["advise --json"] = ["advise", str(source), "--out", str(folder / "again"), "--json", *OPTIONS]
    said = {}
    for command, arguments in runs.items():
        code = cli(arguments)
        said[command] = (code, capsys.readouterr().out.replace(str(folder), "FOLDER"))
    files = {path.name: path.read_bytes().decode() for path in sorted(out.iterdir()) if path.is_file()}
    return Outputs(name, files, said)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    with pytest.MonkeyPatch.context() as patch:
        stream = io.StringIO()
        patch.setattr("sys.stdout", stream)

        class Said:
            """As capsys, for a module's fixture."""

            def readouterr(self) -> object:
                text = stream.getvalue()
                stream.seek(0)
                stream.truncate()
                return type("Captured", (), {"out": text})

        return outputs_of(HARMLESS, tmp_path_factory.mktemp("plain"), Said())  # type: ignore[arg-type]


def test_the_cluster_says_enough_to_be_a_test(plain: Outputs) -> None:
    codes = {finding["code"] for finding in json.loads(plain.files["findings.json"])}
    assert codes >= {"coverage_gap", "idle_members", "dead_static_member", "shared_offsets", "broker_disk_over_share"}
    assert plain.said["advise"][0] == plain.said["verify"][0] == 0
    for location in (
        "rack harmless-4 holds no replica",
        "harmless-dead",
        "harmless-static-0",
        "log dir harmless",
        "harmless-gap",
        "harmless denied",
    ):
        assert location in plain.files["report.html"], location
    assert len(plain.files["moves.csv"].splitlines()) > 2


@NAMES
def test_a_name_is_text_in_every_output(
    name: str, plain: Outputs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = outputs_of(name, tmp_path, capsys)
    assert {command: code for command, (code, _) in result.said.items()} == {
        command: code for command, (code, _) in plain.said.items() if command in result.said
    }
    assert result.files.keys() == plain.files.keys()
    _same_screens(result, plain)
    _same_page(result, plain)
    _same_markdown("digest.md", result, plain)
    _same_markdown("commands.md", result, plain)
    _exact_json(result)
    _safe_cells(result)


def _same_screens(result: Outputs, plain: Outputs) -> None:
    for command in result.said:
        shown, expected = screen_lines(result.said[command][1]), screen_lines(plain.said[command][1])
        assert len(shown) == len(expected), command
        if command != "advise --json":
            reported = [without_name(line, result.name) for line in shown]
            assert reported == [without_name(line, plain.name) for line in expected], command


def _same_page(result: Outputs, plain: Outputs) -> None:
    page, expected = Page(result.files["report.html"]), Page(plain.files["report.html"])
    assert [figures_alike(tag) for tag in page.tags] == [figures_alike(tag) for tag in expected.tags]
    assert without_name("".join(page.text), result.name) == without_name("".join(expected.text), plain.name)
    assert not [character for character in result.files["report.html"] if character != "\n" and is_hidden(character)]


def _same_markdown(file: str, result: Outputs, plain: Outputs) -> None:
    kinds, text = markdown(result.files[file])
    plain_kinds, plain_text = markdown(plain.files[file])
    assert kinds == plain_kinds, file
    assert without_name(text, result.name) == without_name(plain_text, plain.name), file
    assert len(result.files[file].splitlines()) == len(plain.files[file].splitlines()), file


def _exact_json(result: Outputs) -> None:
    for file, text in result.files.items():
        if file.endswith(".json"):
            json.loads(text)
            assert not [character for character in text if character != "\n" and is_hidden(character)], file
    assert json.loads(result.files["advisory.json"])["cluster"] == result.name
    assert [group["group"] for group in json.loads(result.files["groups.json"])] == [
        f"{result.name}-{kind}" for kind in ("idle", "shared", "dead")
    ]
    assert f"{result.name}-dead" in {finding["subject"] for finding in json.loads(result.files["findings.json"])}
    if "advise --json" in result.said:
        printed = json.loads(result.said["advise --json"][1])
        assert printed["findings"] == json.loads(result.files["findings.json"])


def _safe_cells(result: Outputs) -> None:
    rows = list(csv.reader(io.StringIO(result.files["moves.csv"], newline=""), strict=True))
    moves = json.loads(result.files["plan.json"])["moves"]
    assert len(rows) == len(moves) + 1 == len(result.files["moves.csv"].splitlines())
    assert "'-1" in {row[1] for row in rows}, "the topic that looks like a formula moves"
    for row, move in zip(rows[1:], moves, strict=True):
        assert not [cell for cell in row if cell.startswith(tuple("=+-@\t\r"))]
        assert (unguarded(row[1]), row[9]) == (move["topic"], move["reason"]["code"])
        assert unguarded(row[10]) == visible(render_document(move["reason"]))


@NAMES
def test_what_is_said_of_a_forged_plan_is_text(
    name: str, plain: Outputs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, forged = tmp_path / "cluster.json", tmp_path / "plan.json"
    source.write_text(json.dumps(cluster_document(HARMLESS)))
    document = json.loads(plain.files["plan.json"])
    document |= {name: name, "plan_id": name, "reasons": [{"code": name, "args": {name: name}}]}
    document["moves"][0]["topic"] = name
    forged.write_text(json.dumps(document))
    _says_lines(["check", str(forged), str(source)], capsys)
    document |= {"verdict": name, "expires_at": name}
    document["moves"][0] |= {"reason": name, "kind": name}
    document["resources"][0] |= {"resource": name, "unit": name}
    document["left_out"] |= {name: {"code": name, "args": {}}}
    forged.write_text(json.dumps(document))
    _says_lines(["verify", str(forged), str(source)], capsys)
    assert cli(["verify", str(forged), str(source), "--json"]) == 1
    output = capsys.readouterr().out
    screen_lines(output)
    assert json.loads(output)["is_right"] is False


def _says_lines(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The command refuses, or names faults, in lines of text."""
    assert cli(arguments) != 0
    output = capsys.readouterr()
    steps = [line for line in output.err.splitlines(keepends=True) if " s  " not in line]
    assert len(screen_lines(output.out + "".join(steps))) > 1
