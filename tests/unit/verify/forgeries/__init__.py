"""Forged plans and files by subject: ``CATALOGUE`` holds all, ``judged`` verifies one.

``python -m tests.unit.verify.forgeries`` prints the table of all kinds of forgery over all kinds of plan.
"""

from tests.unit.verify.forgeries import (
    bounds,
    budgets,
    covers,
    files,
    identity,
    moves,
    numbers,
    parameters,
    steps,
    verdicts,
    waves,
)
from tests.unit.verify.forgeries.forging import CATALOGUE, Forgery, InapplicableError
from tests.unit.verify.forgeries.judging import Outcome, judged

__all__ = [
    "CATALOGUE", "Forgery", "InapplicableError", "Outcome", "bounds", "budgets", "covers", "files", "identity",
    "judged", "moves", "numbers", "parameters", "steps", "verdicts", "waves",
]  # fmt: skip
