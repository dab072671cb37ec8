"""The request of a run: one table of options for shell, form, REST call and store."""
