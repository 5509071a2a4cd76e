"""What `Mechanics` takes from the method objects of `sympy.physics.mechanics`."""

from __future__ import annotations

from typing import Any

import sympy as sp

from dalembert.errors import ModelError


def arguments_of(name: str, method: Any) -> dict[str, Any]:
    """Return the arguments of `Mechanics` for a LagrangesMethod or a KanesMethod whose equations are formed."""
    kind = type(method).__name__
    element = f"mechanics {name!r}"
    try:
        if kind == "LagrangesMethod":
            return _of_lagrange(method)
        if kind == "KanesMethod":
            return _of_kane(element, method)
    except (AttributeError, ValueError) as error:
        remedy = "call its form_lagranges_equations() or kanes_equations(bodies, loads) first"
        raise ModelError(element, f"the {kind} has no equations yet ({error})", remedy) from error
    raise ModelError(element, f"a {kind} is not understood", "give a LagrangesMethod or a KanesMethod")


def _of_lagrange(method: Any) -> dict[str, Any]:
    """M q'' = forcing + (constraints' forces), as LagrangesMethod makes them."""
    method.form_lagranges_equations()
    n = len(method.q)
    M = sp.Matrix(method.mass_matrix)[:n, :n]
    forcing = sp.Matrix(method.forcing)[:n, :]
    holonomic = list(method._hol_coneqs or [])
    rates = list(method.coneqs or [])  # of the holonomic ones, then the others
    return {
        "coordinates": list(method.q),
        "velocities": None,
        "mass": M,
        "force": list(forcing),
        "holonomic": holonomic,
        "nonholonomic": rates[len(holonomic) :],
    }


def _of_kane(element: str, method: Any) -> dict[str, Any]:
    """M u' = forcing with u = q'."""
    time = sp.physics.mechanics.dynamicsymbols._t
    relations = method.kindiffdict()
    for coordinate, speed in zip(method.q, method.u, strict=True):
        rate = coordinate.diff(time)
        if sp.simplify(relations[rate] - speed) != 0:
            problem = f"the speed {speed} is not the rate of {coordinate}"
            raise ModelError(element, problem, "choose speeds that are the rates of the coordinates")
    back = {speed: coordinate.diff(time) for coordinate, speed in zip(method.q, method.u, strict=True)}
    return {
        "coordinates": list(method.q),
        "velocities": None,
        "mass": sp.Matrix(method.mass_matrix).subs(back),
        "force": list(sp.Matrix(method.forcing).subs(back)),
        "holonomic": [],
        "nonholonomic": [],
    }
