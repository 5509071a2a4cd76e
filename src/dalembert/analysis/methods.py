"""The methods of `simulate`, their options, and how ``"auto"`` chooses among them.

| method | is |
| --- | --- |
| generalized_alpha | implicit, order 2, damping of high frequencies by ``spectral_radius`` (0 to 1, default 0.9) |
| hht | the same with ``alpha`` from -1/3 to 0 (default -0.1): HHT-alpha |
| dopri5 | explicit, order 5, with the projections of Masarati 2011 |
| index1, baumgarte, braun_goldfarb | the same pair without projections, for comparison: they drift |

``"auto"`` takes generalized_alpha where a fixed step is given. Otherwise it takes dopri5, which needs far fewer evaluations for
the same accuracy, unless the model is stiff: an explicit method has to follow its fastest vibration or decay (rate r) with
steps of about 3.3/r, whether anybody wants to see it or not. Where that means more than `STIFF` steps between two outputs, the
implicit method is chosen. Joints are never stiff here: both kinds treat them as constraints.

A user's own equations (`Mechanics`) are integrated by the same methods, in Python loops on dense matrices (plain_explicit.py,
plain_implicit.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from dalembert.errors import ModelError, nearest
from dalembert.integrators.common import Integrator
from dalembert.integrators.plain_explicit import PlainExplicit
from dalembert.integrators.plain_implicit import PlainImplicit
from dalembert.kernel.vec3 import Array
from dalembert.lagrange.mechanics import Mechanics
from dalembert.linalg.saddle import SaddleSolver
from dalembert.system.protocol import MechanicalSystem
from dalembert.system.state import State
from dalembert.system.system import System

EXPLICIT = ("dopri5", "index1", "baumgarte", "braun_goldfarb")
IMPLICIT = ("generalized_alpha", "hht")
METHODS = ("auto", *IMPLICIT, *EXPLICIT)

STIFF = 50.0
"""Steps between two outputs that stability may cost before ``"auto"`` turns to the implicit method."""

_STABILITY = 3.3  # of dopri5, on the negative real and on the imaginary axis about


def make_integrator(
    system: System | Mechanics,
    state: State,
    *,
    method: str,
    step: float | None,
    rtol: float | None,
    atol: float | None,
    breaks: Array,
    spacing: float,
    **options: Any,
) -> Integrator:
    """Return the integrator of a method; `spacing` is the time between outputs [s]."""
    if method not in METHODS:
        raise ModelError("simulate", f"unknown method {method!r}", nearest(method, METHODS))
    if step is not None and not step > 0.0:
        raise ModelError("simulate", f"the step {step} is not positive", "give a step in seconds")
    if step is not None and (rtol is not None or atol is not None):
        raise ModelError("simulate", "both a fixed step and a tolerance are given", "give one of step and rtol")
    if method == "auto":
        method = automatic(system, state, step=step, spacing=spacing)
    tolerances = {"rtol": 1e-6 if rtol is None else rtol, "atol": (1e-6 if rtol is None else rtol) if atol is None else atol}
    if method in EXPLICIT:
        return _explicit(system, method, step, tolerances, breaks, options)
    return _implicit(system, method, step, tolerances, breaks, options)


def _explicit(
    system: System | Mechanics,
    method: str,
    step: float | None,
    tolerances: dict[str, Any],
    breaks: Array,
    options: dict[str, Any],
) -> Integrator:
    from dalembert.integrators.explicit import ExplicitIntegrator

    maker: Callable[..., Integrator] = ExplicitIntegrator if isinstance(system, System) else PlainExplicit
    _check_options(method, options, maker, hidden=("formulation", "fixed_step", "breaks", "rtol", "atol"))
    formulation = "projection" if method == "dopri5" else method
    return maker(system, formulation=formulation, fixed_step=step, breaks=breaks, **tolerances, **options)


def _implicit(
    system: System | Mechanics,
    method: str,
    step: float | None,
    tolerances: dict[str, float],
    breaks: Array,
    options: dict[str, Any],
) -> Integrator:
    from dalembert.integrators.implicit import ImplicitIntegrator, generalized_alpha, hht_alpha

    makers: dict[str, tuple[str, Callable[..., Any]]] = {
        "generalized_alpha": ("spectral_radius", generalized_alpha),
        "hht": ("alpha", hht_alpha),
    }
    parameter, coefficients = makers[method]
    known = {key: value for key, value in options.items() if key != parameter}
    maker: Callable[..., Integrator] = ImplicitIntegrator if isinstance(system, System) else PlainImplicit
    hidden = ("step", "rtol", "atol", "coefficients", "breaks")
    _check_options(method, known, maker, hidden=hidden, more=(parameter,))
    given = (options[parameter],) if parameter in options else ()
    control: dict[str, Any] = tolerances if step is None else {"step": step}
    return maker(system, coefficients=coefficients(*given), breaks=breaks, **control, **known)


def _check_options(
    method: str, options: dict[str, Any], maker: Callable[..., Any], *, hidden: tuple[str, ...], more: tuple[str, ...] = ()
) -> None:
    known = [*(name for name in inspect.signature(maker).parameters if name not in (*hidden, "system")), *more]
    for name in options:
        if name not in known:
            raise ModelError("simulate", f"method {method!r} has no option {name!r}", nearest(name, known))


def automatic(system: MechanicalSystem, state: State, *, step: float | None, spacing: float) -> str:
    """Return the method for a model."""
    if step is not None or fastest_rate(system, state) * spacing > _STABILITY * STIFF:
        return "generalized_alpha"
    return "dopri5"


def fastest_rate(system: MechanicalSystem, state: State, iterations: int = 12) -> float:
    """Return about the largest rate of the forces' own motion at a state [1/s]: vibration or decay, none without such forces.

    Power iteration with M d'' = -(D d' + K d) on what the joints leave free, K and D of the forces alone.

    Examples
    --------
    >>> import dalembert as da
    >>> model = da.Model("oscillator")
    >>> mass = model.body("mass", mass=2.0, inertia=(1, 1, 1), position=(1, 0, 0))
    >>> rail = model.prismatic("rail", model.ground, mass, at=(1, 0, 0), axis=(1, 0, 0))
    >>> spring = model.spring("spring", model.ground, mass, at=(0, 0, 0), at_driven=(1, 0, 0), stiffness=200.0)
    >>> system = da.build(model)
    >>> round(fastest_rate(system, system.design), 6)
    10.0
    """
    K = system.stiffness(state.t, state.q, state.v, np.zeros(system.n_constraints), with_constraints=False)
    rubs = isinstance(system, System) and system.friction is not None  # it is stiffest where sliding turns round
    D = system.damping(state.t, state.q, np.zeros(system.n_velocities) if rubs else state.v)
    if not (np.abs(K.data).max(initial=0.0) or np.abs(D.data).max(initial=0.0)):
        return 0.0
    M, A = system.mass(state.t, state.q), system.jacobian(state.t, state.q, state.v)
    solver = SaddleSolver(M, A)
    solver.factorize(M.data, A.data, check=False)
    zero = np.zeros(system.n_constraints)
    (d, w), rate = np.random.default_rng(0).standard_normal((2, system.n_velocities)), 0.0
    for _ in range(iterations):
        before = float(np.linalg.norm(w))
        for _ in range(2):
            d, w = w, solver.least_squares(-(K @ d + D @ w), zero).x
        size = float(np.linalg.norm(w))
        if not 0.0 < size < np.inf:
            break
        rate, d, w = np.sqrt(size / before), d / size, w / size
    return float(rate)
