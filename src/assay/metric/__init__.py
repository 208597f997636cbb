"""From scores to numbers: one file a metric, each with its settings and its function."""
