"""Constrained mechanics in Python: motion, equilibrium, vibration and reactions of bodies tied together by joints.

Examples
--------
>>> import dalembert as da
>>> model = da.Model("pendulum", gravity=(0, 0, -9.81))
>>> bob = model.body("bob", mass=15.0, position=(0, 0, -4))
>>> hinge = model.revolute("hinge", model.ground, bob, at=(0, 0, 0), axis=(0, 1, 0))
>>> da.build(model).n_constraints
5
"""

from typing import TYPE_CHECKING, Any

from dalembert.elements import inertia, section
from dalembert.elements.beam import Beam
from dalembert.elements.beam_element import BeamElement
from dalembert.elements.body import Body
from dalembert.elements.bushing import Bushing
from dalembert.elements.coupling import Coupling, Term
from dalembert.elements.frame import Frame
from dalembert.elements.friction import Friction
from dalembert.elements.joint import Joint
from dalembert.elements.joint_force import JointLoad, TorsionSpring
from dalembert.elements.law import Constant, Expression, Function, Harmonic, Law, Polynomial, Ramp, SmoothStep, Speed, Spline
from dalembert.elements.load import Load
from dalembert.elements.modal_body import ModalBody, Shapes
from dalembert.elements.motion import Motion
from dalembert.elements.spring import SpringDamper
from dalembert.elements.user_force import UserForce
from dalembert.elements.user_row import VelocityRow
from dalembert.errors import DalembertError, ModelError, ModelFileError, SolveError
from dalembert.formulations.saddle import Accelerations
from dalembert.rotation import euler
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.redraw import redrawn
from dalembert.system.state import State
from dalembert.system.system import Energy, Reaction, System

__all__ = [
    "Accelerations",
    "Beam",
    "BeamElement",
    "Body",
    "Bushing",
    "CartesianStiffness",
    "CondensedStiffness",
    "Constant",
    "ConstrainedOde",
    "Coupling",
    "DalembertError",
    "Energy",
    "EquilibriumError",
    "Expression",
    "ForceField",
    "Frame",
    "Friction",
    "Function",
    "Harmonic",
    "Joint",
    "JointLoad",
    "Law",
    "Load",
    "Mechanics",
    "ModalBody",
    "Model",
    "ModelError",
    "ModelFileError",
    "Motion",
    "Polynomial",
    "Potential",
    "Ramp",
    "Reaction",
    "Reactions",
    "Run",
    "Shapes",
    "Simulation",
    "SmoothStep",
    "SolveError",
    "Speed",
    "Spline",
    "SpringDamper",
    "State",
    "System",
    "Term",
    "TorsionSpring",
    "UserForce",
    "VelocityRow",
    "accelerations",
    "assemble",
    "build",
    "cartesian_stiffness",
    "condensed_stiffness",
    "constrain",
    "equilibrium",
    "euler",
    "force_field",
    "frequency_response",
    "generalized_alpha",
    "hht_alpha",
    "inertia",
    "jointed_stiffness",
    "linearize",
    "load_model",
    "load_run",
    "model_schema",
    "modes",
    "pair_stiffness",
    "reactions",
    "reactions_along",
    "redrawn",
    "relative_stiffness",
    "save_model",
    "save_run",
    "section",
    "shapes_of",
    "simulate",
]

__version__ = "0.1.0.dev0"

if TYPE_CHECKING:
    from dalembert.analysis.assemble import assemble
    from dalembert.analysis.equilibrium import EquilibriumError, equilibrium
    from dalembert.analysis.frequency_response import frequency_response
    from dalembert.analysis.linearize import linearize
    from dalembert.analysis.modes import modes
    from dalembert.analysis.reactions import Reactions, reactions
    from dalembert.analysis.results import Run
    from dalembert.analysis.shapes import shapes_of
    from dalembert.analysis.simulate import Simulation, simulate
    from dalembert.analysis.singularities import reactions_along
    from dalembert.analysis.stiffness.cartesian_stiffness import cartesian_stiffness
    from dalembert.analysis.stiffness.condensation import CondensedStiffness, condensed_stiffness
    from dalembert.analysis.stiffness.data import CartesianStiffness
    from dalembert.analysis.stiffness.force_field import ForceField, force_field
    from dalembert.analysis.stiffness.potential import Potential
    from dalembert.analysis.stiffness.several_bodies import jointed_stiffness, pair_stiffness, relative_stiffness
    from dalembert.formulations.choose import accelerations
    from dalembert.integrators.implicit import generalized_alpha, hht_alpha
    from dalembert.integrators.ode import ConstrainedOde, constrain
    from dalembert.io import load_model, model_schema, save_model
    from dalembert.io.results import load_run, save_run
    from dalembert.lagrange.mechanics import Mechanics

_LATE = {
    "CartesianStiffness": "dalembert.analysis.stiffness.data",
    "CondensedStiffness": "dalembert.analysis.stiffness.condensation",
    "ForceField": "dalembert.analysis.stiffness.force_field",
    "Potential": "dalembert.analysis.stiffness.potential",
    "cartesian_stiffness": "dalembert.analysis.stiffness.cartesian_stiffness",
    "condensed_stiffness": "dalembert.analysis.stiffness.condensation",
    "force_field": "dalembert.analysis.stiffness.force_field",
    "jointed_stiffness": "dalembert.analysis.stiffness.several_bodies",
    "pair_stiffness": "dalembert.analysis.stiffness.several_bodies",
    "relative_stiffness": "dalembert.analysis.stiffness.several_bodies",
    "ConstrainedOde": "dalembert.integrators.ode",
    "Mechanics": "dalembert.lagrange.mechanics",
    "Reactions": "dalembert.analysis.reactions",
    "Run": "dalembert.analysis.results",
    "Simulation": "dalembert.analysis.simulate",
    "EquilibriumError": "dalembert.analysis.equilibrium",
    "accelerations": "dalembert.formulations.choose",
    "assemble": "dalembert.analysis.assemble",
    "constrain": "dalembert.integrators.ode",
    "equilibrium": "dalembert.analysis.equilibrium",
    "frequency_response": "dalembert.analysis.frequency_response",
    "linearize": "dalembert.analysis.linearize",
    "modes": "dalembert.analysis.modes",
    "reactions": "dalembert.analysis.reactions",
    "reactions_along": "dalembert.analysis.singularities",
    "generalized_alpha": "dalembert.integrators.implicit",
    "hht_alpha": "dalembert.integrators.implicit",
    "load_model": "dalembert.io",
    "load_run": "dalembert.io.results",
    "model_schema": "dalembert.io",
    "save_model": "dalembert.io",
    "save_run": "dalembert.io.results",
    "shapes_of": "dalembert.analysis.shapes",
    "simulate": "dalembert.analysis.simulate",
}
"""Names whose modules are imported when they are first used, because they take long."""


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'dalembert' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATE[name]), name)
