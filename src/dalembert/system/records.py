"""Tables of records for compiled code."""

from __future__ import annotations

from typing import Any

import numpy as np


def table_of(dtype: Any, records: list[dict[str, Any]]) -> Any:
    """Return the table of a family from its records."""
    table = np.zeros(len(records), dtype)
    for k, record in enumerate(records):
        for label in dtype.names:
            table[label][k] = record[label]
    return table.view(np.recarray)


def elements_of(*families: list[dict[str, Any]]) -> tuple[str, ...]:
    """Return the names of the elements that records belong to."""
    return tuple(record["element"] for records in families for record in records)
