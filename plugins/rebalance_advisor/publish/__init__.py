"""From an advisory to what people and tools read: plan files, report, digest."""
