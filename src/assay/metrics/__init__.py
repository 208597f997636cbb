"""Metrics, one per file, or a few that share their computation."""
