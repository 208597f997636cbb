"""Metrics; a file holds one, or a few that share their computation."""
