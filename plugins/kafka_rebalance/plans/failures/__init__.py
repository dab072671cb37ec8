"""After a failure: who takes over, and what each broker then carries."""
