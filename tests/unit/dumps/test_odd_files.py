from __future__ import annotations

import gzip
import json
import os
import socket
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.cli.main import main
from rebalance_advisor.dumps import read_input
from rebalance_advisor.dumps.input_file import MAX_DEPTH, parse_json, too_deep_at
from rebalance_advisor.input_bytes import ByteBudget, read_bytes
from tests.unit.dumps.dump_texts import write_folder

MODEL = json.dumps(
    {
        "brokers": [{"id": 1}, {"id": 2}],
        "partitions": [{"topic": "t", "partition": 0, "replicas": [1, 2], "load": {"disk": 1}}],
    }
)


def odd(path: Path, kind: str) -> Path:
    """Something at ``path`` that is no plain file."""
    makers: dict[str, Callable[[], object]] = {
        "pipe": lambda: os.mkfifo(path),
        "dangling": lambda: path.symlink_to(path.parent / "nowhere"),
        "loop": lambda: path.symlink_to(path),
        "device": lambda: path.symlink_to("/dev/zero"),
        "null": lambda: path.symlink_to("/dev/null"),
        "unreadable": lambda: path.symlink_to("/proc/self/mem"),
        "socket": lambda: socket.socket(socket.AF_UNIX).bind(str(path)),
    }
    makers[kind]()
    return path


ODD = {
    "pipe": "is a pipe",
    "dangling": "is a link that leads nowhere",
    "loop": "is a link that leads nowhere",
    "device": "is a device",
    "null": "is a device",
    "unreadable": "cannot be read",
    "socket": "is a socket",
}


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.parametrize(("kind", "reason"), ODD.items(), ids=ODD.keys())
def test_what_is_no_plain_file_is_refused_alone_and_within_a_folder(tmp_path, monkeypatch, kind, reason):
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    path = odd(Path("dump"), kind)
    with pytest.raises(InvalidInputError, match=f"^dump: {reason}"):
        read_input(path)
    (tmp_path / "folder").mkdir()
    odd(tmp_path / "folder" / "d", kind) if kind != "socket" else path.rename(tmp_path / "folder" / "d")
    with pytest.raises(InvalidInputError, match=f"folder/d: {reason}"):
        read_input(Path("folder"))


def test_a_link_to_a_file_is_read(tmp_path):
    (tmp_path / "model.json").write_text(MODEL)
    (tmp_path / "link").symlink_to("model.json")
    assert len(read_input(tmp_path / "link").partitions) == 1


@pytest.mark.parametrize("size", [50_000, 4 * 2**20])
def test_what_unpacks_to_more_than_the_limit_is_refused_before_it_is_unpacked(tmp_path, size):
    bomb = tmp_path / "bomb.json.gz"
    bomb.write_bytes(gzip.compress(b"[" + b"0," * 8 * 2**20 + b"0]"))
    with pytest.raises(InvalidInputError, match=rf"bomb\.json\.gz: unpacks to more than the {size:,} bytes"):
        read_input(bomb, max_bytes=size)


