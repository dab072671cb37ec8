"""The document by itself: shape, seal, parameters, sentences."""
