"""Which plan is chosen where a cost other than bytes comes first, or a slack is given."""
