"""The report that a person reads in one minute: one self-contained HTML page, no network, no script."""
