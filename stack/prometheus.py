"""Debian's Prometheus for tests: the installed one, else its package under ``.run``, where apt can fetch it."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_UNPACKED = Path(__file__).resolve().parents[1] / ".run" / "prometheus"
_READY_SECONDS = 60.0


def prometheus_program() -> Path:
    """The program. Raises RuntimeError in words where neither PATH nor apt has it."""
    installed = shutil.which("prometheus")
    if installed:
        return Path(installed)
    program = _UNPACKED / "root" / "usr" / "bin" / "prometheus"
    if not program.exists():
        _UNPACKED.mkdir(parents=True, exist_ok=True)
        for command in (["apt-get", "download", "prometheus"], ["sh", "-c", "dpkg-deb -x prometheus_*.deb root"]):
            done = subprocess.run(command, cwd=_UNPACKED, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(
                    f"no Prometheus: install Debian's package ({' '.join(command)}: {done.stderr[-200:]})"
                )
    return program


@contextmanager
def running_prometheus(folder: Path, targets: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Its address, once it is ready: scrapes each ``HOST:PORT`` of ``targets`` every second under the labels given."""
    static = [{"targets": [target], "labels": dict(labels)} for target, labels in targets.items()]
    config = {"global": {"scrape_interval": "1s"}, "scrape_configs": [{"job_name": "kafka", "static_configs": static}]}
    (folder / "prometheus.yml").write_text(json.dumps(config))  # JSON is YAML
    port = _free_port()
    command = [
        str(prometheus_program()), f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{port}",
    ]  # fmt: skip
    with (folder / "prometheus.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            _wait(f"http://127.0.0.1:{port}/-/ready")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _wait(address: str) -> None:
    ends = time.monotonic() + _READY_SECONDS
    while True:
        try:
            with urllib.request.urlopen(address, timeout=1):
                return
        except (urllib.error.URLError, OSError) as error:
            if time.monotonic() > ends:
                raise RuntimeError(f"{address}: not ready after {_READY_SECONDS:.0f} s") from error
            time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
