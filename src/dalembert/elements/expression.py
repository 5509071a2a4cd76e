"""Formulas that a person writes as text, read without ever running them.

Model files come from strangers, and SymPy's own reader runs its text as Python code. Here the text is only parsed
(`ast.parse`); its tree is walked over a short list of node types, names and functions, and SymPy objects are built from it.
Length, nesting, numbers and powers are bounded, so that no text keeps the computer busy.

Functions with a corner or a jump (``abs``, ``sign``, ``step``, ``min``, ``max``) become SymPy functions of this module. Their
derivatives are those of the pieces, without Dirac pulses; `switch_points` tells where the pieces meet. (SymPy's own ``Abs`` and
``Max`` differentiate to Dirac pulses; its ``Piecewise`` takes minutes over twenty nested ones.)
"""

from __future__ import annotations

import ast
import functools
import operator
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import sympy

from dalembert.errors import ModelError, nearest

LONGEST_TEXT = 1000
DEEPEST_NESTING = 20
LARGEST_EXPONENT = 100
LONGEST_DERIVATIVE = 10_000

_LARGEST_INTEGER = 1000  # larger numbers become floats, so that SymPy cannot compute gigantic integers


def _corner(name: str, at_numbers: Callable[..., Any], slopes: Callable[..., tuple[sympy.Expr, ...]]) -> Any:
    """Return a class of SymPy functions with a corner or a jump: its value at numbers, its derivative by each argument."""

    def evaluate(_: type, *x: sympy.Expr) -> sympy.Expr | None:
        return sympy.sympify(at_numbers(*x)) if all(one.is_Number for one in x) else None

    def fdiff(self: sympy.Function, argindex: int = 1) -> sympy.Expr:
        return slopes(*self.args)[argindex - 1]

    body = {"eval": classmethod(evaluate), "fdiff": fdiff, "is_real": True, "__module__": __name__}
    return type(name, (sympy.Function,), body)


def _sign(x: float) -> float:
    return float(bool(x > 0) - bool(x < 0))


def _step(x: float) -> float:
    return float(bool(x >= 0))


Step = _corner("Step", lambda x: int(_step(x)), lambda x: (sympy.S.Zero,))
Sign = _corner("Sign", lambda x: int(_sign(x)), lambda x: (sympy.S.Zero,))
Absolute = _corner("Absolute", abs, lambda x: (Sign(x),))
Smaller = _corner("Smaller", min, lambda a, b: (Step(b - a), 1 - Step(b - a)))

_AT_FLOATS = {"Step": _step, "Sign": _sign, "Absolute": abs, "Smaller": min}


def smallest(*x: sympy.Expr) -> sympy.Expr:
    """Return the smallest of the arguments."""
    return functools.reduce(Smaller, x)


def largest(*x: sympy.Expr) -> sympy.Expr:
    """Return the largest of the arguments."""
    return -smallest(*(-one for one in x))


_SMOOTH = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt")

# name: (function, fewest arguments, most arguments)
FUNCTIONS: dict[str, tuple[Callable[..., sympy.Expr], int, int]] = {
    **{name: (getattr(sympy, name), 1, 1) for name in _SMOOTH},
    "atan2": (sympy.atan2, 2, 2),
    "abs": (Absolute, 1, 1),
    "sign": (Sign, 1, 1),
    "step": (Step, 1, 1),
    "heaviside": (Step, 1, 1),
    "min": (smallest, 2, 8),
    "max": (largest, 2, 8),
}
CONSTANTS = {"pi": np.pi, "e": np.e}

