"""Scorers, one file each."""
