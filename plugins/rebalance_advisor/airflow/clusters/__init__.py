"""``clusters.toml``: which clusters there are, and what each one wants of its DAGs."""
