"""One table of options for shell, form, REST call and store."""
