"""Plan files, report and digest of an advisory."""
