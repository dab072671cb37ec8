"""``apply_NAME``: a plan is shown, approved, checked on a fresh reading, carried out by a person, and verified."""
