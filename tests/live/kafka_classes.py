"""Kafka's own classes for comparison: fetched by Maven, our small Java programs compiled against them, and asked.

``classpath`` and ``compile_java`` give what a program needs; ``Oracle`` runs one that reads a JSON case a line and
writes an answer a line, starting it again where it ended itself over a case that never ends.

    python -m tests.live.kafka_classes

fetches all jars of the live tests beforehand, so that none of them waits for a repository.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from stack.jvm.java import QUICK_JVM
from stack.jvm.maven import RUN, MavenError, class_path, fetch, find_java
from stack.kafka.tools import LATEST, NEWEST, OLDER, kafka_jars

JAVA_SOURCES = Path(__file__).parent / "java"
_JSON = "com.fasterxml.jackson.core:jackson-databind:2.19.0"
_COMPILED = RUN / "java-classes"
_COMPILE_SECONDS = 300
_ENDLESS = 3  # exit code of an oracle that gave up on a case

# The classes that stand for each family: Kafka's version and its artefacts.
NEWEST_CLIENT = (LATEST, ("kafka-clients",))
LIVE_CLIENT = (NEWEST, ("kafka-clients",))
# Releases whose classes answer otherwise than the newest: a sample of them, and every first and last one of a line.
SAMPLE_OF_CLIENTS = tuple((release, ("kafka-clients",)) for release in ("3.7.0", "3.4.1", "3.0.2", "2.8.2", "2.4.1"))
OTHER_CLIENTS = tuple(
    (release, ("kafka-clients",))
    for release in (
        "3.9.2",
        "3.7.1",
        "3.6.2",
        "3.5.2",
        "3.5.1",
        "3.5.0",
        "3.4.0",
        "3.3.2",
        "3.1.2",
        "3.0.0",
        "2.8.1",
        "2.8.0",
        "2.7.2",
        "2.5.1",
        "2.5.0",
        "2.4.0",
    )
)
LEGACY_CLIENT = ("2.0.0", ("kafka-clients",))
NEWEST_SERVER = (LATEST, ("kafka-group-coordinator", "kafka-metadata", "kafka-tools"))
PREVIEW_SERVERS = tuple((release, ("kafka-group-coordinator",)) for release in (OLDER, "3.8.1"))
CONNECT = (LATEST, ("connect-runtime",))
# 3.4 answers otherwise where workers wait for nothing; all others have one class.
OTHER_CONNECTS = tuple(
    (release, ("connect-runtime",)) for release in ("4.3.1", "4.2.1", "4.1.2", "4.0.2", "3.9.2", "3.5.2", "3.4.1")
)
STREAMS_COORDINATORS = (NEWEST_SERVER, ("4.3.1", ("kafka-group-coordinator",)))
MIRROR_MAKER = ("4.3.1", ("connect-mirror",))  # none of 4.4.0 is served
LOCAL_STORAGE = "4.3.1"  # kafka-storage:test of 4.4.0 is not served; brokers of 4.4 lack classes that this one needs
LAST_WITH_ADMIN_UTILS = ("4.0.2", ("kafka-server-common",))
STREAMS = (NEWEST, ("kafka-streams",))
OTHER_STREAMS = tuple(
    (release, ("kafka-streams",))
    for release in ("4.3.1", "4.2.0", "4.0.0", "3.9.2", "3.8.0", "3.7.2", "3.6.0", "3.5.0", "3.3.0")
)
ALL = (
    NEWEST_CLIENT,
    LIVE_CLIENT,
    STREAMS,
    *SAMPLE_OF_CLIENTS,
    LEGACY_CLIENT,
    NEWEST_SERVER,
    *PREVIEW_SERVERS,
    CONNECT,
    STREAMS_COORDINATORS[1],
    MIRROR_MAKER,
    LAST_WITH_ADMIN_UTILS,
)


def classpath(version: str, artifacts: Sequence[str]) -> str:
    """Jars of ``org.apache.kafka:ARTIFACT:version`` with all they need, and a JSON reader."""
    wanted = [f"org.apache.kafka:{artifact}:{version}" for artifact in artifacts]
    return class_path(fetch([*wanted, _JSON]))


def compile_java(sources: Sequence[str], path: str, folder: Path = JAVA_SOURCES) -> str:
    """``path`` and the classes of ``sources`` (file names in ``folder``), compiled when something has changed.

    Raises MavenError where there is no ``javac``, RuntimeError with what it says where it refuses.
    """
    files = [folder / source for source in sources]
    digest = hashlib.sha256(path.encode() + b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    target = _COMPILED / f"{files[0].stem}-{digest}"
    if not target.is_dir():
        javac = shutil.which("javac")
        if javac is None:
            raise MavenError("there is no javac: install a JDK 17 (Debian: apt-get install openjdk-17-jdk-headless)")
        _COMPILED.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_COMPILED) as work:
            options = [*(f"-J{option}" for option in QUICK_JVM), "-nowarn", "-encoding", "UTF-8", "-cp", path]
            command = [javac, *options, "-d", f"{work}/classes", *map(str, files)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=_COMPILE_SECONDS, check=False)
            if done.returncode != 0:
                raise RuntimeError(f"javac refuses {', '.join(sources)}:\n{done.stdout}{done.stderr}")
            if not target.is_dir():
                Path(work, "classes").rename(target)
    return os.pathsep.join((str(target), path))


class Oracle:
    """A Java program that answers cases; ``main`` is its class, ``path`` where it and Kafka's classes are."""

    def __init__(self, main: str, path: str, *options: str) -> None:
        self._command = [str(find_java()), "-Xmx2g", *QUICK_JVM, *options, "-cp", path, main]

    def answers(self, cases: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The answer of each case, in order; a case whose process ended over it is answered by that process first."""
        left = list(cases)
        while left:
            done = 0
            for answer in self._run(left):
                yield answer
                done += 1
            left = left[done:]

    def _run(self, cases: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Answers of one process: of all cases, or of those up to one that never ends."""
        answered = 0
        with (
            tempfile.TemporaryFile(mode="w+", encoding="utf-8") as said,
            subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, encoding="utf-8"
            ) as process,
        ):
            writer = threading.Thread(target=_feed, args=(process, cases), daemon=True)
            writer.start()
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    yield json.loads(line)
                    answered += 1
            finally:
                if answered < len(cases) and process.poll() is None:
                    process.terminate()
                writer.join()
            code = process.wait()
            if code not in (0, _ENDLESS) or (code == 0 and answered != len(cases)) or answered == 0:
                said.seek(0)
                name = self._command[-1]
                raise RuntimeError(f"{name} ended with {code} after {answered} cases:\n{said.read()[-2000:]}")


def _feed(process: subprocess.Popen[str], cases: Sequence[dict[str, Any]]) -> None:
    assert process.stdin is not None
    try:
        with process.stdin as pipe:
            for case in cases:
                pipe.write(json.dumps(case) + "\n")
    except BrokenPipeError:
        return  # it ended over a case that never ends; the rest is asked again


if __name__ == "__main__":
    for version, artifacts in ALL:
        classpath(version, artifacts)
    for version in (NEWEST, OLDER, LOCAL_STORAGE):
        kafka_jars(version)
