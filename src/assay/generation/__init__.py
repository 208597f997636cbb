"""Datasets made by models, templates and code."""
