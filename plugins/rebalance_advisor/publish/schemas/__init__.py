"""JSON schemas of the files that are published, for programs that read them."""
