"""How long readings and advisories are kept, and in what form."""
