"""Declaration, linking and cache of compiled functions."""
