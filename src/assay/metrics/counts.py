"""What recall, precision and F1 of counts share: numbers of hits, misses and false alarms in each sample."""

from __future__ import annotations

import numpy as np

from assay.metrics.columns import Numbers, check, numbers
from assay.metrics.table import Table


def counts(table: Table, *fields: str) -> Numbers:
    """The counts of the samples that have all of them; a negative one is an error."""
    rows = numbers(table, *fields)
    for field, column in zip(fields, rows.columns, strict=True):
        lowest = float(np.min(column, initial=0.0))
        check(lowest >= 0, f'the field "{field}" counts something, but holds {lowest:g}', field)
    return rows
