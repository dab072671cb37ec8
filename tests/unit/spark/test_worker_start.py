import os
import pickle
import socket
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rebalance_advisor.spark import worker_start
from rebalance_advisor.spark.executor_error import executor_error
from rebalance_advisor.spark.on_executors import needs
from rebalance_advisor.spark.worker_start import code_digest, missing_parts, running, unpack_once
from rebalance_advisor.version import advisor_version


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "advisor-1234.zip"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("package/__init__.py", "ANSWER = 42\n")
    return path


def test_what_is_there_in_the_same_minor_version_is_enough():
    major, minor, *_ = np.__version__.split(".")
    assert list(missing_parts({"numpy": f"{major}.{minor}.99"})) == []


def test_what_is_missing_old_or_broken_is_named(tmp_path, monkeypatch):
    (tmp_path / "broken_part.py").write_text("raise ImportError('needs libfoo.so')\n")
    (tmp_path / "old_part.py").write_text("__version__ = '0.61.2'\n")
    (tmp_path / "half_part.py").write_text("import absent_dependency\n")
    monkeypatch.syspath_prepend(tmp_path)
    parts = {"broken_part": "1.0", "old_part": "0.68.1", "half_part": "2.0", "absent_part": "26.0.1"}
    assert list(missing_parts(parts)) == [
        ("broken_part", "not importable (needs libfoo.so)", "1.0"),
        ("old_part", "0.61.2", "0.68.1"),
        ("half_part", "not importable (No module named 'absent_dependency')", "2.0"),
        ("absent_part", "missing", "26.0.1"),
    ]


def test_an_archive_is_unpacked_once_whoever_asks(archive, tmp_path):
    """Eight at a time: one folder, complete, and nothing half-made beside it."""
    folder = tmp_path / "cache" / "spark"
    with ThreadPoolExecutor(8) as pool:
        folders = set(pool.map(lambda _: unpack_once(archive, folder), range(16)))
    assert folders == {folder / "code-advisor-1234"}
    assert [path.name for path in folder.iterdir()] == ["code-advisor-1234"]
    kept = folder / "code-advisor-1234" / "package" / "kernel.nbi"
    kept.write_text("compiled")
    unpack_once(archive, folder)
    assert kept.read_text() == "compiled"
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_folder_into_which_others_may_write_is_not_used(archive, tmp_path):
    """Compiled kernels are unpickled from there."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match="others may write there"):
        unpack_once(archive, folder)
    assert list(folder.iterdir()) == []


def test_versions_that_nobody_used_for_a_month_go(archive, tmp_path):
    folder = tmp_path / "cache"
    for name, days in (("code-old", 31), ("code-recent", 29)):
        (folder / name).mkdir(parents=True)
        os.utime(folder / name, (time.time() - days * 86_400,) * 2)
    folder.chmod(0o700)
    unpack_once(archive, folder)
    assert sorted(path.name for path in folder.iterdir()) == ["code-advisor-1234", "code-recent"]


def test_the_digest_is_of_the_text_of_modules_alone(tmp_path):
    for copy in ("a", "b"):
        (tmp_path / copy / "sub").mkdir(parents=True)
        (tmp_path / copy / "sub" / "module.py").write_text("X = 1\n")
    (tmp_path / "b" / "sub" / "module.nbi").write_text("compiled")
    first, second = (code_digest({"package": tmp_path / copy}) for copy in ("a", "b"))
    assert first == second
    (tmp_path / "b" / "sub" / "module.py").write_text("X = 2\n")
    assert code_digest({"package": tmp_path / "b"}) != first


def test_a_task_looks_before_it_unpickles_what_it_is_to_do():
    """As on an executor that joined after the probe: the driver gets its line; a complete one does the step."""
    needed = needs(None)
    assert list(running(needed, pickle.dumps(reversed))([1, 2, 3])) == [3, 2, 1]
    lacking = {**needed, "parts": {"absent_part": "1.2"}, "code": needed["code"] | {"digest": "0" * 64}}
    with pytest.raises(RuntimeError) as raised:
        list(running(lacking, b"no pickle")(iter(())))
    message = str(executor_error(f"RuntimeError: {raised.value}\n"))
    absent, ours = message.split("; ")
    version = f"{advisor_version()} of 000000000000"
    assert ours.startswith(f"Spark executor on {socket.gethostname()}: {worker_start.OUR_CODE} is one of ")
    assert f"{version} is needed" in ours
    assert absent.endswith(f"absent_part is missing, 1.2 is needed: install absent_part==1.2 in {sys.executable}")


def test_it_needs_nothing_but_the_standard_library():
    """It runs where nothing is installed yet: a Python without site-packages imports it as a plain file."""
    code = f"import runpy; runpy.run_path({worker_start.__file__!r}); print('ok')"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True)
    assert done.stdout == "ok\n", done.stderr
