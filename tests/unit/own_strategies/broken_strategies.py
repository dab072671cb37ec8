"""Custom assignors with every fault of foreign code, for ``FILE.py:Class``.

``REASONS``: for each the kinds of refusal and a part of the message.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Answer = Any


def dealt(members: Any, topics: Any) -> dict[str, list[tuple[str, int]]]:
    """A right answer: partitions in turn."""
    pairs = [(topic.name, p) for topic in topics for p in range(topic.partitions)]
    return {member.id: pairs[i :: len(members)] for i, member in enumerate(members)}


def _strategy(called: str, step: Callable[[Any, Any], Answer]) -> type:
    class Strategy:
        name = called

        def assign_members(self, members: Any, topics: Any) -> Answer:
            return step(members, topics)

    return Strategy


def _raise(error: BaseException) -> Answer:
    raise error


def _forked(members: Any, topics: Any) -> Answer:
    os.fork()
    return dealt(members, topics)


def _printed(members: Any, topics: Any) -> Answer:
    os.write(1, b"x" * 100_000)
    print("y" * 100_000, file=sys.stderr)
    return dealt(members, topics)


def _left_behind(_members: Any, _topics: Any) -> Answer:
    sleeper = subprocess.Popen(["sleep", "3600"], close_fds=False)
    raise ValueError(sleeper.pid)


def _escaped(_members: Any, _topics: Any) -> Answer:
    reads, writes = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(writes, str(os.getpid()).encode())
            time.sleep(600)
        os._exit(0)
    raise ValueError(int(os.read(reads, 20)))


def _memory_of_many(_members: Any, _topics: Any) -> Answer:
    """Each of four processes takes less than the limit of one."""
    for _ in range(3):
        if os.fork() == 0:
            break
    kept = bytearray(os.urandom(1 << 20)) * 100
    time.sleep(600)
    return {"kept": kept}


def _secrets(_members: Any, _topics: Any) -> Answer:
    """Looks into every process above this one."""
    results, pid = [], os.getppid()
    while pid > 0:
        for file in ("environ", "mem"):
            try:
                with open(f"/proc/{pid}/{file}", "rb") as opened:
                    opened.read(0 if file == "mem" else -1)
                results.append(f"{file} of {pid}")
            except OSError:
                pass
        with open(f"/proc/{pid}/stat") as opened:
            pid = int(opened.read().rpartition(")")[2].split()[1])
    raise ValueError(results)


def _moved(members: Any, topics: Any) -> Answer:
    """Still possible: rename between folders, and start a program."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as other:
        Path(first, "a").touch()
        Path(first, "a").rename(Path(other, "a"))
        subprocess.run(["true"], check=True)
    return dealt(members, topics)


def _own_channel(_members: Any, _topics: Any) -> Answer:
    os.write(int(sys.argv[1]), b"[1, 2\n")
    time.sleep(3600)


Good = _strategy("good", dealt)
Forks = _strategy("forks", _forked)
Prints = _strategy("prints", _printed)
LeavesBehind = _strategy("leaves-behind", _left_behind)
Escapes = _strategy("escapes", _escaped)
Secrets = _strategy("secrets", _secrets)
Moves = _strategy("moves", _moved)
Environment = _strategy("environment", lambda *_: _raise(ValueError(sorted(os.environ))))


class Tells:
    """It reports its input."""

    name = "tells"

    def assign_members(self, members: Any, topics: Any) -> Answer:
        raise ValueError(
            [(m.id, m.topics, m.instance_id, m.rack, m.host, m.client_id, m.owned, m.user_data) for m in members],
            topics,
        )


class ByFirstByte:
    """A partitioner, which fails on one key."""

    name = "by-first-byte"
    versions = "ours 1"

    def partition_of(self, key: bytes | None, partitions: int) -> int:
        return {b"beyond": partitions, b"none": None, b"float": 1.0}.get(key, key[0] % partitions if key else 0)  # type: ignore[arg-type,return-value]


Raises = _strategy("raises", lambda *_: _raise(ValueError("no\nrack")))


