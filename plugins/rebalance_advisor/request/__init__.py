"""What a run is asked for: one table of options for shell, form, REST call and store, and the request they make."""
