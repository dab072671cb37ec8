"""Whether the advisor itself works: what Prometheus reads of it."""
