"""Pure functions on numpy arrays: estimates, and intervals that cover what they say they cover."""
