"""From stored scores to metrics."""
