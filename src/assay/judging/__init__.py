"""Asking a model for a verdict and reading what it says: shared by judge scorers and rubrics."""
