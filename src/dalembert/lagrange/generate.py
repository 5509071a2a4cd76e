"""Compiled functions from SymPy expressions: common subexpressions shared, one module in the cache folder, imported.

Numba keeps nothing on disk of what came out of `exec`; a generated module is a file like any other, so that the second process
loads machine code instead of compiling.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import sympy as sp
from sympy.printing.pycode import PythonCodePrinter

from dalembert.errors import ModelError
from dalembert.kernel.compile import cache_root

HEADER = '''"""Made from the expressions of a user's model; may be removed at any time."""

import math

from dalembert.kernel.compile import compiled

'''


class _Printer(PythonCodePrinter):  # type: ignore[misc]
    """Prints what Numba compiles."""

    def _print_sign(self, e: Any) -> str:
        argument = self._print(e.args[0])
        return f"(1.0 if {argument} > 0.0 else (-1.0 if {argument} < 0.0 else 0.0))"

    def _print_Heaviside(self, e: Any) -> str:
        argument = self._print(e.args[0])
        return f"(1.0 if {argument} > 0.0 else (0.0 if {argument} < 0.0 else 0.5))"

    def _print_DiracDelta(self, e: Any) -> str:
        return "0.0"  # where a sign or a step jumps, its derivative is left out

    def _print_Integer(self, e: Any) -> str:
        return f"{int(e)}.0"

    def _print_Rational(self, e: Any) -> str:
        return f"({int(e.p)}.0/{int(e.q)}.0)"

    def _print_Pow(self, e: Any, rational: bool = False, sqrt: str = "math.sqrt") -> str:
        base, exponent = e.as_base_exp()
        if exponent.is_Integer and abs(int(exponent)) <= 6:
            factor = f"({self._print(base)})"
            product = "*".join([factor] * abs(int(exponent)))
            return f"({product})" if exponent > 0 else f"(1.0/({product}))"
        text: str = super()._print_Pow(e, rational=rational)
        return text


def module_from(functions: Mapping[str, Sequence[Sequence[sp.Expr]]], arguments: Sequence[str]) -> ModuleType:
    """Return a module of compiled functions.

    Parameters
    ----------
    functions : mapping
        For each name the lists of expressions, one for each output array.
    arguments : sequence of str
        Names of the input arrays: a symbol is the next entry of the array that it belongs to, ``"q[2]"``.
    """
    source = HEADER + "\n\n".join(_function(name, outputs, arguments) for name, outputs in functions.items())
    return _imported(source)


def _function(name: str, outputs: Sequence[Sequence[sp.Expr]], arguments: Sequence[str]) -> str:
    """Return the source of one function."""
    flat = [sp.sympify(one) for output in outputs for one in output]
    shared, reduced = sp.cse(flat, symbols=sp.numbered_symbols("x_"), optimizations="basic")
    printer = _Printer({"fully_qualified_modules": True, "strict": False})
    out_names = [f"out_{k}" for k in range(len(outputs))]
    lines = ["@compiled", f"def {name}({', '.join([*arguments, *out_names])}):"]
    lines += [f"    {symbol} = {_printed(printer, value)}" for symbol, value in shared]
    values = iter(reduced)
    for out, output in zip(out_names, outputs, strict=True):
        lines += [f"    {out}[{k}] = {_printed(printer, next(values))}" for k in range(len(output))]
    lines.append("    return None")
    return "\n".join(lines) + "\n"


def _printed(printer: _Printer, expression: sp.Expr) -> str:
    text: str = printer.doprint(expression)
    if "Not supported" in text or "Derivative" in text:
        raise ModelError(
            "expression", f"{expression} cannot be computed with numbers", "use functions that Python's math knows"
        )
    return text


def _imported(source: str) -> ModuleType:
    """Write a source to the cache folder, if it is not there, and import it."""
    digest = hashlib.blake2b(source.encode(), digest_size=10).hexdigest()
    folder = cache_root() / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"dalembert_equations_{digest}.py"
    if not path.exists():
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".tmp")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(source)
        os.replace(temporary, path)
    return _module(path)


def _module(path: Path) -> ModuleType:
    """Import a file; machine code that was kept on disk looks for its module among those that are imported."""
    if path.stem in sys.modules:
        return sys.modules[path.stem]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[path.stem]
        raise
    return module
