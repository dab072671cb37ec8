"""spark-submit as a child of the task: its lines go to the task's log as they come, and it ends with the task."""

from __future__ import annotations

import codecs
import contextlib
import os
import selectors
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from kafka_rebalance.errors import AdvisorError
from rebalance_advisor.mended_by_time import EXIT_LATER

_BINARY = "spark-submit"
_SECONDS_TO_END = 10.0
_SILENT_S = 0.5


class SubmitError(AdvisorError):
    """spark-submit is not there, or ended badly."""


class JobInterruptedError(SubmitError):
    """The job was ended from outside, or ended by an error that time can mend."""


class Submission:
    """One run of spark-submit; ``end`` may be called from a signal's handler."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ended = False

    def run(self, arguments: Sequence[str], added: Mapping[str, str], say: Callable[[str], None]) -> None:
        """Until it has ended; ``added`` goes into its environment, and into no argument.

        Raises SubmitError with the exit code and the last line that it wrote, also where it was ended and says 0.
        """
        last = ""
        with subprocess.Popen(
            [spark_submit(), *arguments], env={**os.environ, **added}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0,
        ) as process:  # fmt: skip
            self._process = process
            for line in _lines(process):
                if written := line.rstrip():
                    last = written
                    say(written)
        if process.returncode or self._is_ended:
            how = "was ended" if self._is_ended else "ended"
            code = process.returncode
            # Below 0: a signal ended spark-submit itself; above 128: what it started.
            is_interrupted = self._is_ended or code == EXIT_LATER or code < 0 or code > 128
            kind = JobInterruptedError if is_interrupted else SubmitError
            raise kind(f"{_BINARY} {how} with code {code}; its last line: {last or 'none'}")

    def end(self) -> None:
        """The driver and what it has started, politely first."""
        if self._process is None or self._process.poll() is not None:
            return
        self._is_ended = True  # whose child is ended may take that for its own good end
        import psutil

        family = psutil.Process(self._process.pid)
        processes = [*family.children(recursive=True), family]
        for process in processes:
            _signal(process.terminate)
        _, alive = psutil.wait_procs(processes, timeout=_SECONDS_TO_END)
        for process in alive:
            _signal(process.kill)


def _lines(process: subprocess.Popen[bytes]) -> Iterator[str]:
    """What it writes, as it comes, until it has ended and its output is silent.

    Not until that is closed: a Python worker that is left over (its daemon was killed) holds it open for as long as it
    lives, and the task would wait with it.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    pending, output = "", process.stdout
    if output is None:
        return
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while True:
            has_ended = process.poll() is not None
            if selector.select(_SILENT_S):
                read = os.read(output.fileno(), 1 << 16)
                *whole, pending = (pending + decoder.decode(read)).split("\n")
                yield from whole
                if not read:
                    break
            elif has_ended:
                break
    yield pending


def spark_submit() -> str:
    """The one on the PATH, else the one of the pyspark beside this Python. Raises SubmitError where there is none."""
    beside = Path(sys.executable).parent / _BINARY
    found = shutil.which(_BINARY) or (str(beside) if beside.is_file() else None)
    if found is None:
        raise SubmitError(f"no {_BINARY} on the PATH and none beside {sys.executable}: install pyspark there")
    return found


def _signal(send: Callable[[], None]) -> None:
    import psutil

    with contextlib.suppress(psutil.NoSuchProcess):  # it ended by itself meanwhile
        send()
