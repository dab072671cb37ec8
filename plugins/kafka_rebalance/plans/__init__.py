"""From a request to a plan: request, search, waves, explanations, document, check."""
