"""Why no plan is lawful: the smallest cause that can be counted, and what is lacking."""
