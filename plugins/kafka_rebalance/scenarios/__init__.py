"""What if a rack were lost, brokers added, loads grown, members gone: a snapshot that is changed, and nothing else."""
