"""Small clusters: the linear program of all moves, and replica sets rounded from it."""
