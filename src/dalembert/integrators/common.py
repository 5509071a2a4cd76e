"""What all integrators share: their protocol, the samples they fill, and the error they raise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np

from dalembert.errors import ModelError, SolveError, nearest
from dalembert.kernel.vec3 import Array
from dalembert.linalg.rank import MOST_DENSE_ROWS, dependencies, weakest
from dalembert.system.protocol import MechanicalSystem
from dalembert.system.system import System

CHUNK_STEPS = 2000
"""Steps of one chunk: progress, Ctrl-C and checkpoints come between chunks."""


SINGULAR = 1e-4
"""A singular value of A, relative to the largest, that is not zero elsewhere: the position is singular."""

TAKES_PART = 0.02
"""Part of a row in a combination that makes its joint worth naming."""


class Samples(NamedTuple):
    """States at output times, one row each.

    Attributes
    ----------
    q, v, a : array
        Positions, velocities, accelerations v'.
    lam : array
        Multipliers.
    """

    q: Array
    v: Array
    a: Array
    lam: Array


def new_samples(system: MechanicalSystem, n: int) -> Samples:
    """Return samples for n times, filled with NaN."""
    nv = system.n_velocities
    return Samples(*(np.full((n, size), np.nan) for size in (system.n_positions, nv, nv, system.n_constraints)))


def positive(option: str, value: float) -> float:
    """Return the value of an option that has to be greater than zero."""
    if not value > 0.0:
        raise ModelError(f"option {option!r}", f"it is {value!r}", "give a number greater than zero")
    return float(value)


def choice(option: str, value: str, known: tuple[str, ...]) -> int:
    """Return which of the known words an option says."""
    if value not in known:
        raise ModelError(f"option {option!r}", f"unknown {value!r}", nearest(value, known))
    return known.index(value)


def take_arrays(arrays: Mapping[str, Array], data: Mapping[str, Array]) -> None:
    """Fill arrays from a checkpoint; refuse it as a whole if one does not fit."""
    for name, array in arrays.items():
        if name not in data or np.shape(data[name]) != array.shape:
            raise ModelError("checkpoint", f"{name!r} is missing or has another size", "it belongs to another system")
    for name, array in arrays.items():
        array[...] = data[name]


def singular_position(system: System, t: float, q: Array) -> str:
    """Return which joints make a position a singular one, in words; nothing if it is none, or the system is large."""
    if not 0 < system.n_constraints <= MOST_DENSE_ROWS:
        return ""
    usual = dependencies(system.jacobian(t, system.design.q), units=system.rotational).rank
    value, part = weakest(system.jacobian(t, q), usual, units=system.rotational)
    if value > SINGULAR:
        return ""
    return (
        f"the position is singular, one more of the constraints of {joints_of_rows(system, part)} depends on the others there"
    )


def joints_of_rows(system: System, part: Array) -> str:
    """Return the joints and couplings that take part in a combination of rows."""
    rows = set(np.flatnonzero(np.abs(part) > TAKES_PART * np.abs(part).max(initial=0.0)).tolist())
    return ", ".join(repr(name) for name, own in system.layout.joint_rows.items() if rows & set(own.tolist()))


class IntegrationError(SolveError):
    """The motion cannot be continued.

    Attributes
    ----------
    time : float
        Last time reached [s].
    element : str or None
        Element in which it failed, if one can be named.
    statistics : dict
        Of the run so far.
    filled : int
        Rows of the samples of this chunk that were filled before.
    partial : object
        What a caller has of the run so far.
    """

    def __init__(
        self,
        time: float,
        problem: str,
        *,
        element: str | None = None,
        statistics: dict[str, float] | None = None,
        filled: int = 0,
    ) -> None:
        self.time = time
        self.element = element
        self.statistics = dict(statistics or {})
        self.filled = filled
        self.partial: object = None
        where = f", {element}" if element else ""
        super().__init__(f"the motion stops at t = {time:.6g} s{where}: {problem}")


class Integrator(Protocol):
    """What `simulate` needs of an integrator.

    Attributes
    ----------
    method : str
    time, step_size : float
        Reached by the steps; of the next step [s].
    statistics : dict
        Steps, rejected steps, factorisations and what else the method counts.
    """

    @property
    def method(self) -> str:
        """Return the name of the method, with its parameters."""
        ...

    @property
    def time(self) -> float:
        """Return the time reached by the steps [s]."""
        ...

    @property
    def step_size(self) -> float:
        """Return the size of the next step [s]."""
        ...

    @property
    def statistics(self) -> dict[str, float]:
        """Return what the run has cost so far."""
        ...

    def start(self, t: float, q: Array, v: Array) -> None:
        """Begin at a state; it is made consistent if the method needs that."""
        ...

    def run_chunk(self, times: Array, out: Samples, budget: int = CHUNK_STEPS) -> int:
        """Integrate until all `times` are reached and fill the rows of `out`; return the number of rows filled.

        It is smaller than ``len(times)`` only when the budget of steps is used up: call again with the rest.
        """
        ...

    def checkpoint(self) -> dict[str, Array]:
        """Return all that the continuation needs, bit for bit."""
        ...

    def restore(self, data: Mapping[str, Array]) -> None:
        """Continue from a checkpoint, also one of another process."""
        ...
