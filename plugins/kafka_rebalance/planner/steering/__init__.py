"""Plans made better by the cost that comes first: parts of a plan are decided anew, in whole numbers."""
