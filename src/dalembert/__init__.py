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

from dalembert.elements import inertia
from dalembert.elements.body import Body
from dalembert.elements.coupling import Coupling, Term
from dalembert.elements.frame import Frame
from dalembert.elements.joint import Joint
from dalembert.elements.law import Constant, Expression, Function, Harmonic, Law, Polynomial, Ramp, SmoothStep, Speed, Spline
from dalembert.elements.motion import Motion
from dalembert.errors import DalembertError, ModelError, SolveError
from dalembert.formulations.saddle import Accelerations, accelerations
from dalembert.rotation import euler
from dalembert.system.build import build
from dalembert.system.model import Model
from dalembert.system.state import State
from dalembert.system.system import Reaction, System

__all__ = [
    "Accelerations",
    "Body",
    "Constant",
    "Coupling",
    "DalembertError",
    "Expression",
    "Frame",
    "Function",
    "Harmonic",
    "Joint",
    "Law",
    "Model",
    "ModelError",
    "Motion",
    "Polynomial",
    "Ramp",
    "Reaction",
    "SmoothStep",
    "SolveError",
    "Speed",
    "Spline",
    "State",
    "System",
    "Term",
    "accelerations",
    "build",
    "euler",
    "inertia",
]

__version__ = "0.1.0.dev0"
