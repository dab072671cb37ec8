"""A window of history: readings of one cluster → each partition's hourly rates → mean, p95 or busiest hour."""
