"""Run files: many tasks and models, their policies and repeats."""