def test_all_files_of_a_folder_count_together(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text("\n" * 600)
    with pytest.raises(InvalidInputError, match=r"b: holds more than the 400 bytes .* beside the 600 before it"):
        read_input(tmp_path, max_bytes=1000)


def test_the_limit_is_an_option_of_each_command_that_reads_an_input(tmp_path, capsys):
    (tmp_path / "model.json").write_text(MODEL)
    (tmp_path / "plan.json").write_text("{}")
    model, plan = str(tmp_path / "model.json"), str(tmp_path / "plan.json")
    for arguments in (["plan", model, "--out", str(tmp_path / "o")], ["advise", model, "--out", str(tmp_path / "o")]):
        assert main([*arguments, "--max-input-bytes", "10B"]) == 1
        assert "model.json: holds more than the 10 bytes" in capsys.readouterr().err
    for command in ("verify", "check"):
        with pytest.raises(SystemExit):
            main([command, plan, model, "--max-input-bytes", "none"])
        assert "--max-input-bytes" in capsys.readouterr().err


def test_strict_is_an_option_of_the_commands_that_read_a_folder(tmp_path, capsys):
    folder = write_folder(tmp_path / "dumps")
    (folder / "notes.md").write_text("# To do\ncall Bob\n")
    assert main(["group", str(folder), "billing"]) == 0
    capsys.readouterr()
    for arguments in (["group", str(folder), "billing"], ["advise", str(folder), "--out", str(tmp_path / "o")]):
        assert main([*arguments, "--strict"]) == 1
        assert "notes.md:1: is no known dump" in capsys.readouterr().err


@pytest.mark.parametrize(
    "damage", [lambda d: d[:-1], lambda d: d[:20], lambda d: d[:-8] + b"\0" * 8, lambda d: d + b"x"]
)
def test_broken_gzip_is_refused(tmp_path, damage):
    (tmp_path / "m.gz").write_bytes(damage(gzip.compress(MODEL.encode())))
    with pytest.raises(InvalidInputError, match=r"m\.gz: is gzip, but broken"):
        read_input(tmp_path / "m.gz")


def test_gzip_of_several_members_with_padding_is_one_file(tmp_path):
    half = len(MODEL) // 2
    parts = [gzip.compress(MODEL[:half].encode()), gzip.compress(MODEL[half:].encode()), b"\0" * 100]
    (tmp_path / "m.gz").write_bytes(b"".join(parts))
    assert read_bytes(tmp_path / "m.gz", ByteBudget()) == MODEL.encode()


@pytest.mark.parametrize(
    "text", ["[" * 3_000_000, '{"a":' * 300_000, "[" * 101 + "]" * 101, '["]",' * 200 + "1" + "]" * 200]
)
def test_what_is_nested_too_deeply_is_refused_with_its_line(text):
    with pytest.raises(InvalidInputError, match=f"^file:7: is nested more than {MAX_DEPTH} deep"):
        parse_json("\n" + text, "file", 6)


def test_depth_is_what_it_is_whatever_strings_hold():
    """Random documents with brackets, quotes and backslashes in their strings, of every depth around the limit."""
    draw = np.random.default_rng(9)
    tokens = ["[", "]", "{", "}", '"', "\\", "a", "\\u0041", "é", ":", ","]
    for depth in range(MAX_DEPTH - 5, MAX_DEPTH + 6):
        for _ in range(20):
            value: object = 1
            for _ in range(depth):
                text = "".join(draw.choice(tokens, int(draw.integers(0, 6))))
                value = {text: value, text + "x": text} if draw.random() < 0.5 else [text, value, {}, []]
            raw = json.dumps(value, ensure_ascii=bool(draw.random() < 0.5)).encode()
            innermost = 1 if isinstance(value, list) else 0
            assert (too_deep_at(raw) is None) == (_depth(value) <= MAX_DEPTH), (depth, innermost)


def _depth(value: object) -> int:
    if isinstance(value, dict):
        return 1 + max((_depth(item) for item in value.values()), default=0)
    return 1 + max((_depth(item) for item in value), default=0) if isinstance(value, list) else 0


TEXTS = {
    "half a character": ('{"a": "\\ud800"}', "file:1: holds half a character"),
    "infinite": ('{"a":\n 1e999}', "file:2: holds a number that is too large"),
    "5,000 digits": ('{"a":\n' + "9" * 5000 + "}", "file:2: holds a number that is too large"),
    "NaN": ("[NaN]", "file:1: NaN is no JSON number"),
    "twice": ('{"a": 1,\n"b": 2,\n"b" : 3}', "file:[23]: a key stands twice"),
    "twice beside a blank colon": ('{"a" : 1, "b":2, "b":3}', "file:1: a key stands twice"),
}


@pytest.mark.parametrize(("text", "message"), TEXTS.values(), ids=TEXTS.keys())
def test_what_json_lets_pass_is_refused_with_its_line(text, message):
    with pytest.raises(InvalidInputError, match=message):
        parse_json(text, "file")


def test_a_key_twice_among_very_many_is_found_at_once():
    keys = ",".join(f'"k{number}":1' for number in range(200_000))
    with pytest.raises(InvalidInputError, match="a key stands twice"):
        parse_json("{" + keys + ',"k199999":2}', "file")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_marks_and_line_ends_of_windows_are_read(tmp_path, encoding, end):
    (tmp_path / "m").write_bytes(json.dumps(json.loads(MODEL), indent=1).replace("\n", end).encode(encoding))
    assert len(read_input(tmp_path / "m").partitions) == 1


def test_utf_16_without_a_mark_and_nul_bytes_are_refused(tmp_path):
    (tmp_path / "m").write_bytes(MODEL.encode("utf-16-le"))
    with pytest.raises(InvalidInputError, match="m:1: holds a NUL character; write the file as UTF-8"):
        read_input(tmp_path / "m")