_OPERATORS: dict[type[ast.operator], Callable[[sympy.Expr, sympy.Expr], sympy.Expr]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def parse_expression(text: str, symbols: Iterable[str], *, element: str = "expression") -> sympy.Expr:
    """Read a formula from text that nobody has to trust.

    Numbers, ``+ - * / **``, parentheses, ``pi``, ``e``, the given symbols and the functions sin, cos, tan, asin, acos, atan,
    atan2, sinh, cosh, tanh, exp, log, sqrt, abs, sign, step (also heaviside; 1 at 0), min and max are understood, nothing else.
    Angles are in radians, all numbers are doubles.

    Parameters
    ----------
    text : str
        The formula, at most 1000 characters.
    symbols : iterable of str
        The names that it may contain.
    element : str
        What the formula belongs to, for the error message.

    Returns
    -------
    sympy.Expr
        In real symbols: ``sympy.Symbol(name, real=True)``.

    Examples
    --------
    >>> parse_expression("0.5*sin(2*t)**2 + 1", ["t"])
    0.5*sin(2*t)**2 + 1
    >>> parse_expression("sun(t)", ["t"])
    Traceback (most recent call last):
        ...
    dalembert.errors.ModelError: expression: unknown function 'sun' in "sun(t)"; did you mean 'sin'?
    """
    return _Reader(text, symbols, element).read()


def read_expression(expression: str | sympy.Expr, symbols: Iterable[str], *, element: str = "expression") -> sympy.Expr:
    """Return text (see `parse_expression`) or a SymPy expression in real symbols, corners and jumps as here.

    Examples
    --------
    >>> read_expression(sympy.Abs(sympy.Symbol("t")), ["t"])
    Absolute(t)
    """
    if isinstance(expression, str):
        return parse_expression(expression, symbols, element=element)
    if not isinstance(expression, sympy.Expr):
        raise ModelError(element, f"{expression!r} is neither text nor a SymPy expression", 'write for example "0.3*sin(2*t)"')
    known = set(symbols)
    for symbol in sorted(expression.free_symbols, key=str):
        if symbol.name not in known:
            raise ModelError(element, f"unknown symbol '{symbol.name}' in {expression}", nearest(symbol.name, known))
    expression = expression.xreplace({symbol: sympy.Symbol(symbol.name, real=True) for symbol in expression.free_symbols})
    corners = {sympy.Abs: Absolute, sympy.sign: Sign, sympy.Min: smallest, sympy.Max: largest}
    for function, own in corners.items():
        expression = expression.replace(function, own)
    expression = expression.replace(sympy.Heaviside, lambda x, *_: Step(x))
    return expression


def derivative(expression: sympy.Expr, symbol: str, *, element: str = "expression") -> sympy.Expr:
    """Return the derivative with respect to a real symbol, or say that SymPy knows none.

    Examples
    --------
    >>> derivative(parse_expression("3*t**2", ["t"]), "t")
    6*t
    """
    result = sympy.diff(expression, sympy.Symbol(symbol, real=True))
    if sympy.count_ops(result) > LONGEST_DERIVATIVE:
        raise ModelError(element, f"the derivative has more than {LONGEST_DERIVATIVE} terms", "give a shorter expression")
    if result.has(sympy.Derivative, sympy.Subs, sympy.DiracDelta):
        raise ModelError(element, f"{expression} has no derivative that can be written down", "give a smooth expression")
    return result


def scalar_function(expression: sympy.Expr, symbols: Sequence[str]) -> Callable[..., float]:
    """Return a Python function of floats, in the order of the symbols.

    Examples
    --------
    >>> scalar_function(parse_expression("t**2 + 1", ["t"]), ["t"])(3.0)
    10.0
    """
    arguments = [sympy.Symbol(name, real=True) for name in symbols]
    function: Callable[..., float] = sympy.lambdify(arguments, expression, modules=[_AT_FLOATS, "math"], cse=True)
    return function


def switch_points(expression: sympy.Expr, symbol: str) -> tuple[float, ...]:
    """Return where the pieces of an expression meet, sorted.

    Found are the real roots of arguments that are polynomials of the symbol (``abs(t - 2)``); those of others
    (``abs(sin(t))``) are not.

    Examples
    --------
    >>> switch_points(parse_expression("abs(t - 2) + max(0, t)", ["t"]), "t")
    (0.0, 2.0)
    """
    variable = sympy.Symbol(symbol, real=True)
    differences = [corner.args[0] for corner in expression.atoms(Step, Sign, Absolute)]
    differences += [a - b for a, b in (corner.args for corner in expression.atoms(Smaller))]
    differences += [condition.lhs - condition.rhs for condition in expression.atoms(sympy.core.relational.Relational)]
    found: set[float] = set()
    for difference in differences:
        if difference.is_polynomial(variable):
            found.update(_real_roots(sympy.Poly(difference, variable).all_coeffs()))
    return tuple(sorted(found))


def _real_roots(coefficients: Sequence[sympy.Expr]) -> list[float]:
    """Return the real roots of a polynomial, highest power first."""
    roots = np.roots(np.array(coefficients, dtype=float))
    return [float(root.real) + 0.0 for root in roots if abs(root.imag) <= 1e-7 * abs(root)]


class _Reader:
    """Turns one text into one expression."""

    def __init__(self, text: str, symbols: Iterable[str], element: str) -> None:
        self.text = text
        self.symbols = {name: sympy.Symbol(name, real=True) for name in symbols}
        self.element = element

    def error(self, problem: str, remedy: str = "") -> ModelError:
        """Return the error that quotes the text."""
        shown = self.text if len(self.text) <= 60 else self.text[:57] + "..."
        return ModelError(self.element, f'{problem} in "{shown}"', remedy)

    def read(self) -> sympy.Expr:
        """Return the expression."""
        if len(self.text) > LONGEST_TEXT:
            raise self.error(f"{len(self.text)} characters", f"write at most {LONGEST_TEXT}, or give a Python function")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(self.text.strip(), mode="eval")
        except (SyntaxError, ValueError) as error:
            raise self.error("this is not a formula", 'write for example "0.3*sin(2*t)"') from error
        except (RecursionError, MemoryError) as error:
            raise self.too_deep() from error
        try:
            return self.visit(tree.body, 0)
        except RecursionError as error:
            raise self.too_deep() from error

    def too_deep(self) -> ModelError:
        """Return the error of an expression that is nested too deeply."""
        return self.error("too many nested parentheses, functions or powers", f"nest at most {DEEPEST_NESTING}")

    def visit(self, node: ast.expr, depth: int) -> sympy.Expr:
        """Return the expression of one node of the tree."""
        if depth > DEEPEST_NESTING:
            raise self.too_deep()
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return self.number(value)
            case ast.Name(id=name):
                return self.name(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.checked(-self.visit(operand, depth + 1))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.visit(operand, depth + 1)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(left, op, right, depth)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self.call(name, arguments, depth)
        raise self.error(f"{type(node).__name__.lower()} is not allowed", "write numbers, + - * / **, symbols and functions")

    def number(self, value: float) -> sympy.Expr:
        """Return a number: a double, except for small integers, which make sums and powers readable."""
        try:
            double = float(value)
        except OverflowError:
            double = np.inf
        if not np.isfinite(double):
            raise self.error("a number is too large or not defined", "keep all numbers below 1e308")
        whole = double.is_integer() and abs(double) <= _LARGEST_INTEGER
        return sympy.Integer(int(double)) if whole else sympy.Float(double)

    def name(self, name: str) -> sympy.Expr:
        """Return a symbol or a constant."""
        if name in self.symbols:
            return self.symbols[name]
        if name in CONSTANTS:
            return sympy.Float(CONSTANTS[name])
        raise self.error(f"unknown name '{name}'", nearest(name, [*self.symbols, *CONSTANTS]))

    def binary(self, left: ast.expr, op: ast.operator, right: ast.expr, depth: int) -> sympy.Expr:
        """Return a sum, difference, product, quotient or power."""
        if type(op) not in _OPERATORS:
            hint = "write ** for a power" if isinstance(op, ast.BitXor) else "use + - * / **"
            raise self.error(f"operator {type(op).__name__.lower()} is not allowed", hint)
        is_power = isinstance(op, ast.Pow)
        a = self.visit(left, depth + is_power)  # a long sum or product is not nested
        b = self.visit(right, depth + 1)
        if is_power and a.free_symbols and b.is_number and abs(b) > LARGEST_EXPONENT:
            raise self.error(f"the exponent {float(b):g} is too large", f"use exponents up to {LARGEST_EXPONENT}")
        return self.checked(_OPERATORS[type(op)](a, b))

    def call(self, name: str, arguments: Sequence[ast.expr], depth: int) -> sympy.Expr:
        """Return a function of its arguments."""
        if name not in FUNCTIONS:
            raise self.error(f"unknown function '{name}'", nearest(name, FUNCTIONS))
        function, fewest, most = FUNCTIONS[name]
        if not fewest <= len(arguments) <= most:
            wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
            raise self.error(f"{name} has {len(arguments)} arguments", f"give {wanted}")
        return self.checked(function(*(self.visit(argument, depth + 1) for argument in arguments)))

    def checked(self, expression: sympy.Expr) -> sympy.Expr:
        """Return the expression, folded if it is a number; refuse what is not a finite real number or grows too long."""
        if not expression.free_symbols:
            value = expression.evalf()
            return self.number(float(value) if value.is_real else np.nan)
        if expression.has(sympy.zoo, sympy.oo, sympy.nan, sympy.I):
            raise self.error("a number is infinite or not real", "avoid division by zero and roots of negative numbers")
        for number in expression.atoms(sympy.Rational):
            if max(abs(number.p), number.q) >= 2**1000:
                raise self.error("a number is too large", "keep all numbers below 1e300")
        for number in expression.atoms(sympy.Float):
            if abs(number) > 1e300:
                raise self.error("a number is too large", "keep all numbers below 1e300")
        return expression
