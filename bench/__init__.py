"""What assay costs, as ratios measured side by side in one go: `make bench`, or `python -m bench NAME...`."""
