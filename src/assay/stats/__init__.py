"""Pure functions on numpy arrays: estimates, and intervals whose coverage is verified by simulation."""
