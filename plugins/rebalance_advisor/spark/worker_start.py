"""First code on an executor: put our code on the path and check all parts.

cloudpickle sends it by value, because our packages are not importable yet: it uses only the standard library. The
archive is unpacked once into a folder named by its digest, which keeps compiled kernels. They are unpickled, so the
folder must be private; else the executor's own is used.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import pickle
import shutil
import socket
import stat
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

# Host, Python, part, found, needed.
Finding = tuple[str, str, str, str, str]
Needs = Mapping[str, Any]

PACKAGES = ("kafka_assignors", "kafka_rebalance", "rebalance_advisor")
# Only an exception's text reaches the driver; JSON follows this mark.
MARK = "advisor findings: "
CODE_DIR = "ADVISOR_SPARK_CODE_DIR"
MISSING = "missing"
OUR_CODE = "kafka-rebalance-advisor"
_FOLDER_PREFIX = "code-"
_UNUSED_DAYS = 30


def report(needs: Needs, _numbers: Iterable[int] = ()) -> Iterator[Finding]:
    host, python = socket.gethostname(), sys.executable
    for part, actual, needed in (*missing_parts(needs["parts"]), *_without_code(needs["code"])):
        yield host, python, part, actual, needed


def running(needs: Needs, payload: bytes) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Check all parts before the step is unpickled."""

    def run(rows: Iterator[Any]) -> Iterator[Any]:
        findings = list(report(needs))
        if findings:
            raise RuntimeError(MARK + json.dumps(findings))
        yield from pickle.loads(payload)(rows)  # noqa: S301 - Spark's own way

    return run


def missing_parts(parts: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for name, needed in parts.items():
        try:
            actual = str(importlib.import_module(name).__version__)
        except ModuleNotFoundError as error:
            actual = MISSING if error.name == name else f"not importable ({error})"
        except Exception as error:  # noqa: BLE001 - an installation may be broken in any way
            actual = f"not importable ({error})"
        if actual.split(".")[:2] != needed.split(".")[:2]:
            yield name, actual, needed


def code_digest(folders: Mapping[str, Path]) -> str:
    digest = hashlib.sha256()
    for package, folder in sorted(folders.items()):
        for path in sorted(folder.rglob("*.py")):
            text = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{package}/{path.relative_to(folder).as_posix()} {text}\n".encode())
    return digest.hexdigest()


def package_folders() -> dict[str, Path]:
    folders = {}
    for package in PACKAGES:
        with suppress(ImportError):
            init_file = importlib.import_module(package).__file__
            if init_file is not None:
                folders[package] = Path(init_file).parent
    return folders


def _without_code(code: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    if code["archive"]:
        _add_to_path(_unpacked(code["archive"]))
        return
    folders = package_folders()
    needed = f"{code['version']} of {code['digest'][:12]}"
    if len(folders) < len(PACKAGES):
        yield OUR_CODE, MISSING, needed
    elif (digest := code_digest(folders)) != code["digest"]:
        yield OUR_CODE, f"one of {digest[:12]}", needed


def _add_to_path(folder: Path) -> None:
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
        importlib.invalidate_caches()


def _unpacked(archive: str) -> Path:
    from pyspark import SparkFiles

    path = Path(SparkFiles.get(archive))
    for folder in _cache_folders():
        with suppress(OSError):
            return unpack_once(path, folder)
    return unpack_once(path, Path(SparkFiles.getRootDirectory()) / "advisor")


def _cache_folders() -> Iterator[Path]:
    folder = os.environ.get(CODE_DIR)
    if folder:
        yield Path(folder)
    with suppress(RuntimeError):  # no home
        cache = os.environ.get("XDG_CACHE_HOME")
        yield (Path(cache) if cache else Path.home() / ".cache") / "kafka-rebalance-advisor" / "spark"


def unpack_once(archive: Path, parent: Path) -> Path:
    """Atomic, safe with parallel processes. Raises OSError if ``parent`` is not private."""
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    about = parent.stat()
    if about.st_uid != os.geteuid() or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError(f"{parent}: others may write there")
    folder = parent / f"{_FOLDER_PREFIX}{archive.stem}"
    if not folder.exists():
        _forget_unused(parent)
        fresh = Path(tempfile.mkdtemp(prefix="new-", dir=parent))
        try:
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(fresh)
            fresh.rename(folder)
        except OSError:
            if not folder.exists():  # another process was quicker
                raise
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    os.utime(folder)
    return folder


def _forget_unused(parent: Path) -> None:
    oldest = time.time() - _UNUSED_DAYS * 86_400
    for folder in parent.glob(f"{_FOLDER_PREFIX}*"):
        with suppress(OSError):
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
