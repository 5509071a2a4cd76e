"""Accelerations of a system by any formulation, by name.

| formulation | is | needs |
| --- | --- | --- |
| saddle | the library's own solve (saddle.py), sparse | |
| fundamental | Udwadia and Schutte 2010, eq. (7) | a regular M |
| pseudo_inverse | eq. (8) | |
| auxiliary | eqs. (45) to (75) | |
| gauss | Masarati 2011, eq. (8), (11b) | a regular M |
| null_space | Wojtyra and Fraczek 2013, eq. (13) | |
| elimination | dependent rows left out (redundant.py); `remove` names them | |
| augmented_lagrangian | repeated penalties, Bayo et al. 1988 | |
| penalty | constraints that give way by lambda / weights | |

All but the first are dense: they are the papers' equations, and what the first is tested against.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dalembert.errors import ModelError, nearest
from dalembert.formulations import masarati, udwadia
from dalembert.formulations.null_space import null_space
from dalembert.formulations.redundant import augmented_lagrangian, elimination, penalty, rows_by_name
from dalembert.formulations.result import Constrained, check_unique
from dalembert.formulations.saddle import Accelerations, SaddleFormulation
from dalembert.kernel.vec3 import Array
from dalembert.system.protocol import MechanicalSystem

DENSE: dict[str, Callable[..., Constrained]] = {
    "fundamental": udwadia.fundamental,
    "pseudo_inverse": udwadia.pseudo_inverse,
    "auxiliary": udwadia.auxiliary,
    "gauss": masarati.gauss,
    "null_space": null_space,
    "elimination": elimination,
    "augmented_lagrangian": augmented_lagrangian,
    "penalty": penalty,
}

EXACT = ("fundamental", "pseudo_inverse", "auxiliary", "gauss", "null_space")
"""Those that give the smallest multipliers, as the saddle solve does, to rounding."""


def accelerations(
    system: MechanicalSystem, t: float, q: Array, v: Array, *, formulation: str = "saddle", **options: object
) -> Accelerations:
    """Return accelerations, multipliers and constraint force of a system at one state.

    Parameters
    ----------
    system : MechanicalSystem
    t, q, v : float, array, array
    formulation : str
        See the module. `SaddleFormulation` does the same for many states of one system.
    **options
        Of the formulation: ``alpha``, ``z`` of ``"auxiliary"``; ``remove`` (rows by name or number) of ``"elimination"``;
        ``weights`` [N s2/m and so on] of the penalties.

    Raises
    ------
    SolveError
        If the acceleration is not unique or the constraints contradict each other.
    """
    if formulation == "saddle":
        return SaddleFormulation(system).solve(t, q, v)
    if formulation not in DENSE:
        raise ModelError("accelerations", f"unknown formulation {formulation!r}", nearest(formulation, ["saddle", *DENSE]))
    if options.get("remove") is not None:
        options["remove"] = rows_by_name(options["remove"], system.row_names)  # type: ignore[arg-type]
    M, A = system.mass(t, q).toarray(), system.jacobian(t, q, v).toarray()
    check_unique(M, A, system.velocity_names)
    C = system.non_ideal_force(t, q, v)
    Q, b = system.force(t, q, v) - C, system.acceleration_right_side(t, q, v)
    found = DENSE[formulation](M, A, Q, b, C, **options)
    left = float(np.abs(M @ found.acceleration + A.T @ found.multipliers - Q - C).max(initial=0.0))
    size = float(max(np.abs(Q).max(initial=0.0), np.abs(A.T @ found.multipliers).max(initial=0.0), 1e-300))
    return Accelerations(found.acceleration, found.multipliers, left / size, found.constraint_force)
