"""An equilibrium as labelled data."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.analysis.pencil import Motion
from dalembert.analysis.results import Run, labelled, plain_labelled
from dalembert.integrators.common import Samples
from dalembert.integrators.observe import Observations
from dalembert.kernel.vec3 import Array
from dalembert.lagrange.mechanics import Mechanics
from dalembert.system.protocol import MechanicalSystem
from dalembert.system.state import State
from dalembert.system.system import System


class Equilibrium(Run):  # type: ignore[no-untyped-call]
    """A state of rest: what a run holds, at one time, and how it was found.

    Attributes
    ----------
    converged, stable : bool
        Only found equilibria are returned; stable ones come back after any small push.
    iterations : int
    residual : float
        Largest force or torque that is left unbalanced [N], [N m].
    unstable_directions, neutral_directions : int
        Independent directions in which a push runs away, or is not answered.
    """

    __slots__ = ()

    @property
    def state(self) -> State:
        """The state, for `simulate(..., start=...)`, `modes(..., state=...)` and so on."""
        q = np.array(self.q.values)
        return State(float(self.attrs["time"]), q, np.zeros(int(self.attrs["velocities"])))

    @property
    def held(self) -> dict[str, float]:
        """Forces [N] and torques [N m] that hold what was to be held."""
        names = [str(name) for name in self.coords["held"].values] if "held" in self.coords else []
        return dict(zip(names, self.holding_force.values.tolist(), strict=True)) if names else {}


def rest_of(system: MechanicalSystem, at: Motion, attributes: dict[str, Any], held: dict[str, float]) -> Equilibrium:
    """Return an equilibrium as labelled data."""
    times, samples = np.array([at.t]), Samples(at.q[None], at.v[None], at.a[None], at.lam[None])
    bookkeeping = attributes | {"time": at.t, "velocities": at.v.size}
    if isinstance(system, System):
        data = labelled(system, times, samples, _observe(system, at), bookkeeping).at_one_time()
    else:
        assert isinstance(system, Mechanics)
        data = plain_labelled(system, times, samples, bookkeeping).at_one_time()
    variables: dict[str, tuple[str, Array]] = {"q": ("entry", at.q), "multipliers": ("row", at.lam)}
    coordinates: dict[str, Any] = {"row": list(system.row_names)}
    if held:
        variables["holding_force"] = ("held", np.array(list(held.values())))
        coordinates["held"] = list(held)
    return Equilibrium(data.variables | variables, coords=data.coordinates | coordinates, attrs=data.attributes)


def _observe(system: System, at: Motion) -> Observations:
    """Return what follows from one state: energies, joint coordinates, reactions, violations."""
    t, q, v, a, lam = at
    energy, A = system.energy(t, q, v), system.jacobian(t, q)
    left = (system.constraint(t, q), A @ v - system.velocity_right_side(t, q), A @ a - system.acceleration_right_side(t, q, v))
    violation = np.array([np.abs(part).max(initial=0.0) for part in left])
    energies = np.array([energy.kinetic, *energy.potentials.values()])
    force, torque = system.reactions(t, q, lam)
    return Observations(energies[None], system.coordinates(q)[None], force[None], torque[None], violation[None])
