"""From a snapshot and wishes to a plan document: options, draft, explanation, verdict, staying put."""
