"""Ask a model for a verdict and parse its reply; shared by judge scorers and rubrics."""
