"""Great Expectations guards the doors: what goes into advice, and what comes out of it. Nothing else imports it."""

from rebalance_advisor.gates.rules import RULES, Gate, Level, Rule
from rebalance_advisor.gates.run import GateError, GateResult, check_input, check_results, check_words

__all__ = ["RULES", "Gate", "GateError", "GateResult", "Level", "Rule", "check_input", "check_results", "check_words"]
