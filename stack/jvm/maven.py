"""Jars from Maven Central, by the Maven client alone, kept under ``.run/maven``: fetched once, then used offline.

``fetch`` is the only access: for Kafka's brokers and tools, Kafka's classes for the conformance tests, and the rest.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.sax.saxutils import escape

from stack.jvm.java import QUICK_JVM

RUN = Path(__file__).resolve().parents[2] / ".run"
CACHE = RUN / "maven"

_COORDINATE = re.compile(r"[\w.-]+:[\w.-]+:[\w.-]+(:[\w.-]+)?")
# A silent repository would hold Maven for half an hour, its own limit. A later try begins with the cached files.
_TRIES = 4
_TRY_SECONDS = 150
_SILENCE_MILLISECONDS = 20_000


class MavenError(RuntimeError):
    """Jars could not be fetched; the message names what to install or the missing artefact."""


def fetch(coordinates: Sequence[str], *, is_transitive: bool = True) -> Path:
    """Folder with the jars of ``coordinates`` (``group:artifact:version`` or ``…:version:classifier``).

    With dependencies, unless ``is_transitive`` is false. An existing folder is complete and needs no network. Safe
    for several processes at once. Raises MavenError where Maven is missing, an artefact does not exist, or the
    network fails.
    """
    artifacts = tuple(coordinates)
    for artifact in artifacts:
        if not _COORDINATE.fullmatch(artifact):
            raise MavenError(f"{artifact!r} is no Maven coordinate; write group:artifact:version[:classifier]")
    folder = CACHE / _folder_name(artifacts, is_transitive=is_transitive)
    if folder.is_dir():
        return folder
    CACHE.mkdir(parents=True, exist_ok=True)
    with _one_at_a_time(CACHE / ".lock"):
        if not folder.is_dir():
            _download(artifacts, folder, is_transitive=is_transitive)
    return folder


def class_path(folder: Path) -> str:
    return os.pathsep.join(str(jar) for jar in sorted(folder.glob("*.jar")))


def find_java(major: int = 17) -> Path:
    home = os.environ.get("JAVA_HOME")
    java = Path(home, "bin", "java") if home else Path(shutil.which("java") or "java")
    return _at_least(java, major)


@cache
def _at_least(java: Path, major: int) -> Path:
    try:
        output = subprocess.run([java, "-version"], capture_output=True, text=True, check=True, timeout=300).stderr
    except (OSError, subprocess.SubprocessError) as failure:
        raise MavenError(f"{java} does not run ({failure}); install Java {major}+, or set JAVA_HOME") from None
    match = re.search(r'version "(\d+)', output)
    if match is None or int(match[1]) < major:
        version = match[1] if match else output.strip()
        raise MavenError(f"{java} is version {version}, {major}+ is needed; set JAVA_HOME to a newer one")
    return java


def _folder_name(coordinates: Sequence[str], *, is_transitive: bool) -> str:
    """Readable and unique for each list."""
    digest = hashlib.sha256("\n".join([*sorted(coordinates), str(is_transitive)]).encode()).hexdigest()[:8]
    first = coordinates[0].split(":")
    return f"{first[1]}-{first[2]}-{digest}"


def _download(coordinates: Sequence[str], folder: Path, *, is_transitive: bool) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise MavenError(
            f"{coordinates[0]} is to be fetched and there is no Maven: install it "
            "(Debian: apt-get install maven; macOS: brew install maven), or copy the jars into " + str(folder)
        )
    print(f"maven: fetching {' '.join(coordinates)}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix="fetch-") as work:
        (Path(work) / "pom.xml").write_text(_pom(coordinates), encoding="utf-8")
        jars = Path(work) / "jars"
        command = [
            maven, "-q", "-B", "-ntp", "-f", f"{work}/pom.xml", f"-Dmaven.repo.local={CACHE / 'repository'}",
            f"-Dmaven.wagon.rto={_SILENCE_MILLISECONDS}",  # Maven 3.8 and older; the next one is for 3.9 and newer
            f"-Daether.connector.requestTimeout={_SILENCE_MILLISECONDS}",
            "dependency:copy-dependencies", f"-DoutputDirectory={jars}",
            f"-DexcludeTransitive={'false' if is_transitive else 'true'}",
        ]  # fmt: skip
        for left in reversed(range(_TRIES)):
            failure = _try(command, jars)
            if failure is None:
                jars.rename(folder)
                return
            if not failure.is_passing or left == 0:
                raise MavenError(f"Maven could not fetch {', '.join(coordinates)}:\n{failure.output}")
            print(f"maven: trying again ({failure.output.splitlines()[0]})", file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class _Failure:
    """Maven's message, and whether a retry may help: after a silent network, not after a wrong name."""

    output: str
    is_passing: bool


def _try(command: Sequence[str], jars: Path) -> _Failure | None:
    environment = os.environ | {"MAVEN_OPTS": " ".join((*QUICK_JVM, os.environ.get("MAVEN_OPTS", "")))}
    try:
        done = subprocess.run(
            [*command, "-U"], env=environment, capture_output=True, text=True, timeout=_TRY_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return _Failure(f"the repository did not answer within {_TRY_SECONDS} s", is_passing=True)
    if done.returncode == 0 and any(jars.glob("*.jar")):
        return None
    errors = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line][:5]
    text = "\n".join(errors) or f"it ended with {done.returncode} and said nothing"
    return _Failure(text, is_passing="Could not find artifact" not in text)


def _pom(coordinates: Sequence[str]) -> str:
    dependencies = []
    for coordinate in coordinates:
        group, artifact, version, *classifier = (escape(part) for part in coordinate.split(":"))
        extra = f"<classifier>{classifier[0]}</classifier>" if classifier else ""
        dependencies.append(
            f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
            f"<version>{version}</version>{extra}</dependency>"
        )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>advisor</groupId><artifactId>jars</artifactId><version>1</version>"
        f"<dependencies>{''.join(dependencies)}</dependencies></project>"
    )


@contextmanager
def _one_at_a_time(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
