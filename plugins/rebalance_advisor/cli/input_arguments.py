"""The option that every command has which reads an INPUT."""

from __future__ import annotations

import argparse

from rebalance_advisor.input_bytes import MAX_INPUT_BYTES
from rebalance_advisor.option_texts import rate


def add_input_options(parser: argparse.ArgumentParser) -> None:
    """``--max-input-bytes``: what the files of one input may hold together once they are unpacked."""
    parser.add_argument(
        "--max-input-bytes", type=rate, default=MAX_INPUT_BYTES, metavar="B",
        help="what INPUT may hold, unpacked, e.g. 20GiB (8GiB)",
    )  # fmt: skip
