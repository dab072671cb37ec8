"""Read record samples from files into counted batches."""
