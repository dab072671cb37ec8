"""The first minute of the bare wheel, no kernel on disk: commands on the demo dumps.

    python -m tests.benchmarks.bench_first_run [--runs 5]

The wheel is built and installed into an environment of its own without any extra. Before each run the kernels that
numba keeps are removed; the second run has the kernels of the first. Prints the medians by the clock and of CPU
seconds of all processes.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stack.demo.cluster import write_demo_cluster

ROOT = Path(__file__).parents[2]
COMMANDS = ("plan", "advise")


@dataclass(frozen=True, slots=True)
class Installed:
    """A wheel in an environment of its own."""

    folder: Path
    wheel_mib: float

    @property
    def site(self) -> Path:
        (result,) = (self.folder / "lib").glob("python*/site-packages")
        return result

    def forget_kernels(self) -> None:
        """Remove what numba left on disk, wherever it did."""
        for pattern in ("*.nbi", "*.nbc"):
            for path in self.site.rglob(pattern):
                path.unlink()
        shutil.rmtree(self.folder / "cache", ignore_errors=True)

    def run(self, command: str, dumps: Path, out: Path) -> tuple[float, float]:
        """(seconds by the clock, CPU seconds of all its processes)."""
        environment = {**clean_environment(), "XDG_CACHE_HOME": str(self.folder / "cache")}
        program = self.folder / "bin" / "rebalance-advisor"
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(
            [program, command, dumps, "--out", out], env=environment, check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return time.monotonic() - started, used


def clean_environment() -> Mapping[str, str]:
    """A shell's, without what leads into this checkout."""
    mine = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE", "NUMBA_CACHE_DIR")
    return {name: value for name, value in os.environ.items() if name not in mine}


def installed(scratch: Path) -> Installed:
    """Built from a copy of the tracked files, so that nothing compiled here comes along."""
    source, folder = scratch / "source", scratch / "venv"
    subprocess.run(["git", "clone", "--quiet", ROOT, source], check=True)
    environment = {**clean_environment(), "PYTHONPATH": f"{source / 'plugins'}{os.pathsep}{source}"}
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", scratch / "wheel"]
    subprocess.run(build, cwd=source, env=environment, check=True, stdout=subprocess.DEVNULL)
    (wheel,) = (scratch / "wheel").glob("*.whl")
    uv = Path(sys.executable).parent / "uv"
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, folder], check=True)
    install = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", folder / "bin" / "python", wheel]
    subprocess.run(install, check=True)
    return Installed(folder, wheel.stat().st_size / 2**20)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        write_demo_cluster(scratch / "dumps")
        wheel = installed(scratch)
        print(f"wheel of {wheel.wheel_mib:.1f} MiB")
        print("command  first_s  first_cpu_s  second_s  (medians; lowest to highest first_s)")
        for command in COMMANDS:
            print(line(wheel, command, arguments.runs, scratch), flush=True)
    return 0


def line(wheel: Installed, command: str, runs: int, scratch: Path) -> str:
    """The medians of one command, to print."""
    first, cpu, second = [], [], []
    for _ in range(runs):
        wheel.forget_kernels()
        seconds, used = wheel.run(command, scratch / "dumps", scratch / command)
        first.append(seconds)
        cpu.append(used)
        second.append(wheel.run(command, scratch / "dumps", scratch / command)[0])
    median = statistics.median
    return (
        f"{command:<7} {median(first):>8.1f} {median(cpu):>12.1f} "
        f"{median(second):>9.1f}  ({min(first):.1f} to {max(first):.1f})"
    )


if __name__ == "__main__":
    sys.exit(main())
