"""The functions of state that force elements are called back for, as a table for compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from dalembert.errors import ModelError
from dalembert.kernel.callback import FunctionOfState

CALLBACK = np.dtype([("address", np.intp)], align=True)


class Source(Protocol):
    """What a C function is made of; a copy in another process is made of it again."""

    @property
    def element(self) -> str:
        """How errors call the element that it belongs to."""
        ...

    def callback(self) -> FunctionOfState:
        """Return the C function."""
        ...


@dataclass
class _Keeper:
    """What the table was made of, and the C functions whose addresses it holds."""

    sources: tuple[Source, ...]
    functions: tuple[FunctionOfState, ...]


class Callbacks(NamedTuple):
    """Functions of state as a table of addresses: what `callback_table` returns.

    The table also keeps alive what compiled code calls back. A copy in another process is built anew.

    Parameters
    ----------
    table : recarray of CALLBACK
    """

    table: Any

    def raise_error(self) -> None:
        """Raise what the first failing function raised since the last time; compiled code got NaN from it."""
        keeper = self.table.keeper
        failed = [
            (source, function) for source, function in zip(keeper.sources, keeper.functions, strict=True) if function.error
        ]
        for _, function in failed[1:]:
            function.error = None
        for source, function in failed[:1]:
            error, function.error = function.error, None
            if isinstance(error, Exception) and not isinstance(error, ModelError):
                raise ModelError(source.element, f"its function failed: {type(error).__name__}: {error}") from error
            assert error is not None
            raise error

    def __reduce__(self) -> tuple[Any, ...]:
        return callback_table, (self.table.keeper.sources,)


def callback_table(sources: Sequence[Source]) -> Callbacks:
    """Return functions of state as a table for compiled code.

    Examples
    --------
    >>> callback_table([]).table.size
    0
    """
    functions = tuple(source.callback() for source in sources)
    table: Any = np.zeros(len(functions), CALLBACK).view(np.recarray)
    table["address"] = [function.address for function in functions]
    table.keeper = _Keeper(tuple(sources), functions)
    return Callbacks(table)
