"""The first run: kernels are compiled, in two processes, and that is said."""
