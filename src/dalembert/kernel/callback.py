"""Calls from compiled code into a user's function of time.

A function of time is handed to compiled code as the address of a C function ``double f(double t, intp order)`` that
returns the value (order 0), the first or the second derivative. The address is a number in a record: it neither changes
the type of the compiled loop nor its cache. Numba compiles what it can (5 ns a call); any other Python function is called
through ctypes (about 80 ns and its own time), from inside the same compiled loop.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numba
from numba import types
from numba.extending import intrinsic

from dalembert.kernel.compile import JIT_DISABLED

C_FUNCTION_OF_TIME = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_ssize_t)

if JIT_DISABLED:

    def call_function_of_time(address: int, t: float, order: int) -> float:
        """Return the value (order 0) or a derivative (1, 2) of the function of time at an address."""
        return float(C_FUNCTION_OF_TIME(int(address))(float(t), int(order)))

else:

    @intrinsic
    def call_function_of_time(typing_context: Any, address: Any, t: Any, order: Any) -> Any:
        """Return the value (order 0) or a derivative (1, 2) of the function of time at an address."""
        from llvmlite import ir

        signature = types.float64(types.intp, types.float64, types.intp)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            function = ir.FunctionType(ir.DoubleType(), [ir.DoubleType(), ir.IntType(64)])
            pointer = builder.inttoptr(arguments[0], function.as_pointer())
            return builder.call(pointer, arguments[1:])

        return signature, generate


class FunctionOfTime:
    """Keeps a C function of time alive and knows its address.

    Parameters
    ----------
    function : callable
        ``function(t, order) -> float``; compiled if Numba can, called through ctypes if not.

    Attributes
    ----------
    address : int
        For `call_function_of_time`.
    is_compiled : bool
        Whether Numba compiled the function.
    error : BaseException or None
        The first exception that the function raised; compiled code saw NaN in its place.

    Examples
    --------
    >>> square = FunctionOfTime(lambda t, order: t * t if order == 0 else (2.0 * t if order == 1 else 2.0))
    >>> call_function_of_time(square.address, 3.0, 1) if JIT_DISABLED else square.function(3.0, 1)
    6.0
    """

    def __init__(self, function: Callable[[float, int], float]) -> None:
        self.function = function
        self.error: BaseException | None = None
        self.is_compiled = False
        self._keep: Any = None
        try:
            self._keep = numba.cfunc("float64(float64, intp)")(function)
            self.address: int = self._keep.address
            self.is_compiled = True
        except (numba.core.errors.NumbaError, NotImplementedError, TypeError):
            self._keep = C_FUNCTION_OF_TIME(self._guarded)
            self.address = int(ctypes.cast(self._keep, ctypes.c_void_p).value or 0)

    def _guarded(self, t: float, order: int) -> float:
        try:
            return float(self.function(t, order))
        except BaseException as error:  # a C caller cannot see it: NaN stops the solver, which then raises it
            if self.error is None:
                self.error = error
            return float("nan")
