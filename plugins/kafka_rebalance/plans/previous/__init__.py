"""Yesterday's plan: read again, continued, or left."""
