"""From scores to advice in words: ``rules.evaluate_rules``. Light to import: a DAG file asks for the codes alone."""
