"""The integral of a function of time from zero, to rounding: Gauss-Legendre in panels that are remembered."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence

import numpy as np

from dalembert.errors import ModelError

_NODES, _WEIGHTS = ((0.5 * part).tolist() for part in np.polynomial.legendre.leggauss(16))  # on [-1/2, 1/2]


def _gauss(function: Callable[[float], float], a: float, b: float) -> tuple[float, float]:
    """Return the integrals of a function and of its absolute value from a to b by 16 points."""
    values = [weight * function(0.5 * (a + b) + (b - a) * node) for node, weight in zip(_NODES, _WEIGHTS, strict=True)]
    return (b - a) * math.fsum(values), abs(b - a) * math.fsum(map(abs, values))


class Integral:
    """The integral of a function from zero, to either side."""

    def __init__(self, function: Callable[[float], float], breaks: Sequence[float], element: str) -> None:
        self._after = _Panels(function, [t for t in breaks if t > 0.0], element)
        self._before = _Panels(lambda t: function(-t), [-t for t in reversed(breaks) if t < 0.0], element)

    def __call__(self, t: float) -> float:
        """Return the integral from 0 to t."""
        return self._after(t) if t >= 0.0 else -self._before(-t)


class _Panels:
    """The integral of a function from zero to positive times: panels on each of which 16 Gauss points are enough."""

    longest = 1.0

    def __init__(self, function: Callable[[float], float], breaks: Sequence[float], element: str) -> None:
        self.function = function
        self.breaks = breaks
        self.element = element
        self.edges = [0.0]
        self.sums = [0.0]
        self.length = self.longest / 8.0

    def __call__(self, t: float) -> float:
        while self.edges[-1] < t:
            self._append()
        k = bisect_right(self.edges, t) - 1
        return self.sums[k] + (_gauss(self.function, self.edges[k], t)[0] if t > self.edges[k] else 0.0)

    def _append(self) -> None:
        """Add one panel, halved until 16 points tell the same as twice 16."""
        a = self.edges[-1]
        k = bisect_right(self.breaks, a)
        b = min(a + self.length, self.breaks[k] if k < len(self.breaks) else math.inf)
        previous = math.inf
        while True:
            middle = 0.5 * (a + b)
            (left, size_left), (right, size_right) = _gauss(self.function, a, middle), _gauss(self.function, middle, b)
            size = size_left + size_right
            error = abs(_gauss(self.function, a, b)[0] - left - right)
            # A smooth function gains many digits per halving; what stays below 1e-9 without gaining is its own rounding.
            if error <= 1e-14 * size or (error <= 1e-9 * size and error >= 0.1 * size * previous):
                break
            if b - a < 1e-13 * max(1.0, a):
                self._check_negligible(a, size)
                break
            previous, b = error / size, middle
        self.edges.append(b)
        self.sums.append(self.sums[-1] + left + right)
        self.length = min(2.0 * (b - a), self.longest)

    def _check_negligible(self, t: float, size: float) -> None:
        """Accept a jump that nobody declared, not a pole."""
        if size > 1e-9 * (1.0 + abs(self.sums[-1])):
            raise ModelError(self.element, f"the rate cannot be integrated near |t| = {t} s", "give one without a pole")
