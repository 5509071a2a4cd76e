"""Cross sections of beams: stiffness, damping and mass per length, from geometry and material or given as matrices.

The section lies in the y and z axes, x is along the beam. Its law (section_law.py), in the order x, y, z, about x, y, z,
of an isotropic section is ``stiffness = diag(EA, k_y GA, k_z GA, GJ, EI_y, EI_z)``, ``damping = damping_time * stiffness``.

The shear factors k compare the work of uniform shear stresses with that of those which equilibrium alone gives
(Jourawski): 5/6 for a rectangle, 6/7 for a circle. J is Saint-Venant's; warping is free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dalembert.elements import checks, inertia
from dalembert.elements.bushing import symmetric
from dalembert.elements.section_law import Section
from dalembert.errors import ModelError
from dalembert.kernel.vec3 import Array

ELEMENT = "section"


@dataclass(frozen=True, eq=False, kw_only=True)
class General(Section):
    """A cross section by its matrices, such as that of a composite blade.

    Parameters
    ----------
    stiffness : array_like
        EA, GA_y, GA_z [N], GJ, EI_y, EI_z [N m2], or a symmetric 6x6 matrix with couplings (those of force and moment in N m).
    mass : float
        Per length [kg/m].
    inertia : array_like
        Per length, about the centre of mass [kg m]: about x, y, z, or six entries or 3x3 as for bodies.
    centre : array_like
        y and z of the centre of mass in the section [m].
    damping : array_like
        As the stiffness, times seconds.

    Examples
    --------
    >>> spar = General(stiffness=(1e9, 3e8, 3e8, 1e5, 2e5, 4e6), mass=8.0, inertia=(0.05, 0.01, 0.04))
    >>> spar.stiffness_matrix.diagonal()[3:].tolist()
    [100000.0, 200000.0, 4000000.0]
    """

    stiffness: ArrayLike
    mass: float = 0.0
    inertia: ArrayLike = (0.0, 0.0, 0.0)
    centre: ArrayLike = (0.0, 0.0)
    damping: ArrayLike = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        keep = object.__setattr__
        for label in ("stiffness", "damping"):
            keep(self, label, symmetric(ELEMENT, label, getattr(self, label)))
        if np.linalg.eigvalsh(self.stiffness_matrix)[0] <= 0.0:
            raise ModelError(ELEMENT, "the stiffness is zero in some direction", "all six have to be positive")
        keep(self, "mass", checks.number(ELEMENT, "mass", self.mass, minimum=0.0))
        keep(self, "inertia", inertia.tensor(ELEMENT, self.inertia))
        keep(self, "centre", checks.vector(ELEMENT, "centre", self.centre, 2))

    @property
    def stiffness_matrix(self) -> Array:
        """See `Section`."""
        return np.asarray(self.stiffness)

    @property
    def damping_matrix(self) -> Array:
        """See `Section`."""
        return np.asarray(self.damping)

    @property
    def mass_per_length(self) -> float:
        """See `Section`."""
        return self.mass

    @property
    def inertia_per_length(self) -> Array:
        """See `Section`."""
        return np.asarray(self.inertia)

    @property
    def mass_centre(self) -> Array:
        """See `Section`."""
        return np.append(0.0, np.asarray(self.centre))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Isotropic(Section):
    """A section of one isotropic material, symmetric about y and z."""

    youngs_modulus: float
    poisson_ratio: float
    density: float
    shear_factors: ArrayLike | None = None
    damping_time: float = 0.0

    def __post_init__(self) -> None:
        _check_unit("youngs_modulus", self.youngs_modulus, 1e3, 1e13, "Pa: 2.1e11 for steel")
        _check_unit("density", self.density, 1e-2, 1e5, "kg/m3: 7850 for steel")
        if not -1.0 < checks.number(ELEMENT, "poisson_ratio", self.poisson_ratio) <= 0.5:
            raise ModelError(ELEMENT, f"poisson_ratio is {self.poisson_ratio}", "it is between -1 and 0.5: 0.3 for steel")
        checks.number(ELEMENT, "damping time", self.damping_time, minimum=0.0)
        if self.shear_factors is not None:
            factors = checks.vector(ELEMENT, "shear_factors", self.shear_factors, 2)
            if np.any(factors <= 0.0) or np.any(factors > 1.0):
                raise ModelError(ELEMENT, f"shear_factors are {factors.tolist()}", "they are between 0 and 1")
            object.__setattr__(self, "shear_factors", factors)
        for label in self.sizes:
            _check_unit(label, getattr(self, label), 1e-7, 1e2, "m")

    @property
    def sizes(self) -> tuple[str, ...]:
        """The lengths that describe the section."""
        raise NotImplementedError

    @property
    def area(self) -> float:
        """[m2]."""
        raise NotImplementedError

    @property
    def second_moments(self) -> tuple[float, float]:
        """I_y = sum of z^2 dA, I_z = sum of y^2 dA [m4]."""
        raise NotImplementedError

    @property
    def torsion_constant(self) -> float:
        """J of Saint-Venant [m4]."""
        raise NotImplementedError

    @property
    def own_shear_factors(self) -> tuple[float, float]:
        """k_y and k_z by equilibrium."""
        raise NotImplementedError

    @property
    def shear_modulus(self) -> float:
        """[Pa]."""
        return self.youngs_modulus / (2.0 * (1.0 + self.poisson_ratio))

    @property
    def stiffness_matrix(self) -> Array:
        """See `Section`."""
        E, G, A = self.youngs_modulus, self.shear_modulus, self.area
        k_y, k_z = self.own_shear_factors if self.shear_factors is None else np.asarray(self.shear_factors)
        I_y, I_z = self.second_moments
        return np.diag([E * A, k_y * G * A, k_z * G * A, G * self.torsion_constant, E * I_y, E * I_z])

    @property
    def damping_matrix(self) -> Array:
        """See `Section`."""
        return self.damping_time * self.stiffness_matrix

    @property
    def mass_per_length(self) -> float:
        """See `Section`."""
        return self.density * self.area

    @property
    def inertia_per_length(self) -> Array:
        """See `Section`."""
        I_y, I_z = self.second_moments
        return self.density * np.diag([I_y + I_z, I_y, I_z])


@dataclass(frozen=True, eq=False, kw_only=True)
class Rectangle(_Isotropic):
    """A rectangle of one isotropic material.

    Parameters
    ----------
    width, height : float
        Along y and along z [m].
    youngs_modulus : float
        [Pa].
    poisson_ratio : float
        Between -1 and 0.5.
    density : float
        [kg/m3].
    shear_factors : array_like, optional
        k_y and k_z, where not 5/6.
    damping_time : float
        Damping is the stiffness times this time [s].

    Examples
    --------
    >>> bar = Rectangle(width=0.005, height=0.001, youngs_modulus=73e9, poisson_ratio=0.3, density=2700)
    >>> round(bar.second_moments[0] * 1e13, 9), round(bar.torsion_constant / (0.005 * 0.001**3), 4)
    (4.166666667, 0.2913)
    """

    width: float
    height: float

    @property
    def sizes(self) -> tuple[str, ...]:
        """See `_Isotropic`."""
        return "width", "height"

    @property
    def area(self) -> float:
        """[m2]."""
        return self.width * self.height

    @property
    def second_moments(self) -> tuple[float, float]:
        """I_y, I_z [m4]."""
        return self.width * self.height**3 / 12.0, self.height * self.width**3 / 12.0

    @property
    def torsion_constant(self) -> float:
        """J [m4], by Saint-Venant's series."""
        return rectangle_torsion_constant(self.width, self.height)

    @property
    def own_shear_factors(self) -> tuple[float, float]:
        """5/6."""
        return 5.0 / 6.0, 5.0 / 6.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Tube(_Isotropic):
    """A circular tube of one isotropic material.

    Parameters
    ----------
    outer_diameter : float
        [m].
    inner_diameter : float
        [m]; zero for a full section.
    youngs_modulus : float
        [Pa].
    poisson_ratio : float
        Between -1 and 0.5.
    density : float
        [kg/m3].
    shear_factors : array_like, optional
        k_y and k_z; from 6/7 (full) to 1/2 (thin) if not given.
    damping_time : float
        Damping is the stiffness times this time [s].

    Examples
    --------
    >>> tube = Tube(outer_diameter=0.05, inner_diameter=0.046, youngs_modulus=2.1e11, poisson_ratio=0.3, density=7850)
    >>> round(tube.own_shear_factors[0], 4)
    0.5014
    """

    outer_diameter: float
    inner_diameter: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 <= checks.number(ELEMENT, "inner_diameter", self.inner_diameter) < self.outer_diameter:
            raise ModelError(ELEMENT, f"inner_diameter is {self.inner_diameter}", "it is from 0 to less than outer_diameter")

    @property
    def sizes(self) -> tuple[str, ...]:
        """See `_Isotropic`."""
        return ("outer_diameter",)

    @property
    def area(self) -> float:
        """[m2]."""
        return float(np.pi / 4.0 * (self.outer_diameter**2 - self.inner_diameter**2))

    @property
    def second_moments(self) -> tuple[float, float]:
        """I_y, I_z [m4]."""
        moment = float(np.pi / 64.0 * (self.outer_diameter**4 - self.inner_diameter**4))
        return moment, moment

    @property
    def torsion_constant(self) -> float:
        """J [m4]."""
        return sum(self.second_moments)

    @property
    def own_shear_factors(self) -> tuple[float, float]:
        """6 (1 + m^2)^2 / (7 (1 + m^2)^2 + 20 m^2), m the ratio of the diameters (Cowper 1966, without contraction)."""
        square = (self.inner_diameter / self.outer_diameter) ** 2
        factor = 6.0 * (1.0 + square) ** 2 / (7.0 * (1.0 + square) ** 2 + 20.0 * square)
        return factor, factor


