"""What our Spark jobs share: what travels to the executors, what must be there, packing, progress."""
