"""The first run: kernels are compiled, in two processes, with a message."""