@dataclass(frozen=True, eq=False, kw_only=True)
class Circle(_Isotropic):
    """A full circle of one isotropic material.

    Parameters
    ----------
    diameter : float
        [m].
    youngs_modulus : float
        [Pa].
    poisson_ratio : float
        Between -1 and 0.5.
    density : float
        [kg/m3].
    shear_factors : array_like, optional
        k_y and k_z, where not 6/7.
    damping_time : float
        Damping is the stiffness times this time [s].

    Examples
    --------
    >>> rod = Circle(diameter=0.02, youngs_modulus=2.1e11, poisson_ratio=0.3, density=7850)
    >>> round(rod.mass_per_length, 6)
    2.46615
    """

    diameter: float

    @property
    def sizes(self) -> tuple[str, ...]:
        """See `_Isotropic`."""
        return ("diameter",)

    @property
    def area(self) -> float:
        """[m2]."""
        return float(np.pi / 4.0 * self.diameter**2)

    @property
    def second_moments(self) -> tuple[float, float]:
        """I_y, I_z [m4]."""
        moment = float(np.pi / 64.0 * self.diameter**4)
        return moment, moment

    @property
    def torsion_constant(self) -> float:
        """J [m4]."""
        return sum(self.second_moments)

    @property
    def own_shear_factors(self) -> tuple[float, float]:
        """6/7."""
        return 6.0 / 7.0, 6.0 / 7.0


