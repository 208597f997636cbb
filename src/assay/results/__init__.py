"""Frozen result values, one file per topic, and the JSON that is stored with a run."""
