"""One file a kind of page: what it reads and which template shows it."""
