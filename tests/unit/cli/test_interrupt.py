"""Ctrl-C at any moment is one line on standard error and exit code 130; existing files stay."""

import json
import os
import signal
import sys
from pathlib import Path
from subprocess import PIPE, Popen, run

import pytest

from kafka_rebalance.snapshot.codec import snapshot_to_document
from tests.sample import sample
from tests.unit.planner.sample_clusters import brokers, cluster, row

# Ctrl-C at the n-th event of a kind that the interpreter reports: imports, files opened, folders made.
PROGRAM = """
import os, signal, sys
event, moment, seen = sys.argv[1], int(sys.argv[2]), 0
del sys.argv[1:3]
def listen(name, _):
    global seen
    seen += name == event
    if name == event and seen == moment:
        os.kill(os.getpid(), signal.SIGINT)
from rebalance_advisor.cli.shell import main
sys.addaudithook(listen)
sys.exit(main())
"""


MOMENTS = [
    ("import", 1), ("import", 60), ("import", 600), ("open", 30), ("os.mkdir", 1), ("os.mkdir", 2), ("os.mkdir", 4),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("interrupt")
    snapshot = cluster([row("t", partition, [0, 1]) for partition in range(12)], brokers(4))
    (folder / "cluster.json").write_text(json.dumps(snapshot_to_document(snapshot)))
    return folder


def heed_interrupt() -> None:
    """In the child, before it starts: a test run in the background has Ctrl-C ignored, and hands that on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def command(folder: Path, out: str) -> list[str]:
    return ["plan", str(folder / "cluster.json"), "--out", str(folder / out), "--no-frontier"]


@pytest.mark.parametrize(
    ("event", "moment"),
    sample(MOMENTS, [("import", 60)]),
)
def test_one_line_wherever_it_strikes(folder: Path, event: str, moment: int) -> None:
    line = [sys.executable, "-c", PROGRAM, event, str(moment), *command(folder, "plan")]
    done = run(line, capture_output=True, text=True, check=False, preexec_fn=heed_interrupt)
    assert (done.returncode, done.stdout) == (130, "")
    assert [stderr_line for stderr_line in done.stderr.splitlines() if " s  " not in stderr_line] == ["interrupted"]
    assert not (folder / "plan").exists()


def test_one_line_while_kernels_are_compiled(folder: Path, tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    line = [sys.executable, "-m", "rebalance_advisor.cli.main", *command(folder, "never")]
    child = {"stdout": PIPE, "stderr": PIPE, "text": True, "env": environment, "preexec_fn": heed_interrupt}
    with Popen(line, **child) as process:
        assert process.stderr is not None
        while "kernels of this command are compiled" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    assert [stderr_line for stderr_line in rest.splitlines() if " s  " not in stderr_line] == ["interrupted"]
    assert not (folder / "never").exists()


@pytest.mark.slow
def test_what_was_begun_is_taken_back(folder: Path) -> None:
    done = run([sys.executable, "-c", PROGRAM, "os.mkdir", "0", *command(folder, "kept")], check=False, stdout=PIPE)
    assert done.returncode == 0
    before = {path: path.read_bytes() for path in (folder / "kept").rglob("*") if path.is_file()}
    strike = [sys.executable, "-c", PROGRAM, "os.mkdir", "3", *command(folder, "kept")]
    assert run(strike, check=False, capture_output=True, preexec_fn=heed_interrupt).returncode == 130
    assert {path: path.read_bytes() for path in (folder / "kept").rglob("*") if path.is_file()} == before
    assert not list(folder.glob(".kept*"))


@pytest.mark.slow
def test_where_it_is_ignored_it_stays_ignored(folder: Path) -> None:
    program = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n" + PROGRAM
    line = [sys.executable, "-c", program, "import", "60", *command(folder, "background")]
    assert run(line, check=False, capture_output=True).returncode == 0
    assert (folder / "background" / "plan.json").exists()
