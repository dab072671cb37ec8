from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

COMMAND = """
import os

def add_arguments(parser):
    pass

def run(arguments):
    os.write(1, b"noise of a library\\n")
    print("{}")
    return 0
"""


def test_a_library_that_prints_is_heard_on_standard_error(tmp_path: Path) -> None:
    (tmp_path / "noisy_command.py").write_text(COMMAND)
    program = (
        "import sys\nfrom rebalance_advisor.cli import main as cli\ncli.COMMANDS['noisy'] = ('noisy_command', '')\n"
    )
    program += "code = cli.main(['noisy'])\nprint('afterwards')\nsys.exit(code)\n"
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == "{}\nafterwards\n"
    assert "noise of a library" in ended.stderr


def test_a_reader_that_goes_away_ends_the_command_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "noisy_command.py").write_text(COMMAND.replace('print("{}")', 'print("{}" * 1_000_000)'))
    program = (
        "import sys\nfrom rebalance_advisor.cli import main as cli\ncli.COMMANDS['noisy'] = ('noisy_command', '')\n"
    )
    program += "sys.exit(cli.main(['noisy']))\n"
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        text = process.stderr.read().decode()
    assert process.returncode == 1
    assert "Traceback" not in text
