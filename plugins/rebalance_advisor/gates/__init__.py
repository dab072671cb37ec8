"""Gates with Great Expectations; nothing else imports it."""

from rebalance_advisor.gates.rules import Gate, Level, Rule, RuleResult, rule_results, rules_of
from rebalance_advisor.gates.run import GateError, GateResult, check_input, check_results, check_text

__all__ = [
    "Gate",
    "GateError",
    "GateResult",
    "Level",
    "Rule",
    "RuleResult",
    "check_input",
    "check_results",
    "check_text",
    "rule_results",
    "rules_of",
]
