"""Results of other tools as runs of the store: what compares, gates and calibrates here works on them."""