@dataclass(frozen=True, eq=False, kw_only=True)
class ISection(_Isotropic):
    """An I of one isotropic material, doubly symmetric, its web along z.

    Parameters
    ----------
    width, height : float
        Over all, along y and along z [m].
    web, flange : float
        Thickness of the web and of each flange [m].
    youngs_modulus : float
        [Pa].
    poisson_ratio : float
        Between -1 and 0.5.
    density : float
        [kg/m3].
    shear_factors : array_like, optional
        k_y and k_z, where not by equilibrium.
    damping_time : float
        Damping is the stiffness times this time [s].

    Examples
    --------
    >>> material = {"youngs_modulus": 2.1e11, "poisson_ratio": 0.3, "density": 7850}
    >>> beam = ISection(width=0.1, height=0.2, web=0.0056, flange=0.0085, **material)
    >>> round(beam.second_moments[0] * 1e8), round(beam.area * beam.own_shear_factors[1] * 1e4, 1)
    (1846, 11.0)
    """

    width: float
    height: float
    web: float
    flange: float

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.web <= self.width or not 2.0 * self.flange < self.height:
            raise ModelError(ELEMENT, "web or flanges are thicker than the whole", "give thicknesses smaller than the sizes")

    @property
    def sizes(self) -> tuple[str, ...]:
        """See `_Isotropic`."""
        return "width", "height", "web", "flange"

    @property
    def _layers(self) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
        """Half heights and widths from the middle outwards, along z and along y."""
        inner = 0.5 * self.height - self.flange
        along_z = [(inner, self.web), (0.5 * self.height, self.width)]
        return along_z, [(0.5 * self.web, self.height), (0.5 * self.width, 2.0 * self.flange)]

    @property
    def area(self) -> float:
        """[m2]."""
        return 2.0 * self.width * self.flange + (self.height - 2.0 * self.flange) * self.web

    @property
    def second_moments(self) -> tuple[float, float]:
        """I_y, I_z [m4]."""
        along_z, along_y = self._layers
        return _second_moment(along_z), _second_moment(along_y)

    @property
    def torsion_constant(self) -> float:
        """J [m4]: the sum of web and flanges."""
        web = rectangle_torsion_constant(self.height - 2.0 * self.flange, self.web)
        return web + 2.0 * rectangle_torsion_constant(self.width, self.flange)

    @property
    def own_shear_factors(self) -> tuple[float, float]:
        """k_y, k_z by Jourawski's formula."""
        along_z, along_y = self._layers
        return _shear_factor(along_y), _shear_factor(along_z)


