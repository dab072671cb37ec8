"""The options that every command has which reads an INPUT."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_rebalance.options.values import Rate, read_value
from rebalance_advisor.input_bytes import MAX_INPUT_BYTES

if TYPE_CHECKING:
    from kafka_rebalance.snapshot.model import ClusterSnapshot


def argument_of(kind: Any) -> Callable[[str], Any]:
    """Return what reads a value of a kind (``options/values.py``) for argparse."""

    def read(text: str) -> Any:
        try:
            return read_value(kind, text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return read


def add_input_options(parser: argparse.ArgumentParser) -> None:
    """``--max-input-bytes``: what the files of one input may hold together once they are unpacked; ``--strict``."""
    parser.add_argument(
        "--max-input-bytes", type=argument_of(Rate), default=MAX_INPUT_BYTES, metavar="B",
        help="what INPUT may hold, unpacked, e.g. 20GiB (8GiB)",
    )  # fmt: skip
    parser.add_argument(
        "--strict", action="store_true",
        help="refuse a folder with a file that cannot be read; else it is left out by name if the rest suffices",
    )  # fmt: skip


def read_given(path: Path, arguments: argparse.Namespace) -> ClusterSnapshot:
    """Return the snapshot of ``path``, read as the options of ``add_input_options`` say."""
    from rebalance_advisor.dumps.any_input import read_input

    return read_input(path, max_bytes=arguments.max_input_bytes, is_strict=getattr(arguments, "strict", False))
