import io
import subprocess
import sys
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numba
import pytest

from kafka_rebalance.errors import UsageError
from rebalance_advisor.spark.on_executors import SETTING, is_shipped, make_archive, needs, write_archive

# Nothing of the checkout is on this path: the archive unpacked, and what is installed of others.
IN_THE_ARCHIVE_ALONE = """
import sys
sys.path[:] = [{folder!r}, *(path for path in sys.path if path != {plugins!r})]
import kafka_rebalance.groups.group_replay, kafka_rebalance.plans.pipeline
from rebalance_advisor.version import advisor_version
assert kafka_rebalance.__file__.startswith({folder!r}), kafka_rebalance.__file__
print(advisor_version())
"""


@pytest.fixture(scope="module")
def archive():
    return make_archive()


def test_the_same_code_is_the_same_archive(archive):
    assert make_archive() == archive
    names = zipfile.ZipFile(io.BytesIO(archive.content)).namelist()
    assert {"kafka_rebalance/errors.py", "rebalance_advisor/spark/mapper.py"} <= set(names)
    assert not [
        name for name in names if "__pycache__" in name or "/airflow/" in name or name.endswith((".nbi", ".sql"))
    ]


def test_the_archive_is_enough_to_compute_from_and_tells_the_same_version(archive, tmp_path):
    from pathlib import Path

    import kafka_rebalance
    from rebalance_advisor.version import advisor_version

    with zipfile.ZipFile(write_archive(archive, tmp_path)) as packed:
        packed.extractall(tmp_path / "unpacked")
    plugins = str(Path(kafka_rebalance.__file__).parents[1])
    code = IN_THE_ARCHIVE_ALONE.format(folder=str(tmp_path / "unpacked"), plugins=plugins)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == f"{advisor_version()}\n", done.stderr


def test_whoever_reads_the_archive_while_threads_write_it_again_finds_it_whole(archive, tmp_path):
    path = write_archive(archive, tmp_path)
    is_over = threading.Event()

    def read():
        sizes = set()
        while not is_over.is_set():
            sizes.add(len(path.read_bytes()))
        return sizes

    with ThreadPoolExecutor(8) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        writers = [pool.submit(write_archive, archive, tmp_path) for _ in range(60)]
        assert {writer.result(60) for writer in writers} == {path}
        is_over.set()
        assert set().union(*(reader.result(60) for reader in readers)) == {len(archive.content)}
    assert [file.name for file in tmp_path.iterdir()] == [archive.name]


def test_an_executor_is_asked_for_the_drivers_own_versions(archive):
    asked = needs(archive)
    assert asked["parts"]["numba"] == numba.__version__
    assert asked["code"]["archive"] == archive.name
    assert needs(None)["code"] == asked["code"] | {"archive": ""}


def test_code_travels_unless_the_setting_says_that_it_is_there(monkeypatch):
    monkeypatch.delenv(SETTING, raising=False)
    assert is_shipped()
    monkeypatch.setenv(SETTING, "installed")
    assert not is_shipped()
    monkeypatch.setenv(SETTING, "instaled")
    with pytest.raises(UsageError, match="ADVISOR_SPARK_CODE: 'instaled'"):
        is_shipped()
