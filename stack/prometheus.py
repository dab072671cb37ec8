"""Debian's Prometheus for tests: the installed one, else its package under ``.run``, fetched by apt."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from stack.waiting import StartError, start_twice, wait_started

_UNPACKED = Path(__file__).resolve().parents[1] / ".run" / "prometheus"


def prometheus_program() -> Path:
    installed = shutil.which("prometheus")
    if installed:
        return Path(installed)
    program = _UNPACKED / "root" / "usr" / "bin" / "prometheus"
    if not program.exists():
        _UNPACKED.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_UNPACKED) as folder:
            for command in (["apt-get", "download", "prometheus"], ["sh", "-c", "dpkg-deb -x prometheus_*.deb root"]):
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
                if done.returncode:
                    raise StartError("Prometheus", f"is not installed, and {' '.join(command)} failed", done.stderr)
            with contextlib.suppress(OSError):
                Path(folder, "root").rename(_UNPACKED / "root")
    return program


@contextmanager
def running_prometheus(folder: Path, targets: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Address of a ready server that scrapes each ``HOST:PORT`` of ``targets`` every second under its labels."""
    static = [{"targets": [target], "labels": dict(labels)} for target, labels in targets.items()]
    config = {"global": {"scrape_interval": "1s"}, "scrape_configs": [{"job_name": "kafka", "static_configs": static}]}
    (folder / "prometheus.yml").write_text(json.dumps(config))
    program = prometheus_program()
    process, address = start_twice("Prometheus", lambda: _started(program, folder))
    with process:
        try:
            yield address
        finally:
            process.terminate()


def _started(program: Path, folder: Path) -> tuple[subprocess.Popen[bytes], str]:
    address, log = f"127.0.0.1:{_free_port()}", folder / "prometheus.log"
    command = [
        str(program), f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
    ]  # fmt: skip
    with log.open("wb") as written:
        process = subprocess.Popen(command, stdout=written, stderr=written)
    try:
        wait_started(
            "Prometheus",
            lambda: _is_ready(f"http://{address}/-/ready"),
            ended=lambda: process.poll() is not None,
            log=lambda: log.read_text(errors="replace"),
        )
    except BaseException:
        process.kill()
        process.wait()
        raise
    return process, f"http://{address}"


def _is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=10):
            return True
    except OSError:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