class _Mute(Exception):
    """Its words end the process, if they are let."""

    def __str__(self) -> str:
        return str(sys.exit(5))


WordsExit = _strategy("words-exit", lambda *_: _raise(_Mute()))
Exits = _strategy("exits", lambda *_: sys.exit(3))
Ends = _strategy("ends", lambda *_: os._exit(7))
KillsItself = _strategy("kills-itself", lambda *_: os.kill(os.getpid(), 9))
Loops = _strategy("loops", lambda *_: next(i for i in itertools.count() if i < 0))
Slow = _strategy("slow", lambda *_: time.sleep(3600))
Memory = _strategy("memory", lambda *_: [bytearray(2**27) for _ in itertools.count()])
MemoryOfMany = _strategy("memory-of-many", _memory_of_many)
Nothing = _strategy("nothing", lambda *_: None)
Twice = _strategy("twice", lambda members, topics: {m: p * 2 for m, p in dealt(members, topics).items()})
Unread = _strategy("unread", lambda members, topics: {m: p[1:] for m, p in dealt(members, topics).items()})
Stranger = _strategy("stranger", lambda members, topics: dealt(members, topics) | {"nobody": []})
Beyond = _strategy("beyond", lambda members, _: {members[0].id: [("t", 4)]})
Floats = _strategy("floats", lambda members, _: {members[0].id: [("t", 1.0)]})
NotSubscribed = _strategy("not-subscribed", lambda members, _: {members[1].id: [("u", 0)]})
Endless = _strategy("endless", lambda members, _: {members[0].id: itertools.repeat(("t", 0))})
TooLong = _strategy("too-long", lambda members, _: {members[0].id: [("t", 0)] * 50_000})
Text = _strategy("text", lambda members, _: {members[0].id: "t-0"})
Channel = _strategy("channel", _own_channel)
NoMethod = type("NoMethod", (), {"name": "no-method"})
NoName = type("NoName", (), {"name": "", "assign_members": dealt})


class Unmade:
    """It cannot be made."""

    name = "unmade"

    def __init__(self) -> None:
        raise RuntimeError("no settings")


TIMED = ("Loops", "Slow", "Endless")  # they end by their limit of time alone: let it be short
REASONS = {
    "Raises": ("Raised", r"ValueError: no\nrack (broken_strategies.py:"),
    "WordsExit": ("Raised", "_Mute: its message cannot be made (broken_strategies.py:"),
    "Exits": ("Exited", "calls sys.exit(3)"),
    "Ends": ("Ended", "exit code 7"),
    "KillsItself": ("Ended", "signal 9 (SIGKILL)"),
    "Loops": ("TimeLimit", "0.3 s"),
    "Slow": ("TimeLimit", "0.3 s"),
    "Memory": ("MemoryLimit", "runs out of its memory"),
    "MemoryOfMany": ("MemoryLimit", "with the processes that it started"),
    "Nothing": ("NoAnswer", "None"),
    "Twice": ("GivenTwice", "'t'-0 to 'a', and to 'a' before"),
    "Unread": ("Unread", "2 of 5 partitions unread: t-0, t-1"),
    "Stranger": ("UnknownMember", "'nobody'"),
    "Beyond": ("UnknownPartition", "'t'-4 to 'a'"),
    "Floats": ("UnknownPartition", "'a' ('t', 1.0)"),
    "NotSubscribed": ("NotSubscribed", "'u'-0 to 'b'"),
    "Endless": ("TimeLimit|MemoryLimit", ""),
    "TooLong": ("TooLong", " bytes"),
    "Text": ("NoAnswer", "'a' 't-0'"),
    "Channel": ("Nonsense", ""),
    "NoMethod": ("NoStrategy", "assign_members"),
    "NoName": ("NoStrategy", "1 to 100 characters"),
    "Unmade": ("Raised", "RuntimeError: no settings"),
    "Missing": ("Raised", "AttributeError: module 'broken_strategies' has no attribute 'Missing'"),
}
