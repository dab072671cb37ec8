from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.snapshot.codec import snapshot_to_document
from rebalance_advisor.cli import verify as verify_command
from rebalance_advisor.input_bytes import MAX_INPUT_BYTES
from tests.unit.verify.plan_kinds import drain, nothing_to_do
from tests.unit.verify.sample_plans import SamplePlan


def written(sample: SamplePlan, folder: Path, *names: str) -> Path:
    """The world's files (those named, else all) in a folder, and its snapshot beside that folder."""
    (folder.parent / "snapshot.json").write_text(json.dumps(snapshot_to_document(sample.snapshot)))
    for name, content in sample.files.items():
        if not names or name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
    return folder


def run(plan: Path, snapshot: Path, capsys: pytest.CaptureFixture[str], *, as_json: bool = False) -> tuple[int, str]:
    arguments = argparse.Namespace(
        plan=plan,
        input=snapshot,
        json=as_json,
        max_input_bytes=MAX_INPUT_BYTES,
        load=None,
        window=None,
        history=None,
        policy=None,
    )
    return verify_command.run(arguments), capsys.readouterr().out


def test_a_folder_and_its_plan_json_are_judged_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(drain(), tmp_path / "plan")
    for plan in (folder, folder / "plan.json"):
        code, text = run(plan, tmp_path / "snapshot.json", capsys)
        assert (code, "is right" in text, "not judged" in text) == (0, True, False)


@pytest.mark.parametrize(
    "missing", ["waves/01.json", "rollback/01.json", "elections/01.json", "commands.md", "moves.csv"]
)
def test_one_file_that_is_missing_is_named(missing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(drain(), tmp_path / "plan")
    (folder / missing).unlink()
    for plan in (folder, folder / "plan.json"):
        code, text = run(plan, tmp_path / "snapshot.json", capsys)
        assert code == 1
        assert f"file: {missing}: is missing" in text


def test_all_folders_missing_together_are_missed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(drain(), tmp_path / "plan", "plan.json", "commands.md", "moves.csv")
    code, text = run(folder / "plan.json", tmp_path / "snapshot.json", capsys)
    assert code == 1
    assert "elections/01.json: is missing" in text
    assert "more of the same kinds" in text


def test_a_plan_json_that_lies_alone_is_judged_alone_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(drain(), tmp_path / "plan", "plan.json")
    code, text = run(folder / "plan.json", tmp_path / "snapshot.json", capsys)
    assert (code, "files beside: not there, not judged" in text) == (0, True)
    assert run(folder, tmp_path / "snapshot.json", capsys)[0] == 1
    (folder / ".rebalance-advisor").write_text("")
    assert run(folder / "plan.json", tmp_path / "snapshot.json", capsys)[0] == 1


def test_a_key_that_stands_twice_is_a_fault_in_every_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(drain(), tmp_path / "plan")
    (folder / "findings.json").write_text('[{"code": 1, "code": 2}]')
    for name in ("plan.json", "waves/01.json", "rollback/01.json", "elections/01.json"):
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace("{", '{"version":1,"version":1,', 1))
    _, text = run(folder, tmp_path / "snapshot.json", capsys, as_json=True)
    assert json.loads(text)["faults"][0]["place"] == "plan.json"
    (folder / "plan.json").write_bytes(drain().files["plan.json"])
    _, text = run(folder, tmp_path / "snapshot.json", capsys, as_json=True)
    places = {fault["place"] for fault in json.loads(text)["faults"] if fault["code"] == "key_twice"}
    assert places == {"findings.json", "waves/01.json", "rollback/01.json", "elections/01.json"}


@pytest.mark.parametrize(
    "content",
    [
        b"", b"\xff\xfe", b"{", b"[" * 100_000, b'{"plan_id": NaN}', b'{"a": Infinity}', b"9" * 10_000, b"null", b"7",
        b'"\\ud800"', b'{"\\ud800\\u001b[2J": 1}', b'{"moves": ' + b"[" * 3000 + b"]" * 3000 + b"}",
    ],
)  # fmt: skip
def test_a_plan_that_is_none_is_told_so_in_clean_text(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(nothing_to_do(), tmp_path / "plan")
    (folder / "plan.json").write_bytes(content)
    try:
        code, text = run(folder, tmp_path / "snapshot.json", capsys)
    except InvalidInputError as refusal:
        code, text = 1, str(refusal)
    assert code == 1
    assert "plan" in text
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize("name", ["nowhere", "plan/waves"])
def test_what_is_no_file_is_refused_with_its_place(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(drain(), tmp_path / "plan")
    with pytest.raises(InvalidInputError, match=r"plan\.json: does not exist|nowhere: does not exist"):
        run(tmp_path / name, tmp_path / "snapshot.json", capsys)
