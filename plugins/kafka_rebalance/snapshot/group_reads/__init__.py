"""What groups read: how fast, by their commits; and what of it nobody can see."""
