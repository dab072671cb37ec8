"""One cause, one finding: what explains what."""
