"""Machine code that came with the package is used where everything fits, and nowhere else."""

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core.registry import cpu_target

from kafka_assignors import kernels
from kafka_assignors.kernels import carried_code, decorators
from kafka_assignors.kernels.carried_code import BASELINE, FEATURES, FEATURES_TEXT, has_baseline
from stack.wheel import collect_kernels
from tests.sample import for_each

INNER = """
from kafka_assignors.kernels.decorators import inner_kernel

@inner_kernel
def priced(numbers, number):
    return {price} * number + numbers.sum()
"""
OUTER = """
from kafka_assignors.kernels.decorators import kernel
from kafka_rebalance.inner import priced

@kernel
def doubled(numbers, number):
    return 2 * priced(numbers, number)

@kernel
def thrice(numbers, number):
    return doubled(numbers, number) + priced(numbers, number)
"""
PROGRAM = """
import sys
from pathlib import Path
import numpy as np
from numba.core import event

class Names(event.Listener):
    def __init__(self):
        self.names = set()
    def on_start(self, event):
        self.names.add(event.data["dispatcher"].py_func.__name__)
    def on_end(self, event):
        pass

compiled = Names()
event.register("numba:compile", compiled)
from kafka_rebalance.outer import doubled, thrice

halves = np.linspace(0.1, 7.7, 99)
print([doubled(halves, 7), thrice(halves, 3), doubled(np.arange(5), 2), doubled(halves[::2], 1)])
print(*compiled.names)
if sys.argv[1:]:
    from collect_kernels import collect_kernels
    collect_kernels(Path(sys.argv[1]))
"""
ALL = {"doubled", "thrice", "priced"}
# As on a processor of this kind; the machine that the tests run on may be another.
BASELINE_PROCESSOR = {"NUMBA_CPU_NAME": BASELINE, "NUMBA_CPU_FEATURES": FEATURES_TEXT}


