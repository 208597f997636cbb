"""The viewer: the pages of the report over a whole store, served with filters, comparisons and labels."""
