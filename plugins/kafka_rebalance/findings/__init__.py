"""From scores to findings: ``rules.evaluate_rules``. Light to import: a DAG file needs only the codes."""