def run(folder: Path, *arguments: Path, path: Path | None = None, **environment: str) -> tuple[str, set[str]]:
    """What the kernels answer, and which functions were compiled; with nothing in numba's own cache."""
    cache = folder / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    variables = {
        **os.environ, "PYTHONPATH": os.pathsep.join([str(path or folder), str(folder / "tools")]),
        "NUMBA_CACHE_DIR": str(cache), **environment,
    }  # fmt: skip
    command = [sys.executable, "-c", PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr
    answers, names = done.stdout.splitlines()
    return answers, set(names.split())


@pytest.fixture(scope="module")
def carried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small library of the same name, with the code of its kernels."""
    folder = tmp_path_factory.mktemp("carried")
    package = folder / "kafka_rebalance"
    package.mkdir()
    (package / "__init__.py").write_text("")
    shutil.copytree(kernels.__path__[0], package / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "tools").mkdir()
    shutil.copy(str(collect_kernels.__file__), folder / "tools")
    (package / "inner.py").write_text(INNER.format(price=3))
    (package / "outer.py").write_text(OUTER)
    assert run(folder, package, **BASELINE_PROCESSOR)[1] >= ALL
    return folder


def copied(carried: Path, place: Path) -> Path:
    shutil.copytree(carried, place, dirs_exist_ok=True)
    return place


def without_code(carried: Path, place: Path) -> Path:
    copied(carried, place)
    shutil.rmtree(place / "kafka_rebalance" / carried_code.FOLDER)
    return place


@pytest.mark.slow
def test_what_is_carried_is_used_and_answers_the_same(carried: Path, tmp_path: Path) -> None:
    plain = without_code(carried, tmp_path)
    answers, names = run(plain)
    assert names >= ALL
    assert run(carried, **BASELINE_PROCESSOR) == (answers, set())
    fits = has_baseline(cpu_target.target_context.codegen().magic_tuple()[2])
    assert run(carried) == (answers, set() if fits else names)


@pytest.mark.slow
def test_it_is_found_in_an_archive(carried: Path, tmp_path: Path) -> None:
    copied(carried, tmp_path / "files")
    archive = shutil.make_archive(str(tmp_path / "library"), "zip", tmp_path / "files", "kafka_rebalance")
    assert run(tmp_path / "files", path=Path(archive), **BASELINE_PROCESSOR) == run(carried, **BASELINE_PROCESSOR)


@pytest.mark.slow
def test_a_processor_that_lacks_one_feature_is_not_given_it(carried: Path) -> None:
    lacking = ",".join(f"{'-' if name == 'bmi2' else '+'}{name}" for name in FEATURES)
    answers, names = run(carried, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES=lacking)
    assert answers == run(carried, **BASELINE_PROCESSOR)[0]
    assert names >= ALL


@for_each("name", FEATURES)
def test_every_feature_is_asked_for(name: str) -> None:
    assert has_baseline(f"{FEATURES_TEXT},+avx512f,-xop")
    assert not has_baseline(FEATURES_TEXT.replace(f"+{name},", f"-{name},") if name != FEATURES[-1] else "+avx")


@pytest.mark.slow
def test_code_of_an_older_text_is_not_used_also_where_another_file_changed(carried: Path, tmp_path: Path) -> None:
    changed = copied(carried, tmp_path)
    (changed / "kafka_rebalance" / "inner.py").write_text(INNER.format(price=5))
    before, _ = run(carried, **BASELINE_PROCESSOR)
    answers, names = run(changed, **BASELINE_PROCESSOR)
    assert names >= ALL
    assert answers != before


@pytest.mark.slow
def test_types_that_are_not_carried_are_compiled(carried: Path, tmp_path: Path) -> None:
    """The code of one kernel is taken away: that one alone is compiled, and links what is carried."""
    lacking = copied(carried, tmp_path)
    for path in (lacking / "kafka_rebalance" / carried_code.FOLDER).rglob("outer.thrice*"):
        path.unlink()
    answers, names = run(lacking, **BASELINE_PROCESSOR)
    assert answers == run(carried, **BASELINE_PROCESSOR)[0]
    assert "thrice" in names
    assert "doubled" not in names


SMALLEST = """
from kafka_assignors.kernels.carried_code import has_folder
from kafka_assignors.kernels.decorators import kernel

@kernel
def half(number):
    return number / 2
"""


def test_a_kernel_runs_where_no_folder_is_writable(tmp_path: Path) -> None:
    """A file stands in the way of each folder that numba tries: permissions would not stop root."""
    package = tmp_path / "kafka_rebalance"
    shutil.copytree(kernels.__path__[0], package / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__init__.py").write_text("")
    (package / "smallest.py").write_text(SMALLEST)
    for folder in (package, package / "kernels"):
        (folder / "__pycache__").touch()
    variables = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    variables |= {
        "PYTHONPATH": str(tmp_path), "HOME": str(package / "__pycache__"),
        "XDG_CACHE_HOME": str(package / "__pycache__"),
    }  # fmt: skip
    program = "from kafka_rebalance.smallest import half, has_folder; print(half(3), has_folder())"
    done = subprocess.run(
        [sys.executable, "-c", program], env=variables, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.stdout, done.stderr) == ("1.5 False\n", "")


def test_a_folder_that_cannot_be_written_any_more_is_passed_over(tmp_path: Path) -> None:
    disk = decorators.kernel(_half)._cache._cache_file  # type: ignore[attr-defined]
    (tmp_path / "file").touch()
    disk._cache_path, disk._index_path = str(tmp_path / "file"), str(tmp_path / "file" / "half.nbi")
    disk.save(("types", ("triple", "", ""), "bytecode"), "code")
    assert disk.load(("types", ("triple", "", ""), "bytecode")) is None


def test_what_an_earlier_release_left_on_disk_and_cannot_be_read_is_as_good_as_nothing(tmp_path: Path) -> None:
    cached = decorators.kernel(_half)
    disk = cached._cache._cache_file  # type: ignore[attr-defined]
    index = tmp_path / "half.nbi"
    index.write_bytes(pickle.dumps(disk._version) + b"ckafka_rebalance.a_module_that_is_gone\nRecord\n.")
    disk._index_path = str(index)
    assert disk._load_index() == {}


def _half(number: float) -> float:
    return number / 2