def rectangle_torsion_constant(a: float, b: float) -> float:
    """Return J of a rectangle [m4] by Saint-Venant's series.

    Examples
    --------
    >>> round(rectangle_torsion_constant(1.0, 1.0), 6)
    0.140577
    """
    a, b = max(a, b), min(a, b)
    n = np.arange(1.0, 200.0, 2.0)
    series = np.sum(np.tanh(0.5 * np.pi * n * a / b) / n**5)
    return float(a * b**3 * (1.0 / 3.0 - 64.0 / np.pi**5 * b / a * series))


def _second_moment(layers: list[tuple[float, float]]) -> float:
    """Return the second moment of area [m4] of layers (outer edge, width) on both sides of the middle."""
    edges = [0.0, *(edge for edge, _ in layers)]
    return sum(2.0 * width * (outer**3 - inner**3) / 3.0 for inner, (outer, width) in zip(edges[:-1], layers, strict=True))


def _shear_factor(layers: list[tuple[float, float]]) -> float:
    """Return I^2 / (A sum of S^2/b dz): uniform shear stresses against those of Jourawski, S Q/(I b).

    Examples
    --------
    >>> round(_shear_factor([(0.2, 1.0), (0.7, 1.0)]), 12) == round(5.0 / 6.0, 12)
    True
    """
    x, weights = np.polynomial.legendre.leggauss(4)  # S^2 is a polynomial of fourth degree
    area, outside, work, inner_edges = 0.0, 0.0, 0.0, [0.0, *(edge for edge, _ in layers)]
    for k in range(len(layers) - 1, -1, -1):
        (outer, width), inner = layers[k], inner_edges[k]
        z = 0.5 * (outer + inner) + 0.5 * (outer - inner) * x
        S = outside + 0.5 * width * (outer**2 - z**2)
        work += (outer - inner) * float(weights @ S**2) / width
        outside += 0.5 * width * (outer**2 - inner**2)
        area += 2.0 * width * (outer - inner)
    return float(_second_moment(layers) ** 2 / (area * work))


def _check_unit(label: str, value: float, low: float, high: float, unit: str) -> None:
    """Refuse a number that can hardly be in SI units."""
    number = checks.number(ELEMENT, label, value)
    if not low <= number <= high:
        raise ModelError(ELEMENT, f"{label} is {number:g}, hardly in SI units", f"give it in {unit}")
